import { MINUTE_MS } from '../../../../src/kit/time.ts';
import type { CronRow } from './tables.ts';

/** How late a run may begin before it counts as missed: a restart fits in, a laptop that slept does not. */
export const GRACE_MS = MINUTE_MS;

/** Most runs of one cron that wait for their turn. */
export const MOST_WAITING = 10;

/** What is known when a run of a cron is due. */
export interface Due {
  readonly scheduledAt: number;
  readonly now: number;
  /** Runs of this cron that have begun, and that wait. */
  readonly running: number;
  readonly waiting: number;
}

/** What becomes of a due run: undefined when it is to be run, else why it is left out. */
export function reasonToSkip(
  cron: Pick<CronRow, 'missedRuns' | 'overlap'>,
  { scheduledAt, now, running, waiting }: Due,
): string | undefined {
  if (now - scheduledAt > GRACE_MS && cron.missedRuns === 'skip') return 'svc was not running at that time';
  if (cron.overlap === 'skip' && running + waiting > 0) return 'the run before it had not ended';
  return waiting >= MOST_WAITING ? `${MOST_WAITING} runs wait already` : undefined;
}

/** The lane that the runs of a cron queue in; null when they may run side by side. */
export function laneOf({ id, overlap }: Pick<CronRow, 'id' | 'overlap'>): string | null {
  return overlap === 'allow' ? null : `cron:${id}`;
}
