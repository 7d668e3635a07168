import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from './time.ts';

const UNITS: Record<string, number> = { ms: 1, s: SECOND_MS, m: MINUTE_MS, h: HOUR_MS, d: DAY_MS };

/** Reads `250ms`, `30s`, `1h30m` or `7d` as milliseconds; undefined when the text is no duration. */
export function parseDuration(text: string): number | undefined {
  if (!/^(\d+(\.\d+)?(ms|s|m|h|d))+$/.test(text)) return undefined;
  let total = 0;
  for (const [, amount, , unit] of text.matchAll(/(\d+(\.\d+)?)(ms|s|m|h|d)/g)) {
    total += Number(amount) * (UNITS[unit ?? ''] ?? 0);
  }
  return Math.round(total);
}

/** Milliseconds in the form people read: `12 ms`, `1.4 s`, `3 m 20 s`, `5 h 2 m`. */
export function formatDuration(ms: number): string {
  if (ms < SECOND_MS) return `${Math.round(ms)} ms`;
  if (ms < MINUTE_MS) return `${(ms / SECOND_MS).toFixed(1)} s`;
  if (ms < HOUR_MS) return `${Math.floor(ms / MINUTE_MS)} m ${Math.floor((ms % MINUTE_MS) / SECOND_MS)} s`;
  if (ms < DAY_MS) return `${Math.floor(ms / HOUR_MS)} h ${Math.floor((ms % HOUR_MS) / MINUTE_MS)} m`;
  return `${Math.floor(ms / DAY_MS)} d ${Math.floor((ms % DAY_MS) / HOUR_MS)} h`;
}

/** Milliseconds in the form that durations are written in, exactly: `90s`, `10m`, `0s`. */
export function durationText(ms: number): string {
  if (ms === 0) return '0s';
  const [unit, size] = Object.entries(UNITS)
    .toReversed()
    .find(([, size]) => ms % size === 0) ?? ['ms', 1];
  return `${ms / size}${unit}`;
}
