import {
  and,
  asc,
  count,
  desc,
  eq,
  inArray,
  isNull,
  lt,
  lte,
  notInArray,
  or,
  type SQL,
  sql,
} from 'drizzle-orm';
import type { Database } from '../../../db/open.ts';
import { type RunRow, sandboxTriggers } from './tables.ts';

/** Bytes of a body that stay when its run has ended. */
const KEPT_BODY = 4096;

/** Most rows that one pruning takes, so that it never blocks for long. */
const PRUNE_BATCH = 1_000;

const EMPTY = { executionId: '', error: '', method: '', headers: {} } as const;

/** Which runs a list is asked for. */
export interface RunFilter {
  readonly sandboxId?: string;
  readonly type?: RunRow['type'];
  readonly triggerId?: number;
  readonly limit: number;
  readonly offset: number;
}

/** A run that is to be written down; what is not said is empty. */
export type NewRun = Pick<RunRow, 'tenant' | 'type' | 'triggerId' | 'sandboxId' | 'status' | 'createdAt'> &
  Partial<RunRow>;

/** What is busy: nothing of it begins another run. */
export interface Busy {
  readonly tenants: readonly string[];
  readonly lanes: readonly string[];
}

/** Reads and writes the runs of crons and webhooks. */
export class RunStore {
  constructor(private readonly db: Database) {}

  insert(run: NewRun): RunRow {
    return this.db.sql
      .insert(sandboxTriggers)
      .values({ ...EMPTY, ...run })
      .returning()
      .get();
  }

  /** As `insert`, unless there is a run for that time or delivery already. */
  insertOnce(run: NewRun): void {
    this.db.sql
      .insert(sandboxTriggers)
      .values({ ...EMPTY, ...run })
      .onConflictDoNothing()
      .run();
  }

  /** The run that took a delivery. */
  findDelivery(tenant: string, webhookId: number, deliveryId: string): RunRow | undefined {
    const where = and(of(tenant, 'webhook', webhookId), eq(sandboxTriggers.deliveryId, deliveryId));
    return this.db.sql.select().from(sandboxTriggers).where(where).get();
  }

  list(tenant: string, filter: RunFilter): { rows: RunRow[]; total: number } {
    const where = and(
      eq(sandboxTriggers.tenant, tenant),
      filter.sandboxId === undefined ? undefined : eq(sandboxTriggers.sandboxId, filter.sandboxId),
      filter.type === undefined ? undefined : eq(sandboxTriggers.type, filter.type),
      filter.triggerId === undefined ? undefined : eq(sandboxTriggers.triggerId, filter.triggerId),
    );
    const rows = this.db.sql
      .select()
      .from(sandboxTriggers)
      .where(where)
      .orderBy(desc(sandboxTriggers.id))
      .limit(filter.limit)
      .offset(filter.offset)
      .all();
    const total = this.db.sql.select({ total: count() }).from(sandboxTriggers).where(where).get()?.total ?? 0;
    return { rows, total };
  }

  /** How many runs of one trigger run and wait. */
  openOf(tenant: string, type: RunRow['type'], triggerId: number): { running: number; waiting: number } {
    const rows = this.db.sql
      .select({ status: sandboxTriggers.status, total: count() })
      .from(sandboxTriggers)
      .where(and(inArray(sandboxTriggers.status, ['queued', 'running']), of(tenant, type, triggerId)))
      .groupBy(sandboxTriggers.status)
      .all();
    const total = (status: RunRow['status']) => rows.find((row) => row.status === status)?.total ?? 0;
    return { running: total('running'), waiting: total('queued') };
  }

  /** How many runs of a tenant wait. */
  countWaiting(tenant: string): number {
    const waiting = and(eq(sandboxTriggers.status, 'queued'), eq(sandboxTriggers.tenant, tenant));
    return this.db.sql.select({ total: count() }).from(sandboxTriggers).where(waiting).get()?.total ?? 0;
  }

  /** The longest waiting run that may begin now, of any tenant. */
  nextWaiting({ tenants, lanes }: Busy): RunRow | undefined {
    const free = or(isNull(sandboxTriggers.lane), notInArray(sandboxTriggers.lane, [...lanes]));
    return this.db.sql
      .select()
      .from(sandboxTriggers)
      .where(
        and(eq(sandboxTriggers.status, 'queued'), notInArray(sandboxTriggers.tenant, [...tenants]), free),
      )
      .orderBy(asc(sandboxTriggers.id))
      .limit(1)
      .get();
  }

  /** Changes a run if it has this status. Returns whether it had. */
  change(tenant: string, id: number, from: RunRow['status'], change: Partial<RunRow>): boolean {
    const where = and(
      eq(sandboxTriggers.tenant, tenant),
      eq(sandboxTriggers.id, id),
      eq(sandboxTriggers.status, from),
    );
    return this.db.sql
      .update(sandboxTriggers)
      .set(change)
      .where(where)
      .returning({ id: sandboxTriggers.id })
      .all()
      .some(Boolean);
  }

  /** Writes how a run ended; of its body the head stays. */
  end(tenant: string, id: number, change: Partial<RunRow>): boolean {
    const body = sql`substr(${sandboxTriggers.body}, 1, ${KEPT_BODY})` as unknown as Buffer;
    return this.change(tenant, id, 'running', { ...change, body });
  }

  /** Takes back what waits of a trigger that is no more. */
  dropWaiting(tenant: string, type: RunRow['type'], triggerId: number): void {
    const waiting = and(of(tenant, type, triggerId), eq(sandboxTriggers.status, 'queued'));
    this.db.sql.delete(sandboxTriggers).where(waiting).run();
  }

  /** Runs of all tenants that had begun when this was last written. */
  running(): RunRow[] {
    return this.db.sql.select().from(sandboxTriggers).where(eq(sandboxTriggers.status, 'running')).all();
  }

  /** The crons and webhooks of all tenants that have runs, also those that are no more. */
  triggers(): Array<Pick<RunRow, 'tenant' | 'type' | 'triggerId'>> {
    const { tenant, type, triggerId } = sandboxTriggers;
    return this.db.sql.selectDistinct({ tenant, type, triggerId }).from(sandboxTriggers).all();
  }

  /**
   * Forgets the runs of one trigger behind its latest `kept` that are older than `young`, a batch at a time.
   * What is open stays. Returns whether there may be more.
   */
  pruneOf(tenant: string, type: RunRow['type'], triggerId: number, young: number, kept: number): boolean {
    const newest = this.db.sql
      .select({ id: sandboxTriggers.id })
      .from(sandboxTriggers)
      .where(of(tenant, type, triggerId))
      .orderBy(desc(sandboxTriggers.id))
      .limit(1)
      .offset(kept)
      .get();
    if (!newest) return false;
    return this.forget(and(of(tenant, type, triggerId), lte(sandboxTriggers.id, newest.id)), young);
  }

  /** Forgets runs of all tenants from before a time, a batch at a time. Returns whether there may be more. */
  pruneOld(before: number): boolean {
    return this.forget(undefined, before);
  }

  private forget(which: SQL | undefined, before: number): boolean {
    const isEnded = notInArray(sandboxTriggers.status, ['queued', 'running']);
    const gone = this.db.sql
      .select({ id: sandboxTriggers.id })
      .from(sandboxTriggers)
      .where(and(which, lt(sandboxTriggers.createdAt, before), isEnded))
      .limit(PRUNE_BATCH);
    const forgotten = this.db.sql.delete(sandboxTriggers).where(inArray(sandboxTriggers.id, gone));
    return forgotten.returning({ id: sandboxTriggers.id }).all().length === PRUNE_BATCH;
  }
}

function of(tenant: string, type: RunRow['type'], triggerId: number) {
  return and(
    eq(sandboxTriggers.tenant, tenant),
    eq(sandboxTriggers.type, type),
    eq(sandboxTriggers.triggerId, triggerId),
  );
}
