import type { Matches, Range } from './filter.ts';
import type { LoggedRecord } from './log-row.ts';
import type { LogPlace, LogStore } from './log-store.ts';

/** Rows that are read at a time; then other work has its turn. */
const WINDOW = 500;

/** The place before everything. */
export const NEWEST: LogPlace = { startedAt: Number.MAX_SAFE_INTEGER, seq: Number.MAX_SAFE_INTEGER };

/** Some rows that match, and where the search goes on; absent when there is nothing more. */
export interface Window {
  readonly records: readonly LoggedRecord[];
  readonly next?: LogPlace;
}

/** Searches the log of a tenant backwards in time, a window at a step. Memory and time of a step are bounded. Ends with the signal. */
export async function* scan(
  log: LogStore,
  tenant: string,
  { from, to }: Range,
  matches: Matches,
  start: LogPlace = NEWEST,
  signal?: AbortSignal,
): AsyncGenerator<Window> {
  for (let place: LogPlace | undefined = start; place && !signal?.aborted; ) {
    const rows: LoggedRecord[] = log.before(tenant, place, from, to, WINDOW);
    const last = rows.at(-1);
    place = last && rows.length === WINDOW ? { startedAt: last.startedAt, seq: last.seq } : undefined;
    yield { records: rows.filter(matches), next: place };
    await new Promise((resolve) => setImmediate(resolve));
  }
}
