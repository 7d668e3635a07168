import { and, asc, count, desc, eq, lte, ne, notInArray, sql } from 'drizzle-orm';
import type { Database } from '../../../db/open.ts';
import { type DeliveryRow, type EndpointRow, webhookDeliveries, webhookEndpoints } from './tables.ts';

/** The latest deliveries that are kept of each endpoint (spec, Limits), besides those that are on their way. */
export const KEPT_DELIVERIES = 100;

/** Most deliveries of one endpoint that wait; further ones are written down as failed. */
export const MOST_WAITING = 20_000;

/** Reads and writes endpoints and deliveries. */
export class LifecycleWebhookStore {
  constructor(private readonly db: Database) {}

  insertEndpoint(row: EndpointRow): void {
    this.db.sql.insert(webhookEndpoints).values(row).run();
  }

  findEndpoint(tenant: string, id: string): EndpointRow | undefined {
    const mine = and(eq(webhookEndpoints.tenant, tenant), eq(webhookEndpoints.id, id));
    return this.db.sql.select().from(webhookEndpoints).where(mine).get();
  }

  listEndpoints(tenant: string): EndpointRow[] {
    return this.db.sql
      .select()
      .from(webhookEndpoints)
      .where(eq(webhookEndpoints.tenant, tenant))
      .orderBy(asc(webhookEndpoints.createdAt), asc(webhookEndpoints.id))
      .all();
  }

  /** Removes an endpoint with its deliveries. Returns whether it was there. */
  deleteEndpoint(tenant: string, id: string): boolean {
    const mine = and(eq(webhookEndpoints.tenant, tenant), eq(webhookEndpoints.id, id));
    return this.db.sql.delete(webhookEndpoints).where(mine).returning().all().length > 0;
  }

  insert(row: Omit<DeliveryRow, 'seq'>): DeliveryRow {
    return this.db.sql.insert(webhookDeliveries).values(row).returning().get();
  }

  find(tenant: string, endpointId: string, id: string): DeliveryRow | undefined {
    const mine = and(eq(webhookDeliveries.id, id), of(tenant, endpointId));
    return this.db.sql.select().from(webhookDeliveries).where(mine).get();
  }

  /** The latest deliveries of an endpoint, newest first. */
  list(tenant: string, endpointId: string): DeliveryRow[] {
    return this.db.sql
      .select()
      .from(webhookDeliveries)
      .where(of(tenant, endpointId))
      .orderBy(desc(webhookDeliveries.seq))
      .limit(KEPT_DELIVERIES)
      .all();
  }

  /** How many deliveries of an endpoint wait; no more than `most` are counted. */
  countWaiting(endpointId: string, most = MOST_WAITING): number {
    const some = this.db.sql
      .select({ one: sql`1` })
      .from(webhookDeliveries)
      .where(and(eq(webhookDeliveries.status, 'pending'), eq(webhookDeliveries.endpointId, endpointId)))
      .limit(most)
      .as('some');
    return this.db.sql.select({ total: count() }).from(some).get()?.total ?? 0;
  }

  /** Due deliveries of one endpoint, in order, without those that are being sent. */
  due(endpointId: string, now: number, sending: readonly string[], most: number): DeliveryRow[] {
    return this.db.sql
      .select()
      .from(webhookDeliveries)
      .where(
        and(
          eq(webhookDeliveries.status, 'pending'),
          eq(webhookDeliveries.endpointId, endpointId),
          lte(webhookDeliveries.nextAttemptAt, now),
          notInArray(webhookDeliveries.id, [...sending]),
        ),
      )
      .orderBy(asc(webhookDeliveries.nextAttemptAt), asc(webhookDeliveries.seq))
      .limit(most)
      .all();
  }

  /** Endpoints of all tenants for which something is due. */
  endpointsDue(now: number): string[] {
    return this.db.sql
      .selectDistinct({ id: webhookDeliveries.endpointId })
      .from(webhookDeliveries)
      .where(and(eq(webhookDeliveries.status, 'pending'), lte(webhookDeliveries.nextAttemptAt, now)))
      .all()
      .map(({ id }) => id);
  }

  /** When the next delivery after `now` is due. */
  nextDue(now: number): number | undefined {
    const row = this.db.sql
      .select({ at: webhookDeliveries.nextAttemptAt })
      .from(webhookDeliveries)
      .where(and(eq(webhookDeliveries.status, 'pending'), sql`${webhookDeliveries.nextAttemptAt} > ${now}`))
      .orderBy(asc(webhookDeliveries.nextAttemptAt))
      .limit(1)
      .get();
    return row?.at;
  }

  /** Changes a delivery if it has this status. Returns whether it had. */
  change(tenant: string, id: string, from: DeliveryRow['status'], change: Partial<DeliveryRow>): boolean {
    const mine = and(
      eq(webhookDeliveries.tenant, tenant),
      eq(webhookDeliveries.id, id),
      eq(webhookDeliveries.status, from),
    );
    const done = this.db.sql.update(webhookDeliveries).set(change).where(mine);
    return done.returning({ id: webhookDeliveries.id }).all().length > 0;
  }

  /** Forgets all but the latest deliveries of an endpoint; what is on its way stays. */
  prune(tenant: string, endpointId: string): void {
    const oldest = this.db.sql
      .select({ seq: webhookDeliveries.seq })
      .from(webhookDeliveries)
      .where(of(tenant, endpointId))
      .orderBy(desc(webhookDeliveries.seq))
      .limit(1)
      .offset(KEPT_DELIVERIES);
    this.db.sql
      .delete(webhookDeliveries)
      .where(
        and(
          of(tenant, endpointId),
          ne(webhookDeliveries.status, 'pending'),
          lte(webhookDeliveries.seq, sql`(${oldest})`),
        ),
      )
      .run();
  }
}

function of(tenant: string, endpointId: string) {
  return and(eq(webhookDeliveries.tenant, tenant), eq(webhookDeliveries.endpointId, endpointId));
}
