import { asAppError } from '../../../../src/errors/app-error.ts';
import type { SandboxDriver } from '../drivers/driver.ts';
import type { Sandbox } from '../tables.ts';
import type { LifecycleService } from './service.ts';

/** Takes sleeping sandboxes into cold storage and back. */
export class Archiving {
  constructor(
    private readonly lifecycle: LifecycleService,
    private readonly driver: SandboxDriver,
  ) {}

  /**
   * Packs a sleeping sandbox and removes it from the host. When that fails it goes on sleeping with the reason.
   * Errors: sandbox_not_found, sandbox_wrong_state, disk_full.
   */
  archive(tenant: string, idOrName: string): Promise<Sandbox> {
    return this.lifecycle.exclusively(tenant, idOrName, async (row) => {
      this.lifecycle.enter(row, 'archive', { type: 'archiving', message: 'Packing its files' });
      const start = performance.now();
      try {
        const { sizeBytes } = await this.driver.archive(row.id, await this.lifecycle.archives.place(row.id));
        this.lifecycle.settle(
          row,
          'archiving',
          { state: 'archived', archiveAt: null },
          {
            type: 'archived',
            message: 'In cold storage',
            metadata: { sizeBytes },
            durationMs: performance.now() - start,
          },
        );
      } catch (error) {
        await this.lifecycle.archives.remove(row.id);
        this.stayAsleep(row, error);
        throw error;
      }
      await this.driver.remove(row.id);
      return this.lifecycle.get(tenant, row.id);
    });
  }

  /**
   * Brings an archived sandbox back and starts it. When that fails it stays archived.
   * Errors: sandbox_not_found, sandbox_wrong_state, resource_exhausted, disk_full.
   */
  restore(tenant: string, idOrName: string): Promise<Sandbox> {
    return this.lifecycle.exclusively(tenant, idOrName, async (row) => {
      this.lifecycle.checkRoom();
      this.lifecycle.enter(row, 'restore', { type: 'restoring', message: 'Unpacking its files' });
      const spec = this.lifecycle.boxSpec(row.id, row.config);
      const restored = await this.lifecycle.wake(row, 'archived', async () => {
        await this.driver.remove(row.id);
        await this.driver.unarchive(spec, this.lifecycle.archives.path(row.id));
        return this.driver.start(row.id, spec);
      });
      await this.lifecycle.archives.remove(row.id);
      return restored;
    });
  }

  /** Another try is made after the days that it sleeps by its configuration, not at once. */
  private stayAsleep(row: Sandbox, error: unknown): void {
    const failure = asAppError(error).message;
    const { archiveAt } = this.lifecycle.sleepDates(row.config);
    const change = { state: 'sleeping' as const, failure, archiveAt };
    this.lifecycle.settle(row, 'archiving', change, {
      type: 'error',
      message: 'Could not be archived',
      error: failure,
    });
  }
}
