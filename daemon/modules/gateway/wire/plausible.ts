import type { Usage } from './usage.ts';

/** More than any model reads or writes in one call. */
const MOST = 1e9;

/**
 * The usage as books can hold it: what an upstream reports is added up in 64-bit integers beside that of others, and one count that does not
 * fit would keep all of them from being written.
 */
export function plausible(usage: Usage): Usage {
  const { input, output, seconds } = usage;
  if (isPlain(input) && isPlain(output) && Object.keys(usage).length === 2) return usage;
  const counts = Object.entries(usage).map(([name, count]) => [
    name,
    typeof count === 'number' ? wholeCount(count) : count,
  ]);
  const whole: Usage = Object.fromEntries(counts);
  return seconds === undefined ? whole : { ...whole, seconds: within(seconds) };
}

function isPlain(count: number): boolean {
  return Number.isInteger(count) && count >= 0 && count <= MOST;
}

function wholeCount(count: number): number {
  return Math.ceil(within(count));
}

function within(count: number): number {
  return count > 0 ? Math.min(count, MOST) : 0;
}
