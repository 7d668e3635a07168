import { expect, test } from 'bun:test';
import type { Chain } from './chain.ts';
import { KnownChains } from './known-chains.ts';

const chain = { resolvedBy: 'explicit', strategy: 'priority', candidates: [] } as Chain;
const grounds = { accounts: [], routes: 1, balancing: undefined };

test('a chain is remembered for five seconds', () => {
  let now = 0;
  const chains = new KnownChains(() => now);
  chains.keep('a', 'm', grounds, chain);
  now = 5_000;
  expect(chains.find('a', 'm', grounds)).toBe(chain);
  now = 5_001;
  expect(chains.find('a', 'm', grounds)).toBeUndefined();
});

test('for one tenant and one name', () => {
  const chains = new KnownChains();
  chains.keep('a', 'm', grounds, chain);
  expect(chains.find('b', 'm', grounds)).toBeUndefined();
  expect(chains.find('a', 'n', grounds)).toBeUndefined();
});

test.each([
  ['providers', { ...grounds, accounts: [] }],
  ['routes', { ...grounds, routes: 2 }],
  ['balancing', { ...grounds, balancing: {} }],
])('until the %s change', (_, changed) => {
  const chains = new KnownChains();
  chains.keep('a', 'm', grounds, chain);
  expect(chains.find('a', 'm', changed)).toBeUndefined();
});
