import { newId } from '../../../../src/kit/id.ts';
import type { App } from '../../../app.ts';
import type { Caller } from '../../../http/route.ts';
import type { SandboxDriver } from '../drivers/driver.ts';
import { snapshotReference } from '../drivers/snapshot-reference.ts';
import { resolveConfig } from '../lifecycle/config.ts';
import type { LifecycleService } from '../lifecycle/service.ts';
import { allows, wrongState } from '../lifecycle/states.ts';
import type { Sandbox } from '../tables.ts';

/** What the new sandboxes are called and marked with. */
export interface ForkRequest {
  readonly count: number;
  /** Several are called `name-1`, `name-2` and so on. */
  readonly name?: string;
  /** In place of those of the source. */
  readonly labels?: Readonly<Record<string, string>>;
}

/** Makes running copies of sandboxes: files, environment and configuration, but not what others have attached to them. */
export class ForkService {
  /** Snapshots that forks stand on while they are made. */
  readonly underWay = new Set<string>();

  constructor(
    private readonly app: App,
    private readonly driver: SandboxDriver,
    private readonly lifecycle: LifecycleService,
  ) {}

  /**
   * All of the copies, or none. They share one copy of the files of the source, taken at one moment, each with its
   * own changes on top. Errors: invalid_argument, sandbox_not_found, sandbox_wrong_state, resource_exhausted, already_exists,
   * disk_full, unavailable.
   */
  async fork(caller: Caller, idOrName: string, request: ForkRequest): Promise<Sandbox[]> {
    const names = namesOf(request);
    // Only for what is wrong with them.
    for (const name of names) resolveConfig({ name, labels: { ...request.labels } }, this.app.config);
    const id = newId('snp');
    this.underWay.add(id);
    try {
      const source = await this.lifecycle.exclusively(caller.tenant, idOrName, async (row) => {
        if (!allows('snapshot', row.state)) throw wrongState(row.id, row.state, 'snapshot');
        this.lifecycle.checkRoom(request.count);
        await this.driver.snapshot(row.id, id, { passing: true });
        return row;
      });
      const labels = { ...(request.labels ?? source.labels) };
      return await this.makeAll(
        caller,
        source,
        names.map((name) => ({ name, labels })),
        snapshotReference(id),
      );
    } finally {
      await this.driver.removeSnapshot(id);
      this.underWay.delete(id);
    }
  }

  private async makeAll(
    caller: Caller,
    source: Sandbox,
    wanted: readonly Wanted[],
    image: string,
  ): Promise<Sandbox[]> {
    const made = await Promise.allSettled(
      wanted.map((one) => this.lifecycle.makeLike(caller, source, one, image)),
    );
    const failed = made.find((one) => one.status === 'rejected');
    if (!failed) return made.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    for (const one of made) if (one.status === 'fulfilled') await this.takeBack(one.value);
    throw failed.reason;
  }

  private async takeBack({ tenant, id }: Sandbox): Promise<void> {
    try {
      await this.lifecycle.terminate(tenant, id, 'system');
    } catch (error) {
      this.app.log.warn('a fork could not be taken back', { sandbox: id, error });
    }
  }
}

interface Wanted {
  readonly name: string | undefined;
  readonly labels: Record<string, string>;
}

function namesOf({ count, name }: ForkRequest): Array<string | undefined> {
  return Array.from({ length: count }, (_, i) => (name && count > 1 ? `${name}-${i + 1}` : name));
}
