import type { Database as Sqlite } from 'bun:sqlite';
import { type Clock, SECOND_MS } from '../../../../src/kit/time.ts';
import type { TelemetrySchema } from '../../../db/telemetry.ts';
import { type AnswerStore, type Holdings, type KeptAnswer, sizeOf } from './answer.ts';
import type { RequestKey } from './request-key.ts';

/** The file of kept answers. It may be lost. */
export const CACHE_SCHEMA: TelemetrySchema = {
  version: 1,
  sql: `CREATE TABLE answers (
    tenant TEXT NOT NULL,
    place TEXT NOT NULL,
    proof TEXT NOT NULL,
    kept_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    size INTEGER NOT NULL,
    answer TEXT NOT NULL,
    PRIMARY KEY (tenant, place)
  ) STRICT;
  CREATE INDEX answers_by_end ON answers (expires_at);
  CREATE INDEX answers_by_age ON answers (kept_at);`,
};

/** Answers wait at most this long until they are in the file. */
const FLUSH_MS = SECOND_MS / 2;
/** Most answers that wait; what comes then is in memory alone. */
const MOST_WAITING = 500;
/** Rows that are deleted in a batch. */
const AT_ONCE = 200;

interface Row {
  readonly proof: string;
  readonly expires_at: number;
  readonly answer: string;
}

interface Waiting {
  readonly tenant: string;
  readonly key: RequestKey;
  readonly answer: KeptAnswer;
}

/** Answers in a file: found again after a start. Written in batches, apart from requests. A fault of the file makes it empty, never an error. */
export class DiskAnswers implements AnswerStore {
  private readonly waiting = new Map<string, Waiting>();
  private timer: Timer | undefined;
  private bytes: number;

  constructor(
    private readonly sqlite: Sqlite,
    private readonly mostBytes: () => number,
    private readonly clock: Clock,
  ) {
    this.bytes = this.sum('SELECT coalesce(sum(size), 0) AS n FROM answers');
  }

  find(tenant: string, { place, proof }: RequestKey): KeptAnswer | undefined {
    const row = this.attempt(
      () =>
        this.sqlite
          .query<Row, [string, string]>(
            'SELECT proof, expires_at, answer FROM answers WHERE tenant = ? AND place = ?',
          )
          .get(tenant, place) ?? undefined,
    );
    if (!row || row.proof !== proof || row.expires_at <= this.clock.now()) return undefined;
    return this.attempt(() => JSON.parse(row.answer) as KeptAnswer);
  }

  keep(tenant: string, key: RequestKey, answer: KeptAnswer): void {
    if (this.waiting.size >= MOST_WAITING) return;
    this.waiting.set(`${tenant} ${key.place}`, { tenant, key, answer });
    this.timer ??= setTimeout(() => this.flush(), FLUSH_MS);
  }

  clear(tenant: string): number {
    for (const [id, one] of this.waiting) if (one.tenant === tenant) this.waiting.delete(id);
    const size = this.sum('SELECT coalesce(sum(size), 0) AS n FROM answers WHERE tenant = ?', tenant);
    const gone = this.sqlite.query('DELETE FROM answers WHERE tenant = ?').run(tenant).changes;
    this.bytes -= size;
    return gone;
  }

  holdings(tenant: string): Holdings {
    return {
      entries: this.sum('SELECT count(*) AS n FROM answers WHERE tenant = ?', tenant),
      bytes: this.sum('SELECT coalesce(sum(size), 0) AS n FROM answers WHERE tenant = ?', tenant),
    };
  }

  /** Writes what waits, and makes room. */
  flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    const batch = [...this.waiting.values()];
    this.waiting.clear();
    this.attempt(() =>
      this.sqlite.transaction(() => {
        for (const one of batch) this.write(one);
        this.forget('expires_at <= ?1', 'expires_at', this.clock.now());
        while (this.bytes > this.mostBytes() && this.forget('?1 = ?1', 'kept_at', 0) > 0);
      })(),
    );
  }

  close(): void {
    this.flush();
    this.sqlite.close();
  }

  private write({ tenant, key, answer }: Waiting): void {
    const size = sizeOf(answer);
    const before = this.sum(
      'SELECT coalesce(sum(size), 0) AS n FROM answers WHERE tenant = ? AND place = ?',
      tenant,
      key.place,
    );
    this.sqlite
      .query('INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?, ?, ?, ?)')
      .run(tenant, key.place, key.proof, answer.keptAt, answer.expiresAt, size, JSON.stringify(answer));
    this.bytes += size - before;
  }

  private forget(where: string, order: string, value: number): number {
    const gone = this.sqlite
      .query<{ size: number }, [number, number]>(
        `DELETE FROM answers WHERE rowid IN (SELECT rowid FROM answers WHERE ${where} ORDER BY ${order} LIMIT ?2) RETURNING size`,
      )
      .all(value, AT_ONCE);
    for (const { size } of gone) this.bytes -= size;
    return gone.length;
  }

  private sum(sql: string, ...values: string[]): number {
    return this.attempt(() => this.sqlite.query<{ n: number }, string[]>(sql).get(...values)?.n) ?? 0;
  }

  private attempt<T>(work: () => T): T | undefined {
    try {
      return work();
    } catch {
      return undefined;
    }
  }
}
