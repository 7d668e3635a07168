import { and, eq, gte, lt, sql } from 'drizzle-orm';
import type { Database } from '../../../db/open.ts';
import { memoryUses, type UseRow } from '../tables.ts';
import type { Uses } from './tally.ts';

/** Reads and writes how memory was used. */
export class UsageStore {
  constructor(private readonly db: Database) {}

  /** Adds sums to those that are there, all at once. */
  add(all: readonly Uses[]): void {
    const { count, errors, totalMs, tenant, hour, collection, kind } = memoryUses;
    this.db.transaction(() => {
      for (const uses of all)
        this.db.sql
          .insert(memoryUses)
          .values(uses)
          .onConflictDoUpdate({
            target: [tenant, hour, collection, kind],
            set: {
              count: sql`${count} + ${uses.count}`,
              errors: sql`${errors} + ${uses.errors}`,
              totalMs: sql`${totalMs} + ${uses.totalMs}`,
            },
          })
          .run();
    });
  }

  /** The hours that begin from `from` up to `to`. */
  between(tenant: string, from: number, to: number): UseRow[] {
    return this.db.sql
      .select()
      .from(memoryUses)
      .where(and(eq(memoryUses.tenant, tenant), gte(memoryUses.hour, from), lt(memoryUses.hour, to)))
      .all();
  }

  /** Forgets what is older, of every tenant. */
  prune(before: number): void {
    this.db.sql.delete(memoryUses).where(lt(memoryUses.hour, before)).run();
  }
}
