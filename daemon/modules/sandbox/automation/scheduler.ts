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
    private readonly runner: Pick<Runner, 'write'>,
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

  /** Queues what is due now, in one transaction. */
  sweep(): void {
    const now = this.app.clock.now();
    this.runner.write(() => {
      for (const cron of this.stores.crons.due(now)) this.queue(cron, now);
    });
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
    crons.update(tenant, id, this.next(cron, Math.max(now, nextRunAt)));
  }

  /** When a cron runs next. One that cannot be read any more (a time zone that is gone) is disabled. */
  private next({ id, schedule, timezone }: CronRow, after: number): Partial<CronRow> {
    try {
      return { nextRunAt: parseSchedule(schedule, timezone).after(after) ?? null };
    } catch (error) {
      this.app.log.error('a cron cannot be read', { cron: id, error });
      return { nextRunAt: null, enabled: false, lastError: asAppError(error).message };
    }
  }
}
