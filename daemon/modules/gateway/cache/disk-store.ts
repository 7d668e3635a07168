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
/** Most bytes that wait; what comes then is in memory alone. */
const MOST_WAITING_BYTES = 16 * 1024 * 1024;
/** What is written before other work has its turn. */
const SLICE = { rows: 64, bytes: 256 * 1024 };
/** Rows that are deleted in a batch. */
const AT_ONCE = 200;

const ALL_BYTES = 'SELECT coalesce(sum(size), 0) AS n FROM answers';

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
  private waitingBytes = 0;
  private timer: Timer | undefined;
  private bytes: number;

  constructor(
    private readonly sqlite: Sqlite,
    private readonly mostBytes: () => number,
    private readonly clock: Clock,
  ) {
    this.bytes = this.sum(ALL_BYTES);
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
    if (this.waitingBytes + sizeOf(answer) > MOST_WAITING_BYTES) return;
    const id = `${tenant} ${key.place}`;
    this.takeOut(id);
    this.waiting.set(id, { tenant, key, answer });
    this.waitingBytes += sizeOf(answer);
    this.timer ??= setTimeout(() => this.writeSome(), FLUSH_MS);
  }

  clear(tenant: string): number {
    const waiting = [...this.waiting].filter(([, one]) => one.tenant === tenant);
    for (const [id] of waiting) this.takeOut(id);
    const gone = this.attempt(
      () => this.sqlite.query('DELETE FROM answers WHERE tenant = ?').run(tenant).changes,
    );
    this.bytes = this.sum(ALL_BYTES);
    return (gone ?? 0) + waiting.length;
  }

  holdings(tenant: string): Holdings {
    return {
      entries: this.sum('SELECT count(*) AS n FROM answers WHERE tenant = ?', tenant),
      bytes: this.sum('SELECT coalesce(sum(size), 0) AS n FROM answers WHERE tenant = ?', tenant),
    };
  }

  /** Writes all that waits, and makes room. */
  flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    do this.writeSlice();
    while (this.waiting.size > 0);
  }

  close(): void {
    this.flush();
    this.sqlite.close();
  }

  /** Writes a slice, and the next one when others have had their turn. */
  private writeSome(): void {
    this.writeSlice();
    this.timer = this.waiting.size > 0 ? setTimeout(() => this.writeSome(), 0) : undefined;
  }

  private writeSlice(): void {
    const slice: Waiting[] = [];
    let bytes = 0;
    for (const [id, one] of this.waiting) {
      if (slice.length >= SLICE.rows || bytes >= SLICE.bytes) break;
      slice.push(one);
      bytes += sizeOf(one.answer);
      this.takeOut(id);
    }
    const isWritten = this.attempt(() => {
      this.sqlite.transaction(() => {
        for (const one of slice) this.write(one);
        this.forget('expires_at <= ?1', 'expires_at', this.clock.now());
        while (this.bytes > this.mostBytes() && this.forget('?1 = ?1', 'kept_at', 0) > 0);
      })();
      return true;
    });
    if (!isWritten) this.bytes = this.sum(ALL_BYTES);
  }

  private takeOut(id: string): void {
    const one = this.waiting.get(id);
    if (one) this.waitingBytes -= sizeOf(one.answer);
    this.waiting.delete(id);
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
