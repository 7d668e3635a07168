import { fail, invalid } from '../../../../src/errors/app-error.ts';
import type { App } from '../../../app.ts';
import type { Caller } from '../../../http/route.ts';
import type { LifecycleService } from '../lifecycle/service.ts';
import type { Connections } from './connections.ts';
import { atLeast, type People } from './people.ts';
import type { SshStore } from './store.ts';

/**
 * Which people may enter a sandbox with their keys. Whoever made it is let in by that; admins and owners are
 * let in unless they were withdrawn; any other member needs a grant.
 */
export class SshGrants {
  constructor(
    private readonly app: App,
    private readonly lifecycle: LifecycleService,
    private readonly store: SshStore,
    private readonly people: People,
    private readonly connections: Connections,
  ) {}

  /** Lets a member in. Errors: sandbox_not_found, invalid_argument, not_found (no such member). */
  grant({ tenant, actor }: Caller, sandbox: string, user: string | undefined, grantedBy?: string): void {
    const box = this.lifecycle.get(tenant, sandbox);
    if (!user) throw invalid({ field: 'userId', description: 'is required' });
    if (!this.people.roleOf(tenant, user)) throw fail('not_found', { what: 'member', id: user });
    const row = { tenant, sandboxId: box.id, userId: user, grantedBy: actor };
    this.app.db.transaction(() => {
      this.store.putGrant({ ...row, grantedAt: this.app.clock.now(), revokedAt: null });
      const details = { sandbox: box.id, ...(grantedBy ? { grantedBy } : {}) };
      this.app.audit.record({ tenant, actor, action: 'ssh_access.grant', target: user, details });
    });
  }

  /** Withdraws a member, whatever the role, and ends the member's connections. Errors: sandbox_not_found, not_found. */
  revoke({ tenant, actor }: Caller, sandbox: string, user: string): void {
    const box = this.lifecycle.get(tenant, sandbox);
    const known = this.store.grant(tenant, box.id, user);
    if (!known && !this.people.roleOf(tenant, user)) throw fail('not_found', { what: 'member', id: user });
    const now = this.app.clock.now();
    const row = known ?? { tenant, sandboxId: box.id, userId: user, grantedBy: actor, grantedAt: now };
    this.app.db.transaction(() => {
      this.store.putGrant({ ...row, revokedAt: now });
      const details = { sandbox: box.id };
      this.app.audit.record({ tenant, actor, action: 'ssh_access.revoke', target: user, details });
    });
    const isTheirs = ({ credential, sandboxId }: Parameters<Parameters<Connections['closeWhere']>[0]>[0]) =>
      sandboxId === box.id && credential.kind === 'key' && credential.user === user;
    this.connections.closeWhere(isTheirs, 'access was withdrawn');
  }

  /** Whether a user may enter a sandbox now. */
  allows(tenant: string, sandboxId: string, user: string): boolean {
    const role = this.people.roleOf(tenant, user);
    if (!atLeast(role, 'member')) return false;
    const grant = this.store.grant(tenant, sandboxId, user);
    return grant ? grant.revokedAt === null : atLeast(role, 'admin');
  }

  /** Lets in whoever made a sandbox; without an id, all of those that a former process did not come to. */
  welcomeCreators(sandboxId?: string): void {
    const grantedAt = this.app.clock.now();
    for (const { tenant, sandboxId: id, actor } of this.store.ungrantedCreations(sandboxId)) {
      const userId = this.people.userOf(tenant, actor);
      this.store.addGrant({
        tenant,
        sandboxId: id,
        userId,
        grantedBy: 'creation',
        grantedAt,
        revokedAt: null,
      });
    }
  }
}
