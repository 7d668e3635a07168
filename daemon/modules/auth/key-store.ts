import { and, asc, eq } from 'drizzle-orm';
import type { Role } from '../../../src/api/endpoint.ts';
import type { Database } from '../../db/open.ts';
import { type ApiKeyRow, apiKeys, memberships } from './tables.ts';

/** A key with the role of its person now; null for keys of a team and of people who are no members. */
export interface KeyWithRole {
  readonly key: ApiKeyRow;
  readonly memberRole: Role | null;
}

/** Which keys of a tenant. */
export interface KeyFilter {
  readonly userId?: string;
  readonly type?: ApiKeyRow['type'];
}

/** Reads and writes API keys. */
export class KeyStore {
  constructor(private readonly db: Database) {}

  /** Every key of every tenant, for the snapshot that the gate asks. */
  all(): KeyWithRole[] {
    return this.withRole().all();
  }

  ofUser(tenant: string, userId: string): KeyWithRole[] {
    return this.withRole()
      .where(and(eq(apiKeys.tenant, tenant), eq(apiKeys.userId, userId)))
      .all();
  }

  get(tenant: string, id: string): KeyWithRole | undefined {
    return this.withRole()
      .where(and(eq(apiKeys.tenant, tenant), eq(apiKeys.id, id)))
      .get();
  }

  root(tenant: string): ApiKeyRow | undefined {
    return this.db.sql
      .select()
      .from(apiKeys)
      .where(and(eq(apiKeys.tenant, tenant), eq(apiKeys.type, 'root')))
      .get();
  }

  list(tenant: string, { userId, type }: KeyFilter): ApiKeyRow[] {
    const isTenants = eq(apiKeys.tenant, tenant);
    const isUsers = userId === undefined ? undefined : eq(apiKeys.userId, userId);
    const isOfType = type === undefined ? undefined : eq(apiKeys.type, type);
    return this.db.sql
      .select()
      .from(apiKeys)
      .where(and(isTenants, isUsers, isOfType))
      .orderBy(asc(apiKeys.createdAt), asc(apiKeys.id))
      .all();
  }

  insert(key: ApiKeyRow): void {
    this.db.sql.insert(apiKeys).values(key).run();
  }

  update(tenant: string, id: string, change: Partial<ApiKeyRow>): void {
    this.db.sql
      .update(apiKeys)
      .set(change)
      .where(and(eq(apiKeys.tenant, tenant), eq(apiKeys.id, id)))
      .run();
  }

  delete(tenant: string, id: string): void {
    this.db.sql
      .delete(apiKeys)
      .where(and(eq(apiKeys.tenant, tenant), eq(apiKeys.id, id)))
      .run();
  }

  private withRole() {
    return this.db.sql
      .select({ key: apiKeys, memberRole: memberships.role })
      .from(apiKeys)
      .leftJoin(
        memberships,
        and(eq(memberships.tenant, apiKeys.tenant), eq(memberships.userId, apiKeys.userId)),
      )
      .$dynamic();
  }
}
