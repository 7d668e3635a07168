import { migrations } from '../../../../../migrations/index.ts';
import type { App } from '../../../../app.ts';
import { openDatabase } from '../../../../db/open.ts';
import { silentLog } from '../../../../log/log.ts';
import { CronStore } from '../cron-store.ts';
import type { Outcome } from '../execute.ts';
import { RunStore } from '../run-store.ts';
import { Runner, type Stores } from '../runner.ts';
import { parseSchedule } from '../schedule.ts';
import { Scheduler } from '../scheduler.ts';
import type { CronRow, RunRow } from '../tables.ts';
import { WebhookStore } from '../webhook-store.ts';

const DONE: Outcome = {
  status: 'succeeded',
  error: '',
  exitCode: 0,
  executionId: 'cmd_1',
  stdout: '',
  stderr: '',
};
const BROKEN: Outcome = { ...DONE, status: 'failed', error: 'exit status 1', exitCode: 1 };

/** Crons over a real database and a clock that is moved by hand; their commands end when they are told to. */
export class CronScene {
  now = Date.parse('2026-11-21T12:00:30Z');
  readonly stores: Stores;
  /** Ids of the runs that have begun, in order, of all lives of the daemon. */
  readonly begun: number[] = [];
  /** What runs now, and how to end it. */
  readonly open = new Map<number, { readonly run: RunRow; readonly end: (outcome: Outcome) => void }>();
  private readonly db = openDatabase(':memory:', migrations);
  private readonly app: App;
  private runner: Runner;
  private scheduler: Scheduler;

  constructor() {
    const { db } = this;
    this.stores = { crons: new CronStore(db), webhooks: new WebhookStore(db), runs: new RunStore(db) };
    this.app = { db, clock: { now: () => this.now }, log: silentLog } as unknown as App;
    [this.runner, this.scheduler] = this.boot();
  }

  /** Adds a cron that runs every minute. */
  add(change: Partial<CronRow> = {}): CronRow {
    const row: Omit<CronRow, 'id'> = {
      tenant: 'org_a',
      sandboxId: 'sbx_1',
      sessionId: 'ses_1',
      name: '',
      schedule: '* * * * *',
      timezone: 'UTC',
      command: 'true',
      workDir: '',
      timeoutSeconds: 60,
      enabled: true,
      missedRuns: 'skip',
      overlap: 'skip',
      wake: true,
      autoRecreate: false,
      sandboxConfig: null,
      lastRunAt: null,
      nextRunAt: null,
      runCount: 0,
      errorCount: 0,
      lastError: '',
      createdAt: this.now,
      updatedAt: this.now,
      ...change,
    };
    const nextRunAt = parseSchedule(row.schedule, row.timezone).after(this.now) ?? null;
    return this.stores.crons.insert({ ...row, nextRunAt });
  }

  /** Lets time pass while the daemon runs: each time of day is met. */
  async pass(ms: number): Promise<void> {
    const end = this.now + ms;
    for (
      let due = this.stores.crons.nextDue();
      due !== undefined && due <= end;
      due = this.stores.crons.nextDue()
    ) {
      this.now = Math.max(due, this.now);
      this.scheduler.sweep();
      await settled();
    }
    this.now = end;
  }

  /** Ends the daemon without warning, and starts it again later. */
  async outage(ms: number): Promise<void> {
    this.runner.stop();
    this.open.clear();
    this.now += ms;
    [this.runner, this.scheduler] = this.boot();
    this.scheduler.sweep();
    await settled();
  }

  /** Ends the command that began first. */
  async finish(isGood = true): Promise<void> {
    const [first] = this.open.values();
    if (!first) return;
    this.open.delete(first.run.id);
    first.end(isGood ? DONE : BROKEN);
    await settled();
  }

  /** All runs, oldest first. */
  runs(): RunRow[] {
    return this.stores.runs.list('org_a', { limit: 10_000, offset: 0 }).rows.toReversed();
  }

  cron(id: number): CronRow {
    const row = this.stores.crons.find('org_a', id);
    if (!row) throw new Error('no such cron');
    return row;
  }

  private boot(): [Runner, Scheduler] {
    const runner = new Runner(this.app, this.stores, (_, run) => {
      const { promise, resolve } = Promise.withResolvers<Outcome>();
      this.begun.push(run.id);
      this.open.set(run.id, { run, end: resolve });
      return promise;
    });
    runner.start();
    return [runner, new Scheduler(this.app, this.stores, runner)];
  }
}

/** What was begun has begun after it, and what follows from promises that are settled has happened. */
async function settled(): Promise<void> {
  for (let i = 0; i < 2; i++) await new Promise((resolve) => setImmediate(resolve));
}
