import { and, asc, count, desc, eq, gt, inArray, lt, max, type SQL, sql } from 'drizzle-orm';
import { fail } from '../../../../src/errors/app-error.ts';
import type { Clock } from '../../../../src/kit/time.ts';
import type { Bus } from '../../../bus/bus.ts';
import type { Database } from '../../../db/open.ts';
import { placeholders } from '../../../db/placeholders.ts';
import { type SandboxEventRow, sandboxEvents } from '../tables.ts';

/** What happened, besides to whom. */
export interface NewEvent {
  /** `created`, `running`, `stopping`, `stopped`, `revived`, `terminated`, `failed`, `renewed`, `adopted`, `network.changed`, `command.finished`. */
  readonly type: string;
  readonly message: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly durationMs?: number;
  readonly error?: string;
}

/** An event while it is being recorded, `at` in milliseconds. */
export interface Recording {
  readonly tenant: string;
  readonly sandboxId: string;
  readonly event: NewEvent;
  readonly at: number;
}

/** Writes something together with events. */
export type Witness = (recording: Recording) => void;

/** Most events that one read of a stream takes. */
const PAGE = 200;

/** The history of sandboxes: each event is a row before anybody hears of it. */
export class SandboxEvents {
  private readonly witnesses: Witness[] = [];
  private readonly add;
  private readonly one;
  private readonly laterOfOne;
  private readonly laterOfAll;

  constructor(
    private readonly db: Database,
    private readonly clock: Clock,
    private readonly bus: Bus,
  ) {
    const { id, tenant, sandboxId } = sandboxEvents;
    const { id: _, ...row } = placeholders(sandboxEvents);
    const mine = eq(tenant, sql.placeholder('tenant'));
    const read = (...conditions: SQL[]) =>
      db.sql
        .select()
        .from(sandboxEvents)
        .where(and(mine, ...conditions))
        .orderBy(asc(id))
        .limit(PAGE)
        .prepare();
    const after = gt(id, sql.placeholder('after'));
    this.add = db.sql.insert(sandboxEvents).values(row).returning({ id }).prepare();
    this.one = read(eq(id, sql.placeholder('id')));
    this.laterOfOne = read(after, eq(sandboxId, sql.placeholder('sandboxId')));
    this.laterOfAll = read(after);
  }

  /**
   * Calls a witness inside the transaction of every event, after its change: what it writes is kept or lost
   * with them. It must be quick and only write; when it throws, all of it is undone.
   */
  witness(witness: Witness): void {
    this.witnesses.push(witness);
  }

  /**
   * Applies a change and records its event in one transaction; publishes the event after it. Returns the change's
   * result. A change that answers false has not been made, and nothing is recorded.
   */
  record<T>(tenant: string, sandboxId: string, event: NewEvent, change?: () => T): T | undefined {
    const { result, id } = this.db.transaction(() => {
      const result = change?.();
      if (result === false) return { result };
      const id = this.insert(tenant, sandboxId, event);
      for (const witness of this.witnesses) witness({ tenant, sandboxId, event, at: this.clock.now() });
      return { result, id };
    });
    if (id !== undefined) this.publish(tenant, sandboxId, id, event);
    return result;
  }

  private publish(tenant: string, sandboxId: string, eventId: number, { type, message }: NewEvent): void {
    this.bus.publish('sandbox.event', { tenant, sandboxId, eventId, type, message });
  }

  list(
    tenant: string,
    sandboxId: string,
    type: string | undefined,
    limit: number,
    offset: number,
  ): { rows: SandboxEventRow[]; total: number } {
    const where = and(
      eq(sandboxEvents.tenant, tenant),
      eq(sandboxEvents.sandboxId, sandboxId),
      type ? eq(sandboxEvents.type, type) : undefined,
    );
    const rows = this.db.sql
      .select()
      .from(sandboxEvents)
      .where(where)
      .orderBy(desc(sandboxEvents.id))
      .limit(limit)
      .offset(offset)
      .all();
    const total = this.db.sql.select({ total: count() }).from(sandboxEvents).where(where).get()?.total ?? 0;
    return { rows, total };
  }

  /** An event by its id. */
  find(tenant: string, id: number): SandboxEventRow | undefined {
    return this.one.get({ tenant, id });
  }

  /** The next events after one, oldest first, of one sandbox or of all of the tenant: a page at most. */
  after(tenant: string, sandboxId: string | undefined, after: number): SandboxEventRow[] {
    return sandboxId === undefined
      ? this.laterOfAll.all({ tenant, after })
      : this.laterOfOne.all({ tenant, after, sandboxId });
  }

  /** The newest event of a sandbox that has one of the types and is older than `before`, when one is given. */
  lastOf(
    tenant: string,
    sandboxId: string,
    types: readonly string[],
    before?: number,
  ): SandboxEventRow | undefined {
    const { id, tenant: owner, sandboxId: of, type } = sandboxEvents;
    const older = before === undefined ? undefined : lt(id, before);
    const wanted = and(eq(owner, tenant), eq(of, sandboxId), inArray(type, [...types]), older);
    return this.db.sql.select().from(sandboxEvents).where(wanted).orderBy(desc(id)).limit(1).get();
  }

  /** Id of the newest event of the instance; 0 before the first. */
  newest(): number {
    const row = this.db.sql
      .select({ id: max(sandboxEvents.id) })
      .from(sandboxEvents)
      .get();
    return row?.id ?? 0;
  }

  /** Forgets events from before a time, and all but the latest `kept` of each sandbox; a batch at a time. */
  prune(before: number, kept: number): void {
    this.db.raw
      .query(
        `DELETE FROM sandbox_events WHERE id IN (
           SELECT id FROM (SELECT id, created_at, row_number() OVER (PARTITION BY sandbox_id ORDER BY id DESC) AS age FROM sandbox_events)
           WHERE age > ? OR created_at < ? LIMIT 1000)`,
      )
      .run(kept, before);
  }

  private insert(tenant: string, sandboxId: string, event: NewEvent): number {
    const { type, message, metadata = {}, durationMs = null, error = null } = event;
    const row = {
      tenant,
      sandboxId,
      type,
      message,
      metadata,
      durationMs: durationMs === null ? null : Math.round(durationMs),
      error,
      createdAt: this.clock.now(),
    };
    const added = this.add.get(row);
    if (!added) throw fail('internal');
    return added.id;
  }
}
