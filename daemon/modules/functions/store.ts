import { and, asc, count, desc, eq, sql } from 'drizzle-orm';
import type { Database } from '../../db/open.ts';
import type { Mode } from './config/config.ts';
import {
  type FunctionRow,
  functionInvocations,
  functionRows,
  functionSandboxes,
  type InvocationRow,
} from './tables.ts';

/** Which functions are meant. */
export interface FunctionFilter {
  readonly mode?: Mode;
  readonly enabled?: boolean;
  readonly limit: number;
  readonly offset: number;
}

/** What a call has come to. */
export type InvocationEnd = Pick<InvocationRow, 'status' | 'error' | 'attempts' | 'durationMs'>;

/** Reads and writes functions and their calls. */
export class FunctionStore {
  constructor(private readonly db: Database) {}

  find(tenant: string, id: string): FunctionRow | undefined {
    const mine = and(eq(functionRows.tenant, tenant), eq(functionRows.id, id));
    return this.db.sql.select().from(functionRows).where(mine).get();
  }

  findByName(tenant: string, name: string): FunctionRow | undefined {
    const mine = and(eq(functionRows.tenant, tenant), eq(functionRows.name, name));
    return this.db.sql.select().from(functionRows).where(mine).get();
  }

  /** A page in the order of their names, and how many there are of that kind. */
  list(
    tenant: string,
    { mode, enabled, limit, offset }: FunctionFilter,
  ): { rows: FunctionRow[]; total: number } {
    const where = and(
      eq(functionRows.tenant, tenant),
      mode === undefined ? undefined : eq(functionRows.mode, mode),
      enabled === undefined ? undefined : eq(functionRows.enabled, enabled),
    );
    const rows = this.db.sql
      .select()
      .from(functionRows)
      .where(where)
      .orderBy(asc(functionRows.name))
      .limit(limit)
      .offset(offset)
      .all();
    const total = this.db.sql.select({ total: count() }).from(functionRows).where(where).get()?.total ?? 0;
    return { rows, total };
  }

  count(tenant: string): number {
    const where = eq(functionRows.tenant, tenant);
    return this.db.sql.select({ total: count() }).from(functionRows).where(where).get()?.total ?? 0;
  }

  insert(row: FunctionRow): void {
    this.db.sql.insert(functionRows).values(row).run();
  }

  change(tenant: string, id: string, change: Partial<FunctionRow>): void {
    const mine = and(eq(functionRows.tenant, tenant), eq(functionRows.id, id));
    this.db.sql.update(functionRows).set(change).where(mine).run();
  }

  /** Removes a function with the record of its calls. */
  remove(tenant: string, id: string): void {
    this.db.sql
      .delete(functionRows)
      .where(and(eq(functionRows.tenant, tenant), eq(functionRows.id, id)))
      .run();
  }

  /** Notes that a call begins, and forgets those that are older than the last `kept`. */
  begin(row: InvocationRow, kept: number): void {
    this.db.transaction(() => {
      this.db.sql.insert(functionInvocations).values(row).run();
      this.db.sql
        .delete(functionInvocations)
        .where(
          and(
            eq(functionInvocations.tenant, row.tenant),
            eq(functionInvocations.functionId, row.functionId),
            sql`rowid <= (SELECT rowid FROM function_invocations WHERE tenant = ${row.tenant}
              AND function_id = ${row.functionId} ORDER BY rowid DESC LIMIT 1 OFFSET ${kept})`,
          ),
        )
        .run();
    });
  }

  finish(tenant: string, id: string, end: InvocationEnd): void {
    const mine = and(eq(functionInvocations.tenant, tenant), eq(functionInvocations.id, id));
    this.db.sql.update(functionInvocations).set(end).where(mine).run();
  }

  /** The last calls of a function, newest first. */
  invocations(tenant: string, functionId: string, limit: number): InvocationRow[] {
    return this.db.sql
      .select()
      .from(functionInvocations)
      .where(and(eq(functionInvocations.tenant, tenant), eq(functionInvocations.functionId, functionId)))
      .orderBy(desc(sql`rowid`))
      .limit(limit)
      .all();
  }

  /** Notes that calls which a former process had begun have no end. For the start of the daemon. */
  loseRunning(): void {
    this.db.sql
      .update(functionInvocations)
      .set({ status: 'lost', error: 'svc was restarted meanwhile' })
      .where(eq(functionInvocations.status, 'running'))
      .run();
  }

  addSandbox(tenant: string, key: string): void {
    this.db.sql.insert(functionSandboxes).values({ tenant, key }).run();
  }

  removeSandbox(tenant: string, key: string): void {
    this.db.sql
      .delete(functionSandboxes)
      .where(and(eq(functionSandboxes.tenant, tenant), eq(functionSandboxes.key, key)))
      .run();
  }

  /** The sandboxes of every tenant that were not ended. For the start of the daemon. */
  sandboxes(): Array<typeof functionSandboxes.$inferSelect> {
    return this.db.sql.select().from(functionSandboxes).all();
  }
}
