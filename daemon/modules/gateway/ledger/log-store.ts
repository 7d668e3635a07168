import type { Database as Sqlite } from 'bun:sqlite';
import { newSecret } from '../../../../src/kit/id.ts';
import type { TelemetrySchema } from '../../../db/telemetry.ts';
import type { RequestRecord } from '../pipeline/record.ts';
import { fromRow, type LoggedRecord, type LogRow, toRow } from './log-row.ts';

/** The request log: a file of its own, which may be deleted while svc is stopped. `seq` is never used again. */
export const LOG_SCHEMA: TelemetrySchema = {
  version: 1,
  sql: `CREATE TABLE requests (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    request_id TEXT NOT NULL UNIQUE,
    tenant TEXT NOT NULL,
    actor TEXT NOT NULL,
    surface TEXT NOT NULL,
    streamed INTEGER NOT NULL,
    started_at INTEGER NOT NULL,
    duration_ms REAL NOT NULL,
    first_byte_ms REAL,
    status INTEGER NOT NULL,
    ending TEXT NOT NULL,
    requested_model TEXT NOT NULL,
    model TEXT,
    resolved_by TEXT,
    attempts TEXT NOT NULL,
    usage TEXT,
    cost_micros INTEGER,
    cache TEXT,
    violations TEXT,
    error TEXT
  ) STRICT;
  CREATE INDEX requests_tenant ON requests (tenant, started_at);
  CREATE TABLE log (id TEXT NOT NULL) STRICT;`,
};

const COLUMNS = {
  requestId: 'request_id',
  tenant: 'tenant',
  actor: 'actor',
  surface: 'surface',
  streamed: 'streamed',
  startedAt: 'started_at',
  durationMs: 'duration_ms',
  firstByteMs: 'first_byte_ms',
  status: 'status',
  ending: 'ending',
  requestedModel: 'requested_model',
  model: 'model',
  resolvedBy: 'resolved_by',
  attempts: 'attempts',
  usage: 'usage',
  costMicros: 'cost_micros',
  cache: 'cache',
  violations: 'violations',
  error: 'error',
} as const satisfies Record<keyof LogRow, string>;

const NAMES = Object.keys(COLUMNS) as Array<keyof LogRow>;
const SELECTED = `SELECT seq, ${NAMES.map((name) => `${COLUMNS[name]} AS ${name}`).join(', ')} FROM requests`;

/** A place in the log by time: what stands before it in the order of the list is older. */
export interface LogPlace {
  readonly startedAt: number;
  readonly seq: number;
}

type Row = LogRow & { readonly seq: number };

/** What a write has done. */
export interface Written {
  /** The records that were not there before. */
  readonly fresh: readonly RequestRecord[];
  /** The place of the newest row. */
  readonly seq: number;
}

/** Reads and writes the request log. */
export class LogStore {
  /** Names this file: another one begins when it was deleted. */
  readonly id: string;
  private readonly insert;
  private readonly window;
  private readonly news;
  private readonly rest;
  private readonly one;
  private readonly prune;
  private readonly newest;
  private readonly write: (records: readonly RequestRecord[]) => Written;

  constructor(private readonly sqlite: Sqlite) {
    this.id = identify(sqlite);
    this.insert = sqlite.query(
      `INSERT INTO requests (${NAMES.map((name) => COLUMNS[name]).join(', ')})
       VALUES (${NAMES.map((name) => `$${name}`).join(', ')}) ON CONFLICT DO NOTHING`,
    );
    this.window = sqlite.query<Row, [string, number, number, number, number, number]>(
      `${SELECTED} WHERE tenant = ? AND started_at BETWEEN ? AND ? AND (started_at < ? OR seq < ?)
       ORDER BY started_at DESC, seq DESC LIMIT ?`,
    );
    // NOT INDEXED leaves the order of the rows, which is that of seq.
    this.news = sqlite.query<Row, [number, number, string]>(
      `${SELECTED} NOT INDEXED WHERE seq > ? AND seq <= ? AND tenant = ? ORDER BY seq`,
    );
    this.rest = sqlite.query<Row, [number, number]>(`${SELECTED} WHERE seq > ? ORDER BY seq LIMIT ?`);
    this.one = sqlite.query<Row, [string, string]>(`${SELECTED} WHERE tenant = ? AND request_id = ?`);
    this.prune = sqlite.query<null, [number, number, number]>(
      `DELETE FROM requests WHERE seq IN (SELECT seq FROM requests ORDER BY seq LIMIT ?)
       AND (started_at < ? OR seq <= ?)`,
    );
    this.newest = sqlite.query<{ seq: number }, []>(
      "SELECT seq FROM sqlite_sequence WHERE name = 'requests'",
    );
    this.write = sqlite.transaction((records: readonly RequestRecord[]) => {
      const fresh = records.filter((record) => this.insert.run({ ...toRow(record) }).changes === 1);
      return { fresh, seq: this.last() };
    });
  }

  /** Writes records in one transaction; a request is written once. */
  append(records: readonly RequestRecord[]): Written {
    return this.write(records);
  }

  /** The place of the newest row that ever was; 0 when there was none. */
  last(): number {
    return this.newest.get()?.seq ?? 0;
  }

  /** Lets rows begin after a place, when the newest ones were lost with the power. */
  continueAfter(seq: number): void {
    if (this.last() >= seq) return;
    this.sqlite.transaction(() => {
      this.sqlite.query("DELETE FROM sqlite_sequence WHERE name = 'requests'").run();
      this.sqlite.query("INSERT INTO sqlite_sequence (name, seq) VALUES ('requests', ?)").run(seq);
    })();
  }

  /** Rows of a tenant before a place, newest first, of requests that began between two times, both included. */
  before(
    tenant: string,
    { startedAt, seq }: LogPlace,
    from: number,
    to: number,
    limit: number,
  ): LoggedRecord[] {
    const upTo = Math.min(startedAt, to);
    return this.window.all(tenant, from, upTo, startedAt, seq, limit).map(fromRow);
  }

  /** Rows of a tenant after one place up to another, oldest first. */
  between(tenant: string, after: number, upTo: number): LoggedRecord[] {
    return this.news.all(after, upTo, tenant).map(fromRow);
  }

  /** Rows of all tenants after a place, oldest first: what is not summed up yet. */
  after(seq: number, limit: number): LoggedRecord[] {
    return this.rest.all(seq, limit).map(fromRow);
  }

  find(tenant: string, requestId: string): LoggedRecord | undefined {
    const row = this.one.get(tenant, requestId);
    return row ? fromRow(row) : undefined;
  }

  /** Forgets up to `limit` of the oldest rows: those that began before a time, and those up to a place. Answers how many. */
  forget(limit: number, before: number, upTo: number): number {
    return this.prune.run(limit, before, upTo).changes;
  }

  close(): void {
    this.sqlite.close();
  }
}

function identify(sqlite: Sqlite): string {
  const known = sqlite.query<{ id: string }, []>('SELECT id FROM log').get();
  if (known) return known.id;
  const id = newSecret();
  sqlite.query('INSERT INTO log (id) VALUES (?)').run(id);
  return id;
}
