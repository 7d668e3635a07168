import { and, asc, count, desc, eq, isNotNull, lte, sql } from 'drizzle-orm';
import type { Database } from '../../../db/open.ts';
import { type CronRow, sandboxCrons } from './tables.ts';

/** Most due crons that one look takes up. */
const BATCH = 100;

/** Which crons or webhooks a list is asked for. */
export interface Filter {
  readonly sandboxId?: string;
  readonly limit: number;
  readonly offset: number;
}

/** Reads and writes crons. */
export class CronStore {
  constructor(private readonly db: Database) {}

  insert(row: Omit<CronRow, 'id'>): CronRow {
    return this.db.sql.insert(sandboxCrons).values(row).returning().get();
  }

  find(tenant: string, id: number): CronRow | undefined {
    return this.db.sql.select().from(sandboxCrons).where(mine(tenant, id)).get();
  }

  list(tenant: string, { sandboxId, limit, offset }: Filter): { rows: CronRow[]; total: number } {
    const where = and(
      eq(sandboxCrons.tenant, tenant),
      sandboxId === undefined ? undefined : eq(sandboxCrons.sandboxId, sandboxId),
    );
    const rows = this.db.sql
      .select()
      .from(sandboxCrons)
      .where(where)
      .orderBy(desc(sandboxCrons.id))
      .limit(limit)
      .offset(offset)
      .all();
    const total = this.db.sql.select({ total: count() }).from(sandboxCrons).where(where).get()?.total ?? 0;
    return { rows, total };
  }

  count(tenant: string): number {
    const mine = eq(sandboxCrons.tenant, tenant);
    return this.db.sql.select({ total: count() }).from(sandboxCrons).where(mine).get()?.total ?? 0;
  }

  update(tenant: string, id: number, change: Partial<CronRow>): void {
    this.db.sql.update(sandboxCrons).set(change).where(mine(tenant, id)).run();
  }

  delete(tenant: string, id: number): boolean {
    const gone = this.db.sql.delete(sandboxCrons).where(mine(tenant, id)).returning({ id: sandboxCrons.id });
    return gone.all().length > 0;
  }

  /** Moves all that worked in a sandbox to the one that took its place. */
  move(tenant: string, from: string, sandboxId: string, sessionId: string): void {
    const there = and(eq(sandboxCrons.tenant, tenant), eq(sandboxCrons.sandboxId, from));
    this.db.sql.update(sandboxCrons).set({ sandboxId, sessionId }).where(there).run();
  }

  /** Counts a run that began. */
  began(tenant: string, id: number, at: number): void {
    const change = { lastRunAt: at, runCount: sql`${sandboxCrons.runCount} + 1` };
    this.db.sql.update(sandboxCrons).set(change).where(mine(tenant, id)).run();
  }

  /** Counts a run that failed. */
  failed(tenant: string, id: number, error: string): void {
    const change = { lastError: error, errorCount: sql`${sandboxCrons.errorCount} + 1` };
    this.db.sql.update(sandboxCrons).set(change).where(mine(tenant, id)).run();
  }

  /** Crons of all tenants whose time has come, longest overdue first. */
  due(now: number): CronRow[] {
    const where = lte(sandboxCrons.nextRunAt, now);
    return this.db.sql
      .select()
      .from(sandboxCrons)
      .where(where)
      .orderBy(asc(sandboxCrons.nextRunAt))
      .limit(BATCH)
      .all();
  }

  /** When the next one of all tenants is due. */
  nextDue(): number | undefined {
    const row = this.db.sql
      .select({ at: sandboxCrons.nextRunAt })
      .from(sandboxCrons)
      .where(isNotNull(sandboxCrons.nextRunAt))
      .orderBy(asc(sandboxCrons.nextRunAt))
      .limit(1)
      .get();
    return row?.at ?? undefined;
  }
}

function mine(tenant: string, id: number) {
  return and(eq(sandboxCrons.tenant, tenant), eq(sandboxCrons.id, id));
}
