import { SECOND_MS } from '../../../../src/kit/time.ts';
import type { App } from '../../../app.ts';
import type { Sandbox } from '../tables.ts';
import type { Archiving } from './archiving.ts';
import type { LifecycleService } from './service.ts';

/** Longest time between two looks; a new, earlier time is noticed after this at the latest. */
const LONGEST_SLEEP_MS = 2 * SECOND_MS;
const MOST_PACKED_AT_ONCE = 2;

/** Stops sandboxes whose time is over or that nobody uses; archives and deletes those that slept long enough. */
export class Expiry {
  private timer: Timer | undefined;
  private stopped = true;
  /** Sandboxes that are being archived: it may take minutes, and the others are not to wait for it. */
  private readonly packing = new Set<string>();

  constructor(
    private readonly app: App,
    private readonly lifecycle: LifecycleService,
    private readonly archiving: Archiving,
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

  /** Does what is due now. Archiving goes on after it. */
  async sweep(): Promise<void> {
    const now = this.app.clock.now();
    const idle = this.lifecycle.store.idlers().filter((row) => this.isIdle(row, now));
    const due = this.lifecycle.store.due(now);
    const ending = due.filter((row) => !isToArchive(row, now));
    const archiving = due.filter((row) => isToArchive(row, now) && !this.packing.has(row.id));
    for (const row of archiving.slice(0, MOST_PACKED_AT_ONCE - this.packing.size)) void this.pack(row);
    await Promise.all([...ending, ...idle].map((row) => this.end(row)));
  }

  private async pack(row: Sandbox): Promise<void> {
    this.packing.add(row.id);
    try {
      await this.archiving.archive(row.tenant, row.id);
    } catch (error) {
      this.app.log.warn('a sandbox could not be archived', { sandbox: row.id, error });
    } finally {
      this.packing.delete(row.id);
    }
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

function isToArchive(row: Sandbox, now: number): boolean {
  return row.state === 'sleeping' && !(row.deleteAt !== null && row.deleteAt <= now);
}
