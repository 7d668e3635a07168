import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { Candidate, Strategy } from './chain.ts';
import { indexByWeight, order } from './order.ts';

const named = (name: string, weight = 1) =>
  ({ account: { name }, model: 'm', weight }) as unknown as Candidate;
const names = (list: readonly Candidate[]) => list.map(({ account }) => account.name);
const context = { hash: () => 0, random: () => 0, load: () => 0, rests: () => false };
const abc = [named('a'), named('b'), named('c')];
const chain = (strategy: Strategy, candidates = abc) => ({
  resolvedBy: 'route' as const,
  strategy,
  candidates,
});

test('priority and parallel keep the order that was given', () => {
  for (const strategy of ['priority', 'parallel'] as const)
    expect(names(order(chain(strategy), context))).toEqual(['a', 'b', 'c']);
});

test('round_robin begins where the hash says', () => {
  expect(names(order(chain('round_robin'), { ...context, hash: () => 4 }))).toEqual(['b', 'c', 'a']);
});

test('least_connections asks who has least to do for its weight', () => {
  const load = ({ account }: Candidate) => ({ a: 4, b: 1, c: 2 })[account.name] ?? 0;
  expect(names(order(chain('least_connections'), { ...context, load }))).toEqual(['b', 'c', 'a']);
  const weighty = [named('a', 8), named('b'), named('c')];
  expect(names(order(chain('least_connections', weighty), { ...context, load }))[0]).toBe('a');
});

test('whoever rests comes last, and is still there', () => {
  const rests = ({ account }: Candidate) => account.name === 'a';
  expect(names(order(chain('priority'), { ...context, rests }))).toEqual(['b', 'c', 'a']);
});

test('every strategy asks everybody once', () => {
  fc.assert(
    fc.property(
      fc.constantFrom<Strategy>('priority', 'round_robin', 'weighted', 'least_connections', 'parallel'),
      fc.array(fc.integer({ min: 1, max: 100 }), { minLength: 1, maxLength: 8 }),
      fc.nat(),
      fc.array(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), { minLength: 8, maxLength: 8 }),
      (strategy, weights, hash, points) => {
        const candidates = weights.map((weight, i) => named(`p${i}`, weight));
        let next = 0;
        const random = () => points[next++ % points.length] ?? 0;
        const ordered = order(chain(strategy, candidates), { ...context, hash: () => hash, random });
        expect(names(ordered).toSorted()).toEqual(names(candidates).toSorted());
      },
    ),
  );
});

describe('by weight', () => {
  test.each([
    [0, 0],
    [0.24, 0],
    [0.25, 1],
    [0.99, 1],
  ])('the point %d falls on place %d of 1 and 3', (point, place) => {
    expect(indexByWeight([{ weight: 1 }, { weight: 3 }], point)).toBe(place);
  });
});
