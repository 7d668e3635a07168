import { and, asc, count, desc, eq, inArray, isNotNull, lt, ne, or, type SQL, sql } from 'drizzle-orm';
import type { Database } from '../../../db/open.ts';
import { type Sandbox, sandboxes } from '../tables.ts';
import type { State } from './states.ts';

/** Which sandboxes a list is asked for. */
export interface Filter {
  readonly states: readonly State[];
  readonly labels: Readonly<Record<string, string>>;
  readonly limit: number;
  readonly offset: number;
}

/** Reads and writes sandboxes. */
export class SandboxStore {
  private readonly byId;
  private readonly byName;
  private readonly bySession;
  private readonly holder;
  private readonly inState;
  private readonly active;

  constructor(private readonly db: Database) {
    const { id, tenant, name, sessionId, state, createdAt } = sandboxes;
    const wanted = sql.placeholder('wanted');
    const living = ne(state, 'terminated');
    const first = (condition: SQL | undefined) => {
      const mine = and(eq(tenant, sql.placeholder('tenant')), condition);
      return db.sql.select().from(sandboxes).where(mine).orderBy(desc(createdAt)).limit(1).prepare();
    };
    this.byId = first(eq(id, wanted));
    this.byName = first(and(eq(name, wanted), ne(name, ''), living));
    this.bySession = first(eq(sessionId, wanted));
    const holder = and(eq(tenant, sql.placeholder('tenant')), eq(name, wanted), living, ne(state, 'failed'));
    this.holder = db.sql.select({ id }).from(sandboxes).where(holder).prepare();
    this.inState = db.sql.select().from(sandboxes).where(eq(state, wanted)).prepare();
    const uses = inArray(state, ['pending', 'creating', 'running', 'stopping', 'reviving']);
    this.active = db.sql.select({ total: count() }).from(sandboxes).where(uses).prepare();
  }

  insert(row: Sandbox): void {
    this.db.sql.insert(sandboxes).values(row).run();
  }

  /** A sandbox by id, else by name among those that are not gone, else by session. */
  find(tenant: string, wanted: string): Sandbox | undefined {
    return (
      this.byId.get({ tenant, wanted }) ??
      this.byName.get({ tenant, wanted }) ??
      this.bySession.get({ tenant, wanted })
    );
  }

  /** The sandbox that a request with this idempotency key has made. */
  findByKey(tenant: string, key: string): Sandbox | undefined {
    return this.db.sql
      .select()
      .from(sandboxes)
      .where(and(eq(sandboxes.tenant, tenant), eq(sandboxes.idempotencyKey, key)))
      .get();
  }

  /** Takes a key from a sandbox that is gone or failed, so that another one can be made under it. */
  releaseKey(tenant: string, key: string): void {
    const isOver = inArray(sandboxes.state, ['terminating', 'terminated', 'failed']);
    this.db.sql
      .update(sandboxes)
      .set({ idempotencyKey: null })
      .where(and(eq(sandboxes.tenant, tenant), eq(sandboxes.idempotencyKey, key), isOver))
      .run();
  }

  /** Whether a living sandbox of the tenant has this name. */
  hasName(tenant: string, name: string): boolean {
    return name !== '' && this.holder.get({ tenant, wanted: name }) !== undefined;
  }

  list(tenant: string, filter: Filter): { rows: Sandbox[]; total: number } {
    const labels = Object.entries(filter.labels).map(
      ([name, value]) =>
        sql`json_extract(${sandboxes.labels}, ${`$."${name.replaceAll('"', '')}"`}) = ${value}`,
    );
    const where = and(
      eq(sandboxes.tenant, tenant),
      ne(sandboxes.state, 'terminated'),
      inArray(sandboxes.state, [...filter.states]),
      ...labels,
    );
    const rows = this.db.sql
      .select()
      .from(sandboxes)
      .where(where)
      .orderBy(desc(sandboxes.createdAt), desc(sandboxes.id))
      .limit(filter.limit)
      .offset(filter.offset)
      .all();
    const total = this.db.sql.select({ total: count() }).from(sandboxes).where(where).get()?.total ?? 0;
    return { rows, total };
  }

  /** Changes a sandbox if it is in one of the states. Returns whether it was. */
  change(tenant: string, id: string, from: readonly State[], change: Partial<Sandbox>): boolean {
    const rows = this.db.sql
      .update(sandboxes)
      .set(change)
      .where(and(eq(sandboxes.tenant, tenant), eq(sandboxes.id, id), inArray(sandboxes.state, [...from])))
      .returning({ id: sandboxes.id })
      .all();
    return rows.length > 0;
  }

  /** All sandboxes of the instance that are not gone, for reconciling. */
  living(): Sandbox[] {
    return this.db.sql.select().from(sandboxes).where(ne(sandboxes.state, 'terminated')).all();
  }

  /** All sandboxes of the instance that run, of every tenant. */
  running(): Sandbox[] {
    return this.inState.all({ wanted: 'running' });
  }

  /** How many sandboxes of the instance use resources now. */
  countActive(): number {
    return this.active.get()?.total ?? 0;
  }

  /** Counts by state, over all tenants. */
  countByState(): Array<{ state: State; total: number }> {
    return this.db.sql
      .select({ state: sandboxes.state, total: count() })
      .from(sandboxes)
      .groupBy(sandboxes.state)
      .all();
  }

  /** Running sandboxes whose time is over, and those asleep that are due to be deleted or archived. */
  due(now: number): Sandbox[] {
    const expired = and(eq(sandboxes.state, 'running'), lt(sandboxes.expiresAt, now + 1));
    const deletable = and(
      inArray(sandboxes.state, ['sleeping', 'archived']),
      lt(sandboxes.deleteAt, now + 1),
    );
    const archivable = and(eq(sandboxes.state, 'sleeping'), lt(sandboxes.archiveAt, now + 1));
    return this.db.sql
      .select()
      .from(sandboxes)
      .where(or(expired, deletable, archivable))
      .all();
  }

  /** The next time at which one becomes due. */
  nextDue(): number | undefined {
    const expiry = this.db.sql
      .select({ at: sandboxes.expiresAt })
      .from(sandboxes)
      .where(and(eq(sandboxes.state, 'running'), isNotNull(sandboxes.expiresAt)))
      .orderBy(asc(sandboxes.expiresAt))
      .limit(1)
      .get();
    const deletion = this.db.sql
      .select({ at: sandboxes.deleteAt })
      .from(sandboxes)
      .where(and(inArray(sandboxes.state, ['sleeping', 'archived']), isNotNull(sandboxes.deleteAt)))
      .orderBy(asc(sandboxes.deleteAt))
      .limit(1)
      .get();
    const archiving = this.db.sql
      .select({ at: sandboxes.archiveAt })
      .from(sandboxes)
      .where(and(eq(sandboxes.state, 'sleeping'), isNotNull(sandboxes.archiveAt)))
      .orderBy(asc(sandboxes.archiveAt))
      .limit(1)
      .get();
    const times = [expiry?.at, deletion?.at, archiving?.at].filter((at) => typeof at === 'number');
    return times.length > 0 ? Math.min(...times) : undefined;
  }

  /** Running sandboxes that sleep when nobody uses them. */
  idlers(): Sandbox[] {
    const idles = sql`json_extract(${sandboxes.config}, '$.idleMs') > 0`;
    return this.db.sql
      .select()
      .from(sandboxes)
      .where(and(eq(sandboxes.state, 'running'), idles))
      .all();
  }

  /** Forgets sandboxes that ended before a time, with their events and executions. Returns their ids. */
  prune(before: number): string[] {
    const gone = and(inArray(sandboxes.state, ['terminated']), lt(sandboxes.updatedAt, before));
    return this.db.sql
      .delete(sandboxes)
      .where(gone)
      .returning({ id: sandboxes.id })
      .all()
      .map(({ id }) => id);
  }
}
