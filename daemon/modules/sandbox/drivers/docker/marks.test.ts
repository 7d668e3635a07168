import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { ALL_OWNED, detachedMark, newMarks, onlyMark } from './marks.ts';

test('a mark is an exact integer in the range of its generation, and no detached one', () => {
  fc.assert(
    fc.property(fc.nat(2 ** 18 - 1), fc.string(), (generation, id) => {
      const { owned, ours } = newMarks(generation);
      const mark = owned(id);
      expect(Number.isSafeInteger(mark)).toBe(true);
      expect(mark >= ours.low && mark < ours.high).toBe(true);
      expect(ours.low >= ALL_OWNED.low && ours.high <= ALL_OWNED.high).toBe(true);
      expect(Number.isSafeInteger(onlyMark(detachedMark(id)).high)).toBe(true);
      expect(detachedMark(id)).toBeGreaterThanOrEqual(ALL_OWNED.high);
    }),
  );
});

test('generations do not share marks', () => {
  expect(newMarks(1).ours.high).toBe(newMarks(2).ours.low);
  expect(newMarks(1).owned('cmd_a')).not.toBe(newMarks(2).owned('cmd_a'));
});
