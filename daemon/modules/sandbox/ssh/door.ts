import { AppError } from '../../../../src/errors/app-error.ts';
import { isId } from '../../../../src/kit/id.ts';
import type { Clock } from '../../../../src/kit/time.ts';
import type { LifecycleService } from '../lifecycle/service.ts';
import type { State } from '../lifecycle/states.ts';
import type { Sandbox } from '../tables.ts';
import type { Entry } from './connections.ts';
import type { SshGrants } from './grants.ts';
import type { SshStore } from './store.ts';
import { canWake, requireSsh } from './switch.ts';
import type { SshTokens } from './tokens.ts';

/** States that end in a sandbox that runs, by what somebody else does just now. */
const ON_THE_WAY: readonly State[] = ['pending', 'creating', 'reviving'];

/** Decides who gets into which sandbox, and whether whoever is in may stay. */
export class Door {
  constructor(
    private readonly clock: Clock,
    private readonly lifecycle: LifecycleService,
    private readonly store: SshStore,
    private readonly tokens: SshTokens,
    private readonly grants: SshGrants,
  ) {}

  /** Who comes with a token; with a sandbox's id or name it must be that one's. */
  byToken(text: string, sandbox?: string): Entry | undefined {
    const row = this.tokens.find(text);
    if (!row || (sandbox !== undefined && this.find(row.tenant, sandbox)?.id !== row.sandboxId))
      return undefined;
    const { tenant, sandboxId, id, createdBy } = row;
    return { tenant, sandboxId, credential: { kind: 'token', id, createdBy } };
  }

  /** Whether anybody has registered a key. */
  knowsKey(fingerprint: string): boolean {
    return this.store.keysByFingerprint(fingerprint).length > 0;
  }

  /**
   * Who comes with a key that is proven, to a sandbox by its id or name. A name counts only when it is plain whose
   * it is: the key is one person's, and one sandbox of that person's tenants has it. So nobody is led into another
   * one's sandbox by somebody who has registered a public key that is not theirs.
   */
  byKey(fingerprint: string, sandbox: string): Entry | undefined {
    const keys = this.store.keysByFingerprint(fingerprint);
    if (!isId('sbx', sandbox) && new Set(keys.map(({ userId }) => userId)).size > 1) return undefined;
    const entries = keys.flatMap(({ tenant, userId, id }): Entry[] => {
      const box = this.find(tenant, sandbox);
      if (!box || !this.grants.allows(tenant, box.id, userId)) return [];
      return [{ tenant, sandboxId: box.id, credential: { kind: 'key', id, user: userId } }];
    });
    return entries.length === 1 ? entries[0] : undefined;
  }

  /** Notes that somebody came in. */
  entered({ tenant, credential }: Entry): void {
    if (credential.kind === 'key') this.store.markKeyUsed(tenant, credential.id, this.clock.now());
  }

  /** Whether whoever is in may stay: people leave teams, roles change, API keys end. */
  holds({ tenant, sandboxId, credential }: Entry): boolean {
    return credential.kind === 'key'
      ? this.grants.allows(tenant, sandboxId, credential.user)
      : this.tokens.isVouchedFor({ tenant, createdBy: credential.createdBy });
  }

  /**
   * The sandbox of an entry, running; one that wakes on request is woken, and one that is on the way is waited for.
   * Errors: sandbox_not_found, ssh_disabled, sandbox_wrong_state.
   */
  async use({ tenant, sandboxId }: Entry): Promise<Sandbox> {
    const box = this.lifecycle.get(tenant, sandboxId);
    requireSsh(box);
    if (canWake(box)) await this.wake(box);
    else if (ON_THE_WAY.includes(box.state)) await this.lifecycle.exclusively(tenant, box.id, async () => {});
    return this.lifecycle.running(tenant, sandboxId);
  }

  /** Several sessions may come at once: for whoever comes second it is awake already. */
  private async wake({ tenant, id }: Sandbox): Promise<void> {
    await this.lifecycle.revive(tenant, id).catch((error: unknown) => {
      if (!(error instanceof AppError) || error.code !== 'sandbox_wrong_state') throw error;
    });
  }

  private find(tenant: string, sandbox: string): Sandbox | undefined {
    const box = this.lifecycle.store.find(tenant, sandbox);
    return box?.state === 'terminated' ? undefined : box;
  }
}
