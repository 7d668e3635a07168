import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { fuse } from './fuse.ts';

test('what two lists have comes before what one has', () => {
  expect(fuse(['a', 'b', 'c'], ['d', 'c'])).toEqual(['c', 'a', 'd', 'b']);
});

test('one list stays as it is', () => {
  expect(fuse(['x', 'y', 'z'])).toEqual(['x', 'y', 'z']);
  expect(fuse(['x', 'y'], [])).toEqual(['x', 'y']);
});

const list = fc.uniqueArray(fc.integer({ min: 0, max: 40 }), { maxLength: 30 });

test('it has each item once, and one that is before another in every list is before it', () => {
  fc.assert(
    fc.property(list, list, (one, two) => {
      const fused = fuse(one, two);
      expect([...fused].sort()).toEqual([...new Set([...one, ...two])].sort());
      const place = (where: readonly number[], item: number) =>
        where.includes(item) ? where.indexOf(item) : Number.POSITIVE_INFINITY;
      for (const [i, a] of fused.entries())
        for (const b of fused.slice(0, i)) {
          const isAhead = place(one, a) < place(one, b) && place(two, a) < place(two, b);
          expect(isAhead).toBe(false);
        }
    }),
  );
});
