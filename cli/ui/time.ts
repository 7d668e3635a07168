import { formatDuration } from '../../src/kit/duration.ts';
import { SECOND_MS } from '../../src/kit/time.ts';

/** A timestamp as people say it: `3 m 20 s ago`, `in 5 h 2 m`; empty when there is none. */
export function relativeTime(timestamp: string | undefined, nowMs: number = Date.now()): string {
  const at = timestamp ? Date.parse(timestamp) : Number.NaN;
  if (Number.isNaN(at)) return '';
  const distance = Math.abs(nowMs - at);
  if (distance < SECOND_MS) return 'now';
  return at <= nowMs ? `${formatDuration(distance)} ago` : `in ${formatDuration(distance)}`;
}
