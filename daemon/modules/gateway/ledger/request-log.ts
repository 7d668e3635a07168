import { fail } from '../../../../src/errors/app-error.ts';
import { matcher, type RequestFilter, readRange } from './filter.ts';
import type { RequestLedger } from './ledger.ts';
import type { LoggedRecord } from './log-row.ts';
import type { LogPlace, LogStore } from './log-store.ts';
import { NEWEST, scan, type Window } from './scan.ts';

const DEFAULT_LIMIT = 50;
/** Windows that one page looks at; a filter that finds little answers a short page that goes on. */
const MOST_WINDOWS = 100;
/** Rows between two looks of a watcher that is behind. */
const STRIDE = 500;

/** What a page is asked for with. */
export type PageQuery = RequestFilter & {
  readonly since?: string;
  readonly until?: string;
  readonly limit?: number;
};

/** A page of the log. */
export interface Page extends Window {
  /** The place in the log up to which the page has seen everything. */
  readonly last: number;
}

/** Reads the request log. The tenant is the first argument, always. */
export class RequestLog {
  constructor(private readonly ledger: RequestLedger) {}

  /** A page, newest first. Errors: invalid_argument. */
  async list(tenant: string, query: PageQuery, start?: LogPlace): Promise<Page> {
    const limit = query.limit ?? DEFAULT_LIMIT;
    const log = await this.open();
    const { last } = this.ledger;
    const records: LoggedRecord[] = [];
    let windows = 0;
    for await (const window of scan(log, tenant, readRange(query), matcher(query), start)) {
      const room = limit - records.length;
      records.push(...window.records.slice(0, room));
      if (window.records.length > room || (records.length === limit && window.next))
        return { records, next: records.at(-1), last };
      if (++windows === MOST_WINDOWS) return { records, next: window.next, last };
    }
    return { records, last };
  }

  /** Every record that matches, newest first, as fast as it is read. Ends with the signal. Errors: invalid_argument. */
  async all(
    tenant: string,
    query: Omit<PageQuery, 'limit'>,
    signal?: AbortSignal,
  ): Promise<AsyncGenerator<LoggedRecord>> {
    const range = readRange(query);
    return recordsOf(scan(await this.open(), tenant, range, matcher(query), NEWEST, signal));
  }

  /** One record. Errors: not_found. */
  async get(tenant: string, requestId: string): Promise<LoggedRecord> {
    const record = (await this.open()).find(tenant, requestId);
    if (!record) throw fail('not_found', { what: 'request', id: requestId });
    return record;
  }

  /** Records as they come, from after a place on; from now on when there is none. Ends with the signal. */
  async *watch(
    tenant: string,
    filter: RequestFilter,
    after: number | undefined,
    signal: AbortSignal,
  ): AsyncGenerator<LoggedRecord> {
    const matches = matcher(filter);
    const log = await this.open();
    let news = Promise.withResolvers<void>();
    const wake = () => news.resolve();
    const stop = this.ledger.onWritten(wake);
    signal.addEventListener('abort', wake);
    try {
      for (let seen = after ?? this.ledger.last; !signal.aborted; ) {
        news = Promise.withResolvers();
        const upTo = Math.min(seen + STRIDE, this.ledger.last);
        if (upTo > seen)
          for (const record of log.between(tenant, seen, upTo)) if (matches(record)) yield record;
        seen = Math.max(seen, upTo);
        if (seen < this.ledger.last) await new Promise((resolve) => setImmediate(resolve));
        else await news.promise;
      }
    } finally {
      stop();
      signal.removeEventListener('abort', wake);
    }
  }

  private async open(): Promise<LogStore> {
    const log = await this.ledger.read();
    if (!log)
      throw fail('unavailable', {
        message: 'The request log cannot be read now; the log of the instance says why.',
      });
    return log;
  }
}

async function* recordsOf(windows: AsyncIterable<Window>): AsyncGenerator<LoggedRecord> {
  for await (const { records } of windows) yield* records;
}
