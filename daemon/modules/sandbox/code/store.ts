import { and, desc, eq, inArray, lt, sql } from 'drizzle-orm';
import type { Database } from '../../../db/open.ts';
import { type CodeContextRow, codeContexts } from './tables.ts';

/** Most ended contexts of a sandbox that are remembered. */
const KEPT_ENDED = 100;

/** More than one end leaves over. */
const FORGOTTEN_AT_ONCE = 1_000;

/** Reads and writes code contexts. */
export class CodeContextStore {
  constructor(private readonly db: Database) {}

  insert(row: CodeContextRow): void {
    this.db.sql.insert(codeContexts).values(row).run();
  }

  find(tenant: string, sandboxId: string, id: string): CodeContextRow | undefined {
    const mine = and(
      eq(codeContexts.tenant, tenant),
      eq(codeContexts.sandboxId, sandboxId),
      eq(codeContexts.id, id),
    );
    return this.db.sql.select().from(codeContexts).where(mine).get();
  }

  /** Writes why a context ended, once, and forgets the oldest ended ones of its sandbox. */
  end(tenant: string, sandboxId: string, id: string, reason: string, endedAt: number): void {
    const one = and(eq(codeContexts.tenant, tenant), eq(codeContexts.id, id), eq(codeContexts.state, 'open'));
    this.db.sql.update(codeContexts).set({ state: 'ended', reason, endedAt }).where(one).run();
    const ended = and(
      eq(codeContexts.tenant, tenant),
      eq(codeContexts.sandboxId, sandboxId),
      eq(codeContexts.state, 'ended'),
    );
    const old = this.db.sql
      .select({ id: codeContexts.id })
      .from(codeContexts)
      .where(ended)
      .orderBy(desc(codeContexts.endedAt), desc(codeContexts.id))
      .limit(FORGOTTEN_AT_ONCE)
      .offset(KEPT_ENDED);
    this.db.sql.delete(codeContexts).where(inArray(codeContexts.id, old)).run();
  }

  /** Ends all contexts that a former process of the daemon has left open, over all tenants. */
  endAll(reason: string, endedAt: number): void {
    const before = and(eq(codeContexts.state, 'open'), lt(codeContexts.createdAt, sql`${endedAt} + 1`));
    this.db.sql.update(codeContexts).set({ state: 'ended', reason, endedAt }).where(before).run();
  }
}
