import { and, count, desc, eq } from 'drizzle-orm';
import type { Clock } from '../../../../src/kit/time.ts';
import type { Bus } from '../../../bus/bus.ts';
import type { Database } from '../../../db/open.ts';
import { type SandboxEventRow, sandboxEvents } from '../tables.ts';

/** What happened, besides to whom. */
export interface NewEvent {
  /** `created`, `running`, `stopping`, `stopped`, `revived`, `terminated`, `failed`, `renewed`, `adopted`, `command.finished`. */
  readonly type: string;
  readonly message: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly durationMs?: number;
  readonly error?: string;
}

/** The history of sandboxes: each event is a row before anybody hears of it. */
export class SandboxEvents {
  constructor(
    private readonly db: Database,
    private readonly clock: Clock,
    private readonly bus: Bus,
  ) {}

  /** Applies a change and records its event in one transaction; publishes the event after it. Returns the change's result. */
  record<T>(tenant: string, sandboxId: string, event: NewEvent, change?: () => T): T | undefined {
    const { result, id } = this.db.transaction(() => ({
      result: change?.(),
      id: this.insert(tenant, sandboxId, event),
    }));
    this.bus.publish('sandbox.event', {
      tenant,
      sandboxId,
      eventId: id,
      type: event.type,
      message: event.message,
    });
    return result;
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
    return this.db.sql.insert(sandboxEvents).values(row).returning({ id: sandboxEvents.id }).get().id;
  }
}
