import { SECOND_MS } from '../../../../src/kit/time.ts';
import type { App } from '../../../app.ts';
import type { Sandbox } from '../tables.ts';
import type { LifecycleService } from './service.ts';

/** Longest time between two looks; a new, earlier time is noticed after this at the latest. */
const LONGEST_SLEEP_MS = 2 * SECOND_MS;

/** Stops sandboxes whose time is over or that nobody uses, and deletes those that slept long enough. */
export class Expiry {
  private timer: Timer | undefined;
  private stopped = true;

  constructor(
    private readonly app: App,
    private readonly lifecycle: LifecycleService,
    private readonly isBusy: (id: string) => boolean,
  ) {}

  start(): void {
    this.stopped = false;
    this.arm();
  }

  stop(): void {
    this.stopped = true;
    clearTimeout(this.timer);
  }

  /** Does what is due now. */
  async sweep(): Promise<void> {
    const now = this.app.clock.now();
    const idle = this.lifecycle.store.idlers().filter((row) => this.isIdle(row, now));
    const due = this.lifecycle.store.due(now);
    await Promise.all([...due, ...idle].map((row) => this.end(row)));
  }

  private isIdle(row: Sandbox, now: number): boolean {
    return !this.isBusy(row.id) && this.lifecycle.lastUsed(row) + row.config.idleMs <= now;
  }

  private async end(row: Sandbox): Promise<void> {
    try {
      if (row.state === 'running') await this.lifecycle.stop(row.tenant, row.id, 'expired');
      else await this.lifecycle.terminate(row.tenant, row.id, 'expired');
    } catch (error) {
      this.app.log.warn('a sandbox could not be ended', { sandbox: row.id, error });
    }
  }

  private arm(): void {
    if (this.stopped) return;
    const next = (this.lifecycle.store.nextDue() ?? Number.POSITIVE_INFINITY) - this.app.clock.now();
    const delay = Math.min(Math.max(next, 0), LONGEST_SLEEP_MS);
    this.timer = setTimeout(() => {
      void this.sweep()
        .catch((error) => this.app.log.error('the expiry sweep failed', { error }))
        .finally(() => this.arm());
    }, delay);
  }
}
