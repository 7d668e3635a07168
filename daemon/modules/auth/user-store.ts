import { and, asc, count, eq } from 'drizzle-orm';
import type { Role } from '../../../src/api/endpoint.ts';
import type { Database } from '../../db/open.ts';
import {
  identities,
  memberships,
  type OrganizationRow,
  organizations,
  type UserRow,
  users,
} from './tables.ts';

/** A member of an organization. */
export interface Member {
  readonly user: UserRow;
  readonly role: Role;
  readonly joinedAt: number;
}

/** An organization of a person. */
export interface Belonging {
  readonly organization: OrganizationRow;
  readonly role: Role;
}

/** Reads and writes people, organizations and who belongs where. People stand above the tenants. */
export class UserStore {
  constructor(private readonly db: Database) {}

  count(): number {
    return this.db.sql.select({ n: count() }).from(users).get()?.n ?? 0;
  }

  byId(id: string): UserRow | undefined {
    return this.db.sql.select().from(users).where(eq(users.id, id)).get();
  }

  byEmail(email: string): UserRow | undefined {
    return this.db.sql.select().from(users).where(eq(users.email, email)).get();
  }

  byIdentity(issuer: string, subject: string): UserRow | undefined {
    return this.db.sql
      .select({ user: users })
      .from(identities)
      .innerJoin(users, eq(users.id, identities.userId))
      .where(and(eq(identities.issuer, issuer), eq(identities.subject, subject)))
      .get()?.user;
  }

  hasIdentity(userId: string): boolean {
    return (
      this.db.sql.select().from(identities).where(eq(identities.userId, userId)).limit(1).get() !== undefined
    );
  }

  insert(user: UserRow): void {
    this.db.sql.insert(users).values(user).run();
  }

  delete(id: string): void {
    this.db.sql.delete(users).where(eq(users.id, id)).run();
  }

  addIdentity(issuer: string, subject: string, userId: string, createdAt: number): void {
    this.db.sql.insert(identities).values({ issuer, subject, userId, createdAt }).run();
  }

  insertOrganization(organization: OrganizationRow): void {
    this.db.sql.insert(organizations).values(organization).run();
  }

  organization(tenant: string): OrganizationRow | undefined {
    return this.db.sql.select().from(organizations).where(eq(organizations.id, tenant)).get();
  }

  /** The organization that the instance itself belongs to; undefined before the first start. */
  instanceOrganization(): OrganizationRow | undefined {
    return this.db.sql.select().from(organizations).where(eq(organizations.isInstance, true)).get();
  }

  hasSlug(slug: string): boolean {
    return this.db.sql.select().from(organizations).where(eq(organizations.slug, slug)).get() !== undefined;
  }

  updateOrganization(tenant: string, change: Partial<OrganizationRow>): void {
    this.db.sql.update(organizations).set(change).where(eq(organizations.id, tenant)).run();
  }

  members(tenant: string): Member[] {
    return this.db.sql
      .select({ user: users, role: memberships.role, joinedAt: memberships.joinedAt })
      .from(memberships)
      .innerJoin(users, eq(users.id, memberships.userId))
      .where(eq(memberships.tenant, tenant))
      .orderBy(asc(memberships.joinedAt), asc(users.id))
      .all();
  }

  memberCount(tenant: string): number {
    const row = this.db.sql
      .select({ n: count() })
      .from(memberships)
      .where(eq(memberships.tenant, tenant))
      .get();
    return row?.n ?? 0;
  }

  /** The role of a person in a tenant; undefined when not a member. */
  role(tenant: string, userId: string): Role | undefined {
    return this.db.sql
      .select({ role: memberships.role })
      .from(memberships)
      .where(and(eq(memberships.tenant, tenant), eq(memberships.userId, userId)))
      .get()?.role;
  }

  /** Adds a member, or gives one another role. */
  setMember(tenant: string, userId: string, role: Role, joinedAt: number): void {
    this.db.sql
      .insert(memberships)
      .values({ tenant, userId, role, joinedAt })
      .onConflictDoUpdate({ target: [memberships.tenant, memberships.userId], set: { role } })
      .run();
  }

  removeMember(tenant: string, userId: string): void {
    this.db.sql
      .delete(memberships)
      .where(and(eq(memberships.tenant, tenant), eq(memberships.userId, userId)))
      .run();
  }

  /** The organizations of a person; the one joined first comes first. */
  belongings(userId: string): Belonging[] {
    return this.db.sql
      .select({ organization: organizations, role: memberships.role })
      .from(memberships)
      .innerJoin(organizations, eq(organizations.id, memberships.tenant))
      .where(eq(memberships.userId, userId))
      .orderBy(asc(memberships.joinedAt), asc(organizations.id))
      .all();
  }
}
