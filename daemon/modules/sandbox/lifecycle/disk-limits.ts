import { SECOND_MS } from '../../../../src/kit/time.ts';
import type { App } from '../../../app.ts';
import type { SandboxDriver } from '../drivers/driver.ts';
import type { Sandbox } from '../tables.ts';
import type { LifecycleService } from './service.ts';

const EVERY_MS = 30 * SECOND_MS;
const MIB = 1024 * 1024;

/**
 * Holds sandboxes to their `diskMb`. Few hosts have quotas for folders, so what they have written is counted now
 * and then, one sandbox after the other; one that has too much is put to sleep with the reason. After it was
 * woken again it is left alone as long as it does not grow, so that its owner can delete what is too much.
 */
export class DiskLimits {
  private timer: Timer | undefined;
  private stopped = true;
  /** What sandboxes had when they were put to sleep for it, in bytes. */
  private readonly known = new Map<string, number>();

  constructor(
    private readonly app: App,
    private readonly lifecycle: LifecycleService,
    private readonly driver: SandboxDriver,
  ) {}

  start(): void {
    this.stopped = false;
    this.arm();
  }

  stop(): void {
    this.stopped = true;
    clearTimeout(this.timer);
  }

  /** Counts all that run with a limit. */
  async sweep(): Promise<void> {
    const limited = this.lifecycle.store.living().filter(({ config }) => (config.diskMb ?? 0) > 0);
    const ids = new Set(limited.map(({ id }) => id));
    for (const id of this.known.keys()) if (!ids.has(id)) this.known.delete(id);
    for (const row of limited) if (row.state === 'running') await this.check(row);
  }

  private async check(row: Sandbox): Promise<void> {
    try {
      const bytes = await this.driver.diskUsage(row.id);
      const most = Math.max((row.config.diskMb ?? 0) * MIB, this.known.get(row.id) ?? 0);
      if (bytes > most) await this.end(row, bytes);
      else if (bytes <= (row.config.diskMb ?? 0) * MIB) this.known.delete(row.id);
    } catch (error) {
      this.app.log.warn('what a sandbox has on the disk could not be counted', { sandbox: row.id, error });
    }
  }

  private async end(row: Sandbox, bytes: number): Promise<void> {
    this.known.set(row.id, bytes);
    const failure = `It has ${Math.ceil(bytes / MIB)} MB on the disk, more than its limit of ${row.config.diskMb} MB.`;
    const event = { type: 'error', message: 'Too much on the disk', error: failure };
    this.lifecycle.settle(row, 'running', { failure }, event);
    await this.lifecycle.stop(row.tenant, row.id, 'error');
  }

  private arm(): void {
    if (this.stopped) return;
    this.timer = setTimeout(() => {
      void this.sweep().finally(() => this.arm());
    }, EVERY_MS);
    this.timer.unref();
  }
}
