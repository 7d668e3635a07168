import { asAppError } from '../../../../src/errors/app-error.ts';
import { SECOND_MS } from '../../../../src/kit/time.ts';
import type { App } from '../../../app.ts';
import { laneOf, reasonToSkip } from './policy.ts';
import type { Runner, Stores } from './runner.ts';
import { parseSchedule } from './schedule.ts';
import type { CronRow } from './tables.ts';

/** Longest time between two looks: a clock that was set, or a machine that slept, is noticed after it. */
const LONGEST_SLEEP_MS = 10 * SECOND_MS;

/** Queues the runs of crons when their time has come. The timer is armed from the rows. */
export class Scheduler {
  private timer: Timer | undefined;
  private stopped = true;

  constructor(
    private readonly app: App,
    private readonly stores: Stores,
    private readonly runner: Pick<Runner, 'pump'>,
  ) {}

  start(): void {
    this.stopped = false;
    this.arm();
  }

  stop(): void {
    this.stopped = true;
    clearTimeout(this.timer);
  }

  /** Sleeps until the next cron is due. Called whenever one was changed. */
  arm(): void {
    if (this.stopped) return;
    clearTimeout(this.timer);
    const next = (this.stores.crons.nextDue() ?? Number.POSITIVE_INFINITY) - this.app.clock.now();
    this.timer = setTimeout(() => this.look(), Math.min(Math.max(next, 0), LONGEST_SLEEP_MS));
  }

  /** Queues what is due now. */
  sweep(): void {
    const now = this.app.clock.now();
    for (const cron of this.stores.crons.due(now)) {
      try {
        this.app.db.transaction(() => this.queue(cron, now));
      } catch (error) {
        this.app.log.error('a cron could not be queued', { cron: cron.id, error });
        const lastError = asAppError(error).message;
        this.stores.crons.update(cron.tenant, cron.id, { nextRunAt: null, enabled: false, lastError });
      }
    }
    this.runner.pump();
  }

  private look(): void {
    try {
      this.sweep();
    } finally {
      this.arm();
    }
  }

  /** The run and the time of the next one are written together, so that no time of day runs twice. */
  private queue(cron: CronRow, now: number): void {
    const { id, tenant, sandboxId, nextRunAt } = cron;
    if (nextRunAt === null) return;
    const { crons, runs } = this.stores;
    const reason = reasonToSkip(cron, { scheduledAt: nextRunAt, now, ...runs.openOf(tenant, 'cron', id) });
    const run = {
      tenant,
      type: 'cron',
      triggerId: id,
      sandboxId,
      scheduledAt: nextRunAt,
      createdAt: now,
    } as const;
    if (reason === undefined) runs.insertOnce({ ...run, status: 'queued', lane: laneOf(cron) });
    else runs.insertOnce({ ...run, status: 'skipped', error: reason, finishedAt: now });
    const next = parseSchedule(cron.schedule, cron.timezone).after(Math.max(now, nextRunAt));
    crons.update(tenant, id, { nextRunAt: next ?? null });
  }
}
