import { fail } from '../../../src/errors/app-error.ts';
import { newId } from '../../../src/kit/id.ts';
import type { App } from '../../app.ts';
import type { OrganizationRow, UserRow } from './tables.ts';
import type { UserStore } from './user-store.ts';

/** What is known of somebody new. */
export interface NewPerson {
  readonly email: string;
  readonly name: string;
  readonly passwordHash?: string;
  readonly avatarUrl?: string;
}

/** Makes people and their organizations. Call it inside the transaction of what they are made for. */
export class People {
  constructor(
    private readonly app: App,
    private readonly store: UserStore,
  ) {}

  /** Errors: already_exists when the address belongs to somebody. */
  add({ email, name, passwordHash, avatarUrl }: NewPerson): UserRow {
    if (this.store.byEmail(email)) throw fail('already_exists', { what: 'user', id: email });
    const now = this.app.clock.now();
    const user: UserRow = {
      id: newId('usr', now),
      email,
      name,
      avatarUrl: avatarUrl ?? '',
      passwordHash: passwordHash ?? null,
      createdAt: now,
      updatedAt: now,
    };
    this.store.insert(user);
    return user;
  }

  /** An organization of somebody's own, with that person as its owner. */
  addOwnOrganization(user: UserRow): OrganizationRow {
    const now = this.app.clock.now();
    const organization: OrganizationRow = {
      id: newId('org', now),
      slug: this.freeSlug(user.name),
      name: user.name,
      ownerId: user.id,
      isInstance: false,
      externalId: null,
      createdAt: now,
      updatedAt: now,
    };
    this.store.insertOrganization(organization);
    this.store.setMember(organization.id, user.id, 'owner', now);
    this.app.audit.record({
      tenant: organization.id,
      actor: user.id,
      action: 'organization.create',
      target: organization.id,
    });
    return organization;
  }

  /** Makes somebody the owner who cannot be removed, when the organization has none. */
  claim(tenant: string, userId: string): void {
    const organization = this.store.organization(tenant);
    if (organization?.ownerId !== null) return;
    this.store.updateOrganization(tenant, { ownerId: userId, updatedAt: this.app.clock.now() });
  }

  private freeSlug(name: string): string {
    const base =
      name
        .toLowerCase()
        .replace(/[^a-z0-9]+/g, '-')
        .replace(/^-+|-+$/g, '')
        .slice(0, 40) || 'team';
    if (!this.store.hasSlug(base)) return base;
    return `${base}-${newId('org', this.app.clock.now()).slice(-8)}`;
  }
}
