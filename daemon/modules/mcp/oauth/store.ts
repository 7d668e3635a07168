import { and, eq, lt } from 'drizzle-orm';
import type { Database } from '../../../db/open.ts';
import { type AuthorizationRow, mcpAuthorizations, mcpServerRows, mcpTokens } from '../tables.ts';

/** Reads and writes tokens for servers, and authorizations that were begun. */
export class OAuthStore {
  constructor(private readonly db: Database) {}

  /** The sealed tokens of a server. */
  tokens(tenant: string, serverId: string): string | undefined {
    const where = and(eq(mcpTokens.tenant, tenant), eq(mcpTokens.serverId, serverId));
    return this.db.sql.select().from(mcpTokens).where(where).get()?.sealed;
  }

  /** Keeps the tokens of a server; of one that is not registered, or not any more, nothing is kept. */
  keepTokens(row: typeof mcpTokens.$inferInsert): void {
    const { tenant, serverId, sealed, updatedAt } = row;
    const mine = and(eq(mcpServerRows.tenant, tenant), eq(mcpServerRows.id, serverId));
    this.db.transaction(() => {
      if (!this.db.sql.select({ id: mcpServerRows.id }).from(mcpServerRows).where(mine).get()) return;
      this.db.sql
        .insert(mcpTokens)
        .values(row)
        .onConflictDoUpdate({ target: mcpTokens.serverId, set: { sealed, updatedAt } })
        .run();
    });
  }

  forgetTokens(tenant: string, serverId: string): void {
    const where = and(eq(mcpTokens.tenant, tenant), eq(mcpTokens.serverId, serverId));
    this.db.sql.delete(mcpTokens).where(where).run();
  }

  /** Notes an authorization that was begun, in the place of earlier ones of that server. */
  begin(row: AuthorizationRow): void {
    this.db.transaction(() => {
      const earlier = and(
        eq(mcpAuthorizations.tenant, row.tenant),
        eq(mcpAuthorizations.serverId, row.serverId),
      );
      this.db.sql.delete(mcpAuthorizations).where(earlier).run();
      this.db.sql.insert(mcpAuthorizations).values(row).run();
    });
  }

  /** Takes an authorization out: it is good once. The state proves the tenant. */
  take(stateHash: string): AuthorizationRow | undefined {
    return this.db.sql
      .delete(mcpAuthorizations)
      .where(eq(mcpAuthorizations.stateHash, stateHash))
      .returning()
      .get();
  }

  prune(before: number): void {
    this.db.sql.delete(mcpAuthorizations).where(lt(mcpAuthorizations.expiresAt, before)).run();
  }
}
