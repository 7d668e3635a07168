import { describe, expect, test } from 'bun:test';
import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { Secrets } from '../../../secrets/secrets.ts';
import type { SandboxPort } from './tables.ts';
import { PreviewTokens } from './token.ts';

const tokens = new PreviewTokens(new Secrets(randomBytes(32)));
const NOW = 1_800_000_000_000;
const row: SandboxPort = {
  id: 1,
  tenant: 'org_a',
  sandboxId: 'sbx_a',
  port: 3000,
  protocol: 'http',
  exposed: false,
  wakeCommand: null,
  nonce: 'aa',
  tokenHash: '',
  createdAt: 0,
};

describe('a signed token', () => {
  test('is good until its time, and says when that is', () => {
    const token = tokens.sign(row, NOW + 60_000);
    expect(tokens.check(token, row, NOW)).toBe(NOW + 60_000);
    expect(tokens.check(token, row, NOW + 59_999)).toBe(NOW + 60_000);
    expect(tokens.check(token, row, NOW + 60_000)).toBeUndefined();
  });

  test.each<Partial<SandboxPort>>([
    { sandboxId: 'sbx_b' },
    { port: 3001 },
    { tenant: 'org_b' },
    { nonce: 'bb' },
  ])('is not good for %j', (change) => {
    expect(tokens.check(tokens.sign(row, NOW + 60_000), { ...row, ...change }, NOW)).toBeUndefined();
  });

  test('of another instance is not good', () => {
    const other = new PreviewTokens(new Secrets(randomBytes(32)));
    expect(tokens.check(other.sign(row, NOW + 60_000), row, NOW)).toBeUndefined();
  });

  test('is not good with any character changed, added or left out', () => {
    const token = tokens.sign(row, NOW + 60_000);
    // The last character of base64url carries two bits that no byte has.
    const places = fc.integer({ min: 0, max: token.length - 2 });
    fc.assert(
      fc.property(places, fc.constantFrom(...'aZ9_-.=é'), (at, character) => {
        const changed = token.slice(0, at) + character + token.slice(at + 1);
        const shorter = token.slice(0, at) + token.slice(at + 1);
        if (changed !== token) expect(tokens.check(changed, row, NOW)).toBeUndefined();
        expect(tokens.check(shorter, row, NOW)).toBeUndefined();
      }),
    );
  });

  test('may be any text without harm', () => {
    fc.assert(fc.property(fc.string(), (text) => expect(tokens.check(text, row, NOW)).toBeUndefined()));
    expect(tokens.check(`v1.${'a'.repeat(1_000_000)}.b`, row, NOW)).toBeUndefined();
  });
});

test('the token of an address is 160 bits that fit a host, and follows from its nonce and the key alone', () => {
  expect(tokens.address('one')).toMatch(/^[a-z2-7]{32}$/);
  expect(tokens.address('one')).toBe(tokens.address('one'));
  expect(tokens.address('one')).not.toBe(tokens.address('two'));
  expect(new PreviewTokens(new Secrets(randomBytes(32))).address('one')).not.toBe(tokens.address('one'));
});
