import { and, asc, count, desc, eq, gt, isNull, lte, ne } from 'drizzle-orm';
import type { Database } from '../../../db/open.ts';
import { sandboxEvents, sandboxes } from '../tables.ts';
import {
  type SshGrantRow,
  type SshKeyRow,
  type SshTokenRow,
  sshGrants,
  sshKeys,
  sshTokens,
} from './tables.ts';

/** Who made a sandbox that has no grant yet. */
export interface Creation {
  readonly tenant: string;
  readonly sandboxId: string;
  /** The user or the key that called. */
  readonly actor: string;
}

/** Reads and writes tokens, grants and keys. */
export class SshStore {
  constructor(private readonly db: Database) {}

  insertToken(row: SshTokenRow): void {
    this.db.sql.insert(sshTokens).values(row).run();
  }

  /** The tokens of a sandbox that are good at `now`, newest first. */
  liveTokens(tenant: string, sandboxId: string, now: number): SshTokenRow[] {
    return this.db.sql
      .select()
      .from(sshTokens)
      .where(and(ofSandbox(sshTokens, tenant, sandboxId), gt(sshTokens.expiresAt, now)))
      .orderBy(desc(sshTokens.createdAt), desc(sshTokens.id))
      .all();
  }

  /** The token with this hash, of whatever tenant: it is the credential that names the tenant. */
  tokenByHash(tokenHash: string): SshTokenRow | undefined {
    return this.db.sql.select().from(sshTokens).where(eq(sshTokens.tokenHash, tokenHash)).get();
  }

  /** Removes a token; false when there was none. */
  deleteToken(tenant: string, sandboxId: string, id: string): boolean {
    const mine = and(ofSandbox(sshTokens, tenant, sandboxId), eq(sshTokens.id, id));
    return this.db.sql.delete(sshTokens).where(mine).returning({ id: sshTokens.id }).all().length > 0;
  }

  /** Forgets the tokens of a sandbox that is gone. */
  deleteTokensOf(tenant: string, sandboxId: string): void {
    this.db.sql
      .delete(sshTokens)
      .where(ofSandbox(sshTokens, tenant, sandboxId))
      .run();
  }

  /** Forgets every token that is not good any more. */
  sweepTokens(now: number): void {
    this.db.sql.delete(sshTokens).where(lte(sshTokens.expiresAt, now)).run();
  }

  grant(tenant: string, sandboxId: string, userId: string): SshGrantRow | undefined {
    const mine = and(ofSandbox(sshGrants, tenant, sandboxId), eq(sshGrants.userId, userId));
    return this.db.sql.select().from(sshGrants).where(mine).get();
  }

  /** Writes a grant over what stood there. */
  putGrant(row: SshGrantRow): void {
    this.db.sql
      .insert(sshGrants)
      .values(row)
      .onConflictDoUpdate({ target: [sshGrants.sandboxId, sshGrants.userId], set: row })
      .run();
  }

  /** Writes a grant where nothing stands: what was withdrawn stays so. */
  addGrant(row: SshGrantRow): void {
    this.db.sql.insert(sshGrants).values(row).onConflictDoNothing().run();
  }

  /** Who made the living sandboxes (or the one that is named) which nobody was let into yet. */
  ungrantedCreations(sandboxId?: string): Creation[] {
    const event = this.db.sql
      .select({
        tenant: sandboxEvents.tenant,
        sandboxId: sandboxEvents.sandboxId,
        metadata: sandboxEvents.metadata,
      })
      .from(sandboxEvents)
      .innerJoin(sandboxes, eq(sandboxes.id, sandboxEvents.sandboxId))
      .leftJoin(sshGrants, eq(sshGrants.sandboxId, sandboxEvents.sandboxId))
      .where(
        and(
          sandboxId === undefined ? undefined : eq(sandboxEvents.sandboxId, sandboxId),
          eq(sandboxEvents.type, 'created'),
          ne(sandboxes.state, 'terminated'),
          isNull(sshGrants.userId),
        ),
      )
      .all();
    return event.flatMap(({ metadata, ...where }) =>
      typeof metadata.actor === 'string' ? [{ ...where, actor: metadata.actor }] : [],
    );
  }

  keysOf(tenant: string, userId: string): SshKeyRow[] {
    return this.db.sql
      .select()
      .from(sshKeys)
      .where(and(eq(sshKeys.tenant, tenant), eq(sshKeys.userId, userId)))
      .orderBy(asc(sshKeys.id))
      .all();
  }

  key(tenant: string, id: number): SshKeyRow | undefined {
    return this.db.sql
      .select()
      .from(sshKeys)
      .where(and(eq(sshKeys.tenant, tenant), eq(sshKeys.id, id)))
      .get();
  }

  countKeys(tenant: string, userId: string): number {
    const mine = and(eq(sshKeys.tenant, tenant), eq(sshKeys.userId, userId));
    return this.db.sql.select({ n: count() }).from(sshKeys).where(mine).get()?.n ?? 0;
  }

  hasKey(tenant: string, fingerprint: string): boolean {
    const same = and(eq(sshKeys.tenant, tenant), eq(sshKeys.fingerprint, fingerprint));
    return this.db.sql.select({ id: sshKeys.id }).from(sshKeys).where(same).get() !== undefined;
  }

  /** Every registration of a key, in whatever tenant: it is the credential that names the tenants. */
  keysByFingerprint(fingerprint: string): SshKeyRow[] {
    return this.db.sql
      .select()
      .from(sshKeys)
      .where(eq(sshKeys.fingerprint, fingerprint))
      .orderBy(asc(sshKeys.id))
      .all();
  }

  insertKey(row: Omit<SshKeyRow, 'id'>): SshKeyRow {
    return this.db.sql.insert(sshKeys).values(row).returning().get();
  }

  deleteKey(tenant: string, id: number): void {
    this.db.sql
      .delete(sshKeys)
      .where(and(eq(sshKeys.tenant, tenant), eq(sshKeys.id, id)))
      .run();
  }

  markKeyUsed(tenant: string, id: number, lastUsedAt: number): void {
    this.db.sql
      .update(sshKeys)
      .set({ lastUsedAt })
      .where(and(eq(sshKeys.tenant, tenant), eq(sshKeys.id, id)))
      .run();
  }
}

function ofSandbox(table: typeof sshTokens | typeof sshGrants, tenant: string, sandboxId: string) {
  return and(eq(table.tenant, tenant), eq(table.sandboxId, sandboxId));
}
