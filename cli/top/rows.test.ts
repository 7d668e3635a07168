import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { firstShown, sorted } from './rows.ts';

const row = (id: string, name: string, cpuPercent: number, memory: number) => ({
  id,
  name,
  stats: { cpuPercent, memoryUsage: String(memory) },
});
const rows = [row('1', 'web', 5, 900), row('2', '', 80, 100), row('3', 'api', 5, 20_000)];

test.each([
  ['cpu', ['2', '1', '3']],
  ['memory', ['3', '1', '2']],
  ['name', ['2', '3', '1']],
] as const)('sorted by %s', (by, ids) => {
  expect(sorted(rows, by).map(({ id }) => id)).toEqual([...ids]);
});

test('the chosen row is always shown, and no line is wasted', () => {
  fc.assert(
    fc.property(
      fc.nat(200),
      fc.nat(200),
      fc.integer({ min: 1, max: 50 }),
      fc.nat(250),
      (total, at, height, before) => {
        const chosen = Math.min(at, Math.max(total - 1, 0));
        const first = firstShown(chosen, total, height, before);
        expect(first).toBeGreaterThanOrEqual(0);
        expect(chosen).toBeGreaterThanOrEqual(first);
        expect(chosen).toBeLessThan(first + height);
        expect(first).toBeLessThanOrEqual(Math.max(total - height, chosen));
      },
    ),
  );
});
