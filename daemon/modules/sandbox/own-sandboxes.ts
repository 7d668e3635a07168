import { AppError } from '../../../src/errors/app-error.ts';
import { newId } from '../../../src/kit/id.ts';
import type { Caller } from '../../http/route.ts';
import { Homes } from './automation/home.ts';
import type { CommandService } from './command/service.ts';
import type { ExecSpec, Execution, Probe, SandboxDriver } from './drivers/driver.ts';
import type { FilesRoom } from './files/index.ts';
import type { Archiving } from './lifecycle/archiving.ts';
import type { CreateRequest } from './lifecycle/config.ts';
import type { LifecycleService } from './lifecycle/service.ts';
import type { State } from './lifecycle/states.ts';
import { type OwnCommands, ownCommands } from './own-commands.ts';
import { type OwnFiles, ownFiles } from './own-files.ts';
import type { PortService } from './ports/service.ts';

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
  start(
    tenant: string,
    id: string,
    argv: readonly [string, ...string[]],
    place?: Pick<ExecSpec, 'cwd' | 'env'>,
  ): Promise<Execution>;
  /** Ends one for good; one that is gone is fine. */
  terminate(tenant: string, id: string): Promise<void>;
  /** What this host offers and lacks. */
  probe(): Promise<Probe>;
}

/** Sandboxes that another module also works in. */
export interface WorkSandboxes extends OwnSandboxes {
  readonly commands: OwnCommands;
  readonly files: OwnFiles;
  /** The one that was made under a key, in whatever state it is. */
  look(tenant: string, key: string): { readonly id: string; readonly state: State } | undefined;
  /** Lets go of a key whose sandbox is gone or failed, so that another one can be made under it. */
  release(tenant: string, key: string): void;
  /** Wakes or restores one, or waits for whoever does. Errors: sandbox_wrong_state when it is gone, and those of waking. */
  wake(tenant: string, id: string): Promise<void>;
  /** Gives a port an address, and says whether something listens there now. Errors: as ExposePort. */
  expose(
    caller: Caller,
    id: string,
    port: number,
  ): Promise<{ readonly url: string; readonly listens: boolean }>;
}

/** What the sandboxes of other modules stand on. */
export interface OwnParts {
  readonly lifecycle: LifecycleService;
  readonly driver: SandboxDriver;
  readonly archiving: Archiving;
  readonly commands: CommandService;
  readonly filesRoom: Pick<FilesRoom, 'operations'>;
  readonly ports: PortService;
}

/** The sandboxes of other modules, on the same services that all are used by. */
export function ownSandboxes(parts: OwnParts): WorkSandboxes {
  const { lifecycle, driver, archiving, commands, filesRoom, ports } = parts;
  const homes = new Homes(lifecycle, archiving);
  return {
    driver: driver.name,
    commands: ownCommands(commands),
    files: ownFiles(filesRoom.operations),
    create: async (caller, request, key) => (await lifecycle.create(caller, request, key)).id,
    find: (tenant, key) => lifecycle.store.findByKey(tenant, key)?.id,
    look: (tenant, key) => lifecycle.store.findByKey(tenant, key),
    release: (tenant, key) => lifecycle.store.releaseKey(tenant, key),
    async wake(tenant, sandboxId) {
      const occupant = { id: 0, tenant, sandboxId, wake: true, autoRecreate: false, sandboxConfig: null };
      await homes.ready({ read: () => occupant, actor: '', moved: () => {} });
    },
    async start(tenant, id, argv, place = {}) {
      const box = lifecycle.running(tenant, id);
      return driver.exec(box.id, { id: newId('cmd'), argv, stdin: true, ...place });
    },
    async expose(caller, id, port) {
      const { url } = ports.expose(caller, id, port, { protocol: 'http' });
      return { url, listens: await listensOn(ports, caller.tenant, id, port) };
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

async function listensOn(ports: PortService, tenant: string, id: string, port: number): Promise<boolean> {
  try {
    (await ports.connect(tenant, id, port)).connection.destroy();
    return true;
  } catch (error) {
    if (error instanceof AppError && error.code === 'nothing_listens') return false;
    throw error;
  }
}
