import { type Clock, DAY_MS, HOUR_MS } from '../../../../src/kit/time.ts';
import type { RunStore } from './run-store.ts';

/** How long runs are kept. */
const REMEMBERED_MS = 30 * DAY_MS;

/** The latest runs that are kept of each cron and webhook; those of the last hour stay in any case. */
export const KEPT_RUNS = 1_000;

/** Between two batches others have their turn. */
const PAUSE_MS = 5;

/** Forgets runs that are old, or too many of one cron or webhook. */
export async function pruneRuns(runs: RunStore, clock: Clock, kept = KEPT_RUNS): Promise<void> {
  const now = clock.now();
  while (runs.pruneOld(now - REMEMBERED_MS)) await Bun.sleep(PAUSE_MS);
  for (const { tenant, type, triggerId } of runs.triggers())
    while (runs.pruneOf(tenant, type, triggerId, now - HOUR_MS, kept)) await Bun.sleep(PAUSE_MS);
}
