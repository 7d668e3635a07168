import { AppError, fail } from '../../../../src/errors/app-error.ts';
import { KeyedLock } from '../../../../src/kit/keyed-lock.ts';
import type { Caller } from '../../../http/route.ts';
import type { Archiving } from '../lifecycle/archiving.ts';
import type { LifecycleService } from '../lifecycle/service.ts';
import { wrongState } from '../lifecycle/states.ts';
import type { Sandbox } from '../tables.ts';
import type { CronRow, WebhookRow } from './tables.ts';

/** What a run needs to know of its cron or webhook to find its sandbox. */
export type Occupant = Pick<
  CronRow | WebhookRow,
  'id' | 'tenant' | 'sandboxId' | 'wake' | 'autoRecreate' | 'sandboxConfig'
>;

/** Who asks for a sandbox. */
export interface Tenancy {
  /** The cron or webhook as it is now. */
  readonly read: () => Occupant;
  /** Who makes the sandbox, for its history. */
  readonly actor: string;
  /** A sandbox has taken the place of one that is gone; `from` is empty when there was none. */
  readonly moved: (from: string, to: Sandbox) => void;
}

/** States change under us (it falls asleep while it is being woken): this often is looked again. */
const MOST_LOOKS = 4;

/** Brings the sandbox of a run to where commands can run in it. */
export class Homes {
  private readonly locks = new KeyedLock();

  constructor(
    private readonly lifecycle: LifecycleService,
    private readonly archiving: Archiving,
  ) {}

  /**
   * The id of a sandbox that runs: the one of the cron or webhook, woken or restored where that is wanted; a new
   * one in its place when it is gone and may be made again. One caller at a time for each sandbox.
   * Errors: sandbox_not_found, sandbox_wrong_state, and what waking and making can fail with.
   */
  ready({ read, actor, moved }: Tenancy): Promise<string> {
    const { tenant, sandboxId } = read();
    return this.locks.run(`${tenant}/${sandboxId || actor}`, () => this.settle(read(), actor, moved));
  }

  private async settle(of: Occupant, actor: string, moved: Tenancy['moved']): Promise<string> {
    let id = of.sandboxId;
    for (let look = 1; ; look++) {
      const row = id === '' ? undefined : this.lifecycle.store.find(of.tenant, id);
      if (row?.state === 'running') return row.id;
      if (row && look > MOST_LOOKS) throw wrongState(row.id, row.state, 'use');
      if (row && row.state !== 'terminated' && row.state !== 'failed') await this.advance(row, of.wake);
      else {
        const made = await this.replace(of, row, actor);
        moved(id, made);
        id = made.id;
      }
    }
  }

  /** Takes a sandbox one state further, or waits for whoever does. */
  private async advance(row: Sandbox, wake: boolean): Promise<void> {
    const rests = row.state === 'sleeping' || row.state === 'archived';
    if (rests && !wake) throw wrongState(row.id, row.state, 'use');
    if (!rests) return this.lifecycle.exclusively(row.tenant, row.id, async () => undefined);
    try {
      if (row.state === 'archived') await this.archiving.restore(row.tenant, row.id);
      else await this.lifecycle.revive(row.tenant, row.id);
    } catch (error) {
      if (!(error instanceof AppError && error.code === 'sandbox_wrong_state')) throw error;
    }
  }

  private async replace(of: Occupant, old: Sandbox | undefined, actor: string): Promise<Sandbox> {
    if (!of.autoRecreate) throw old ? wrongState(old.id, old.state, 'use') : missing(of);
    const caller: Caller = { tenant: of.tenant, role: 'member', actor, via: 'api-key' };
    const config = of.sandboxConfig;
    const { name } = config ?? {};
    if (name && this.lifecycle.store.hasName(of.tenant, name)) return this.lifecycle.get(of.tenant, name);
    if (config) return this.lifecycle.create(caller, config);
    if (!old) throw missing(of);
    return this.lifecycle.recreate(caller, old.id);
  }
}

function missing({ sandboxId }: Occupant) {
  return fail('sandbox_not_found', { id: sandboxId });
}
