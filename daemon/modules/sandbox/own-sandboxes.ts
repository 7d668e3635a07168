import { AppError } from '../../../src/errors/app-error.ts';
import { newId } from '../../../src/kit/id.ts';
import type { Caller } from '../../http/route.ts';
import type { Execution, Probe, SandboxDriver } from './drivers/driver.ts';
import type { CreateRequest } from './lifecycle/config.ts';
import type { LifecycleService } from './lifecycle/service.ts';

/** Sandboxes that another module of the daemon makes for a tenant and uses by itself. They count and show as all do. */
export interface OwnSandboxes {
  /** The backend that they run on. */
  readonly driver: SandboxDriver['name'];
  /**
   * Makes one and answers its id when it runs. `key` is the maker's own name for it: whoever writes that down first finds
   * it again after a crash. Errors: as CreateSandbox.
   */
  create(caller: Caller, request: CreateRequest, key: string): Promise<string>;
  /** The id of the one that was made under a key. */
  find(tenant: string, key: string): string | undefined;
  /** Starts a program in one, its stdin open; it ends with the daemon. Errors: sandbox_wrong_state, and the driver's. */
  start(tenant: string, id: string, argv: readonly [string, ...string[]]): Promise<Execution>;
  /** Ends one for good; one that is gone is fine. */
  terminate(tenant: string, id: string): Promise<void>;
  /** What this host offers and lacks. */
  probe(): Promise<Probe>;
}

/** The sandboxes of other modules, on the same service that all are made by. */
export function ownSandboxes(lifecycle: LifecycleService, driver: SandboxDriver): OwnSandboxes {
  return {
    driver: driver.name,
    create: async (caller, request, key) => (await lifecycle.create(caller, request, key)).id,
    find: (tenant, key) => lifecycle.store.findByKey(tenant, key)?.id,
    async start(tenant, id, argv) {
      const box = lifecycle.running(tenant, id);
      return driver.exec(box.id, { id: newId('cmd'), argv, stdin: true });
    },
    async terminate(tenant, id) {
      try {
        await lifecycle.terminate(tenant, id);
      } catch (error) {
        const isGone =
          error instanceof AppError &&
          (error.code === 'sandbox_not_found' ||
            (error.code === 'sandbox_wrong_state' && error.data.state === 'terminated'));
        if (!isGone) throw error;
      }
    },
    probe: () => driver.probe(),
  };
}
