import { and, avg, count, desc, eq, gt, inArray, lt, ne, or, sql } from 'drizzle-orm';
import type { Database } from '../../../db/open.ts';
import { placeholders } from '../../../db/placeholders.ts';
import { type ExecutionRow, executions } from '../tables.ts';

/** Most rows that one pruning takes, so that it never blocks for long. */
const PRUNE_BATCH = 1_000;

/** Reads and writes executions. */
export class ExecutionStore {
  private readonly add;
  private readonly one;

  constructor(private readonly db: Database) {
    const { id, tenant, sandboxId } = executions;
    this.add = db.sql.insert(executions).values(placeholders(executions)).prepare();
    const mine = and(
      eq(tenant, sql.placeholder('tenant')),
      eq(sandboxId, sql.placeholder('sandboxId')),
      eq(id, sql.placeholder('id')),
    );
    this.one = db.sql.select().from(executions).where(mine).prepare();
  }

  insert(row: ExecutionRow): void {
    this.add.run(row);
  }

  find(tenant: string, sandboxId: string, id: string): ExecutionRow | undefined {
    return this.one.get({ tenant, sandboxId, id });
  }

  list(
    tenant: string,
    sandboxId: string,
    limit: number,
    offset: number,
  ): { rows: ExecutionRow[]; total: number } {
    const where = and(eq(executions.tenant, tenant), eq(executions.sandboxId, sandboxId));
    const rows = this.db.sql
      .select()
      .from(executions)
      .where(where)
      .orderBy(desc(executions.createdAt), desc(executions.id))
      .limit(limit)
      .offset(offset)
      .all();
    const total = this.db.sql.select({ total: count() }).from(executions).where(where).get()?.total ?? 0;
    return { rows, total };
  }

  /** Writes how a running execution ended. One that ended already stays as it is. */
  finish(id: string, change: Partial<ExecutionRow>): void {
    this.db.sql
      .update(executions)
      .set(change)
      .where(and(eq(executions.id, id), eq(executions.state, 'running')))
      .run();
  }

  update(id: string, change: Partial<ExecutionRow>): void {
    this.db.sql.update(executions).set(change).where(eq(executions.id, id)).run();
  }

  /** Executions that ran when this was last written, over all tenants. */
  running(): ExecutionRow[] {
    return this.db.sql.select().from(executions).where(eq(executions.state, 'running')).all();
  }

  /** Count and mean duration in milliseconds of a tenant's executions. */
  totals(tenant: string): { total: number; meanMs: number } {
    const duration = avg(executions.durationMs);
    const row = this.db.sql
      .select({ total: count(), mean: duration })
      .from(executions)
      .where(eq(executions.tenant, tenant))
      .get();
    return { total: row?.total ?? 0, meanMs: Number(row?.mean ?? 0) };
  }

  /** Removes the row of a command that was never started. */
  remove(id: string): void {
    this.db.sql.delete(executions).where(eq(executions.id, id)).run();
  }

  /**
   * Forgets executions that ended before a time, and all but the latest `kept` of each sandbox; a batch at a
   * time. Returns which, so that their logs can go too.
   */
  prune(before: number, kept: number): Array<{ id: string; sandboxId: string }> {
    const age = sql<number>`row_number() OVER (PARTITION BY ${executions.sandboxId} ORDER BY ${executions.createdAt} DESC)`;
    const ranked = this.db.sql
      .select({
        id: executions.id,
        state: executions.state,
        createdAt: executions.createdAt,
        age: age.as('age'),
      })
      .from(executions)
      .as('ranked');
    const old = or(gt(ranked.age, kept), lt(ranked.createdAt, before));
    const gone = this.db.sql
      .select({ id: ranked.id })
      .from(ranked)
      .where(and(ne(ranked.state, 'running'), old))
      .limit(PRUNE_BATCH);
    return this.db.sql
      .delete(executions)
      .where(inArray(executions.id, gone))
      .returning({ id: executions.id, sandboxId: executions.sandboxId })
      .all();
  }
}
