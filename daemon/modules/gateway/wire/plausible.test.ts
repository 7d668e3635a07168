import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { plausible } from './plausible.ts';

test('whole counts stay as they are', () => {
  const usage = { input: 12, output: 0, cachedInput: 4, estimated: true } as const;
  expect(plausible(usage)).toEqual(usage);
  expect(plausible({ input: 0, output: 0, seconds: 1.25 })).toEqual({ input: 0, output: 0, seconds: 1.25 });
});

test('whatever is reported can be added up a million times in 53 bits', () => {
  const count = fc.oneof(fc.double(), fc.maxSafeInteger());
  fc.assert(
    fc.property(count, count, count, (input, output, reasoning) => {
      for (const value of Object.values(plausible({ input, output, reasoning }))) {
        expect(Number.isInteger(value)).toBe(true);
        expect(Number.isSafeInteger(Number(value) * 1e6)).toBe(true);
        expect(value).toBeGreaterThanOrEqual(0);
      }
    }),
  );
});
