import { newId } from '../../src/kit/id.ts';
import { type Clock, DAY_MS, MINUTE_MS, SECOND_MS } from '../../src/kit/time.ts';
import type { Database } from '../db/open.ts';
import type { Log } from '../log/log.ts';
import { JobStore } from './store.ts';
import type { Job } from './tables.ts';

const LEASE_MS = MINUTE_MS;
const LONGEST_SLEEP_MS = 30 * SECOND_MS;
const KEPT_MS = 7 * DAY_MS;
const MAX_ATTEMPTS = 10;

/**
 * Does one job. A thrown error means: try again later, up to `maxAttempts`. It may run twice after a crash. The signal fires when
 * the daemon stops, which waits for it; what ends by an error then is taken up at the next start, and that attempt does not count.
 */
export type JobHandler = (
  payload: Record<string, unknown>,
  job: Job,
  signal: AbortSignal,
) => Promise<void> | void;

/** Single work to do later. */
export interface NewJob {
  readonly kind: string;
  readonly tenant?: string;
  readonly payload?: Record<string, unknown>;
  /** Milliseconds since 1970; at once when absent. */
  readonly runAt?: number;
  readonly maxAttempts?: number;
}

/** Work that is done later, in one table: what was queued survives the process, and every job can be seen. */
export class Jobs {
  private readonly handlers = new Map<string, JobHandler>();
  private readonly owner = newId('job');
  private readonly running = new Map<string, Promise<void>>();
  private readonly store: JobStore;
  private timer: Timer | undefined;
  private stopped = true;
  private ending = new AbortController();

  constructor(
    db: Database,
    private readonly clock: Clock,
    private readonly log: Log,
  ) {
    this.store = new JobStore(db);
  }

  /** Says who does a kind of job. */
  handle(kind: string, handler: JobHandler): void {
    this.handlers.set(kind, handler);
  }

  /** Does a job at intervals, from now on. */
  every(kind: string, intervalMs: number, handler: JobHandler): void {
    this.handle(kind, handler);
    this.store.upsertRepeating({ ...this.row({ kind }), id: `job_${kind}`, everyMs: intervalMs });
  }

  /** Queues a job; inside a transaction it is queued with it. Returns its id. */
  add(job: NewJob): string {
    const row = this.row(job);
    this.store.insert(row);
    if (!this.stopped) this.wakeAt(row.runAt);
    return row.id;
  }

  list(tenant: string, limit: number, offset: number): Job[] {
    return this.store.list(tenant, limit, offset);
  }

  /** Starts to work. Jobs that a former process held are taken up again. */
  start(): void {
    this.stopped = false;
    this.ending = new AbortController();
    this.store.releaseAll(this.clock.now());
    this.every('jobs.prune', DAY_MS, () => void this.store.prune(this.clock.now() - KEPT_MS));
    this.wakeAt(this.clock.now());
  }

  /** Takes no more work and waits for what runs. */
  async stop(): Promise<void> {
    this.stopped = true;
    this.ending.abort();
    clearTimeout(this.timer);
    await Promise.allSettled(this.running.values());
  }

  private row({ kind, tenant, payload = {}, runAt, maxAttempts = MAX_ATTEMPTS }: NewJob): Job {
    const now = this.clock.now();
    return {
      id: newId('job', now),
      tenant: tenant ?? null,
      kind,
      payload,
      state: 'waiting',
      everyMs: null,
      runAt: runAt ?? now,
      attempts: 0,
      maxAttempts,
      leaseOwner: null,
      leaseUntil: null,
      lastError: null,
      createdAt: now,
      updatedAt: now,
    };
  }

  private wakeAt(at: number): void {
    clearTimeout(this.timer);
    const delay = Math.min(Math.max(at - this.clock.now(), 0), LONGEST_SLEEP_MS);
    this.timer = setTimeout(() => this.work(), delay);
  }

  private work(): void {
    if (this.stopped) return;
    const kinds = [...this.handlers.keys()];
    for (const job of this.store.lease(kinds, this.owner, this.clock.now(), LEASE_MS)) {
      const done = this.run(job).finally(() => this.running.delete(job.id));
      this.running.set(job.id, done);
    }
    this.wakeAt(this.store.nextRunAt(kinds) ?? this.clock.now() + LONGEST_SLEEP_MS);
  }

  private async run(job: Job): Promise<void> {
    const keepLease = setInterval(
      () => this.store.extend(job.id, this.owner, this.clock.now() + LEASE_MS),
      LEASE_MS / 3,
    );
    try {
      await this.handlers.get(job.kind)?.(job.payload, job, this.ending.signal);
      this.finish(job);
    } catch (error) {
      this.retry(job, error);
    } finally {
      clearInterval(keepLease);
    }
  }

  private finish(job: Job): void {
    const updatedAt = this.clock.now();
    const free = { leaseOwner: null, leaseUntil: null, lastError: null, updatedAt };
    if (job.everyMs === null) {
      this.store.update(job.id, { ...free, state: 'done' });
      return;
    }
    this.store.update(job.id, { ...free, state: 'waiting', attempts: 0, runAt: updatedAt + job.everyMs });
    if (!this.stopped) this.wakeAt(this.store.nextRunAt([...this.handlers.keys()]) ?? updatedAt);
  }

  private retry(job: Job, error: unknown): void {
    const updatedAt = this.clock.now();
    const lastError = error instanceof Error ? error.message : String(error);
    if (this.stopped && job.everyMs === null) {
      const attempts = job.attempts - 1;
      this.store.update(job.id, {
        state: 'waiting',
        attempts,
        leaseOwner: null,
        leaseUntil: null,
        lastError,
        updatedAt,
      });
      return;
    }
    const over = job.everyMs === null && job.attempts >= job.maxAttempts;
    this.log.warn('a job failed', { job: job.id, kind: job.kind, attempt: job.attempts, error });
    const runAt = updatedAt + backoff(job);
    this.store.update(job.id, {
      leaseOwner: null,
      leaseUntil: null,
      lastError,
      updatedAt,
      runAt,
      state: over ? 'failed' : 'waiting',
    });
    if (!this.stopped && !over)
      this.wakeAt(Math.min(runAt, this.store.nextRunAt([...this.handlers.keys()]) ?? runAt));
  }
}

/** Seconds double with each attempt, up to five minutes; half of it is chance, so that retries spread. */
function backoff(job: Job): number {
  if (job.everyMs !== null) return job.everyMs;
  const most = Math.min(SECOND_MS * 2 ** (job.attempts - 1), 5 * MINUTE_MS);
  return Math.round(most / 2 + Math.random() * (most / 2));
}
