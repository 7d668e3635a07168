import { join } from 'node:path';
import { SECOND_MS } from '../../../../src/kit/time.ts';
import type { App } from '../../../app.ts';
import { openTelemetry } from '../../../db/telemetry.ts';
import type { RuntimeSettings } from '../../settings/index.ts';
import type { RequestRecord } from '../pipeline/record.ts';
import type { Ledger } from '../pipeline/stages.ts';
import { Complaint } from './complaint.ts';
import { LOG_SCHEMA, LogStore } from './log-store.ts';
import { Pending } from './pending.ts';
import type { TotalsStore } from './totals-store.ts';

/** A record waits at most this long until it is in the log. */
const FLUSH_MS = 250;
/** As many records do not wait. */
const FLUSH_AT = 500;
/** Records that are written before other work has its turn. */
const SLICE = 50;
/** Sums wait at most this long until they are in the database; until then they can be made again from the log. */
const SUMS_MS = SECOND_MS;
/** Groups of sums that are written at once. */
const MOST_GROUPS = 200;
/** Most records that wait. What comes then is summed up, but is missing in the log. */
const MOST_WAITING = 20_000;
/** Rows of the log that are summed up at a time, at a start. */
const CAUGHT_UP = 500;

/** Rows that are forgotten before other work has its turn. */
const FORGOTTEN_AT_ONCE = 200;

/** What the ledger takes from its surroundings. */
export type LedgerApp = Pick<App, 'config' | 'clock' | 'log'>;

/**
 * Writes requests down: each as a row of the log (`requests.db`, a file that may be lost) and in the daily sums of the
 * instance's database. The log comes first, and the sums note in the same transaction how far into it they reach; at
 * a start they are caught up. So each request is counted once, and sum(log) = sum(sums) also after kill -9, which
 * loses what ended in the last quarter of a second at most.
 */
export class RequestLedger implements Ledger {
  private waiting: RequestRecord[] = [];
  private readonly pending = new Pending();
  private log: LogStore | undefined;
  private written = 0;
  private summedAt = 0;
  private timer: Timer | undefined;
  private flushing: Promise<void> | undefined;
  private readonly listeners = new Set<(upTo: number) => void>();
  private readonly recorders: Array<(record: RequestRecord) => void> = [];
  private readonly logComplaint: Complaint;
  private readonly sumsComplaint: Complaint;
  /** Requests that were summed up but are missing in the log, because too many came or it cannot be written. */
  shed = 0;

  constructor(
    private readonly app: LedgerApp,
    private readonly totals: TotalsStore,
    private readonly settings: Pick<RuntimeSettings, 'of'>,
  ) {
    this.logComplaint = new Complaint(app.log, app.clock, 'the request log is not kept');
    this.sumsComplaint = new Complaint(app.log, app.clock, 'what requests cost is not written yet');
  }

  /** Opens the log and catches the sums up with it. */
  start(): void {
    this.logComplaint.attempt(() => {
      this.log = new LogStore(openTelemetry(join(this.app.config.dataDir, 'requests.db'), LOG_SCHEMA));
      this.written = this.totals.position(this.log.id);
      this.log.continueAfter(this.written);
    });
    if (this.log) this.catchUp(this.log);
  }

  /** Writes what waits. Nothing is recorded after it. */
  async stop(): Promise<void> {
    // Answers that the stop of the listener has cut off are told a step later.
    await otherWork();
    await this.settled();
    clearTimeout(this.timer);
    this.log?.close();
    this.log = undefined;
  }

  /** Hears of each record, in the step in which it is recorded. */
  onRecord(recorder: (record: RequestRecord) => void): void {
    this.recorders.push(recorder);
  }

  /** Calls back when rows up to a place are in the log. Answers how to stop that. */
  onWritten(listener: (upTo: number) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  record(record: RequestRecord): void {
    for (const recorder of this.recorders) recorder(record);
    if (!this.settings.of(record.tenant).features.enableRequestLogging) this.pending.fold([record]);
    else if (this.waiting.length >= MOST_WAITING) this.skip([record]);
    else this.waiting.push(record);
    if (this.flushing) return;
    if (this.waiting.length === FLUSH_AT) {
      clearTimeout(this.timer);
      this.timer = undefined;
      void this.flush();
    } else this.timer ??= setTimeout(() => void this.flush(), FLUSH_MS);
  }

  /** Requests that are not in the log yet. */
  get queued(): number {
    return this.waiting.length;
  }

  /** The log for reading, with everything in it that was recorded before; undefined when it cannot be had. */
  async read(): Promise<LogStore | undefined> {
    await this.flush();
    return this.log;
  }

  /** The place of the newest row. */
  get last(): number {
    return this.written;
  }

  /** Everything that was recorded before is in the sums. */
  async settled(): Promise<void> {
    await this.flush();
    if (this.waiting.length > 0) await this.flush();
    this.settleNow();
  }

  /** As `settled`, at once: for few records, and where nothing may come between. */
  settleNow(): void {
    while (this.waiting.length > 0) this.writeSlice();
    this.writeSums();
  }

  /** Forgets the rows of requests that began before a time, and all but the newest `most`; some at a step. */
  async forget(before: number, most: number): Promise<void> {
    const upTo = this.written - most;
    while ((this.log?.forget(FORGOTTEN_AT_ONCE, before, upTo) ?? 0) > 0) await otherWork();
  }

  private flush(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.flushing ??= this.writeAll().finally(() => {
      this.flushing = undefined;
      if (this.waiting.length > 0 || this.pending.size > 0)
        this.timer ??= setTimeout(() => void this.flush(), FLUSH_MS);
    });
    return this.flushing;
  }

  /** Slices, with other work between them. */
  private async writeAll(): Promise<void> {
    while (this.waiting.length > 0) {
      this.writeSlice();
      if (this.pending.size >= MOST_GROUPS) {
        await otherWork();
        this.writeSums();
      }
      await otherWork();
    }
    if (performance.now() - this.summedAt >= SUMS_MS) this.writeSums();
  }

  private writeSlice(): void {
    const records = this.waiting.slice(0, SLICE);
    this.waiting = this.waiting.slice(SLICE);
    const isWritten = this.logComplaint.attempt(() => {
      if (!this.log) throw new Error('the file could not be opened');
      const { fresh, seq } = this.log.append(records);
      this.written = seq;
      this.pending.fold(fresh);
    });
    if (!isWritten) this.skip(records);
    else for (const listener of this.listeners) listener(this.written);
  }

  /** Sums up what will not be in the log. */
  private skip(records: readonly RequestRecord[]): void {
    this.shed += records.length;
    this.pending.fold(records);
  }

  private writeSums(): void {
    if (this.pending.size === 0) return;
    this.summedAt = performance.now();
    const reach = this.log && { logId: this.log.id, seq: this.written };
    if (this.sumsComplaint.attempt(() => this.totals.add(this.pending.values(), reach))) this.pending.clear();
  }

  private catchUp(log: LogStore): void {
    for (;;) {
      const records = log.after(this.written, CAUGHT_UP);
      const newest = records.at(-1)?.seq;
      if (newest === undefined) return;
      const missed = new Pending();
      missed.fold(records);
      this.totals.add(missed.values(), { logId: log.id, seq: newest });
      this.written = newest;
    }
  }
}

/** Lets requests that are waiting have their turn. */
function otherWork(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
