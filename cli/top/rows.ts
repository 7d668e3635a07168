import type { Measured } from '../commands/sandbox/measure-all.ts';

/** What rows can be sorted by. */
export const SORTS = ['cpu', 'memory', 'name'] as const;

/** What rows are sorted by. */
export type Sort = (typeof SORTS)[number];

/** The rows in an order: the largest first, names from A. Equal ones keep their place by id. */
export function sorted(rows: readonly Measured[], by: Sort): Measured[] {
  const nameOf = ({ name, id }: Measured) => name || id;
  const compare: Record<Sort, (a: Measured, b: Measured) => number> = {
    cpu: (a, b) => (b.stats.cpuPercent ?? 0) - (a.stats.cpuPercent ?? 0),
    memory: (a, b) => Number(b.stats.memoryUsage ?? 0) - Number(a.stats.memoryUsage ?? 0),
    name: (a, b) => nameOf(a).localeCompare(nameOf(b)),
  };
  return rows.toSorted((a, b) => compare[by](a, b) || a.id.localeCompare(b.id));
}

/** The part of a list of `total` that shows the chosen one in `height` lines: the index of its first row. */
export function firstShown(chosen: number, total: number, height: number, before: number): number {
  const least = Math.max(chosen - height + 1, 0);
  const most = Math.max(Math.min(chosen, total - height), 0);
  return Math.min(Math.max(before, least), Math.max(most, least));
}
