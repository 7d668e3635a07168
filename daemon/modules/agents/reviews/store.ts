import { and, asc, count, desc, eq, gt, inArray, lt, lte, min, sql } from 'drizzle-orm';
import type { Page } from '../../../../src/kit/page.ts';
import type { Database } from '../../../db/open.ts';
import { agentReviews, type ReviewRow } from './tables.ts';

/** Which reviews are meant. */
export interface ReviewFilter extends Page {
  readonly sessionId?: string;
  readonly status?: ReviewRow['status'];
}

/** How a review ends. */
export type ReviewEnd = Pick<ReviewRow, 'status' | 'resolvedBy'> &
  Partial<Pick<ReviewRow, 'decisions' | 'reviewer' | 'resolutionReason'>> & { readonly resolvedAt: number };

/** The words are those of the index: SQLite sees only by them that it fits. */
const QUEUE = [
  sql`(${agentReviews.status} <> 'pending')`,
  sql`(CASE ${agentReviews.status} WHEN 'pending' THEN ${agentReviews.expiresAt} ELSE -${agentReviews.requestedAt} END)`,
];
const PENDING = sql`${agentReviews.status} = 'pending'`;

/** Reads and writes reviews. Each is settled by one UPDATE that holds only while it is pending. */
export class ReviewStore {
  constructor(private readonly db: Database) {}

  insert(row: ReviewRow): void {
    this.db.sql.insert(agentReviews).values(row).run();
  }

  find(tenant: string, id: string): ReviewRow | undefined {
    return this.db.sql.select().from(agentReviews).where(the(tenant, id)).get();
  }

  /** A page: pending ones first, soonest to expire at the head, then the others, newest first; and how many there are. */
  list(
    tenant: string,
    { sessionId, status, limit, offset }: ReviewFilter,
  ): { rows: ReviewRow[]; total: number } {
    const where = and(
      eq(agentReviews.tenant, tenant),
      sessionId ? eq(agentReviews.sessionId, sessionId) : undefined,
      status ? eq(agentReviews.status, status) : undefined,
    );
    const rows = this.db.sql
      .select()
      .from(agentReviews)
      .where(where)
      .orderBy(...QUEUE, status === 'pending' ? asc(agentReviews.id) : desc(agentReviews.id))
      .limit(limit)
      .offset(offset)
      .all();
    const total = this.db.sql.select({ total: count() }).from(agentReviews).where(where).get()?.total ?? 0;
    return { rows, total };
  }

  /** Ends one that is pending and whose time is not over; answers nothing, and changes nothing, when it is not so. */
  decide(tenant: string, id: string, end: ReviewEnd): ReviewRow[] {
    return this.end(end, and(the(tenant, id), PENDING, gt(agentReviews.expiresAt, end.resolvedAt)));
  }

  /** Ends one that is pending and whose time is over; answers nothing, and changes nothing, when it is not so. */
  expire(tenant: string, id: string, end: ReviewEnd): ReviewRow[] {
    return this.end(end, and(the(tenant, id), PENDING, lte(agentReviews.expiresAt, end.resolvedAt)));
  }

  /** Ends those of a session that are pending. */
  cancel(tenant: string, sessionId: string, end: ReviewEnd): void {
    const its = and(eq(agentReviews.tenant, tenant), eq(agentReviews.sessionId, sessionId));
    this.end(end, and(its, PENDING));
  }

  /** Those of all tenants whose time is over, oldest first. For the timer. */
  due(now: number, limit: number): ReviewRow[] {
    return this.db.sql
      .select()
      .from(agentReviews)
      .where(and(PENDING, lte(agentReviews.expiresAt, now)))
      .orderBy(asc(agentReviews.expiresAt))
      .limit(limit)
      .all();
  }

  /** When the next one of all tenants expires; undefined when none is pending. For the timer. */
  nextDue(): number | undefined {
    const next = this.db.sql
      .select({ at: min(agentReviews.expiresAt) })
      .from(agentReviews)
      .where(PENDING)
      .get();
    return next?.at ?? undefined;
  }

  /** Forgets some of those that were settled before a time, of all tenants. Answers how many. */
  prune(before: number, most: number): number {
    const old = this.db.sql
      .select({ id: agentReviews.id })
      .from(agentReviews)
      .where(lt(agentReviews.resolvedAt, before))
      .limit(most);
    const gone = this.db.sql
      .delete(agentReviews)
      .where(inArray(agentReviews.id, old))
      .returning({ one: sql`1` })
      .all();
    return gone.length;
  }

  private end(end: ReviewEnd, where: ReturnType<typeof and>): ReviewRow[] {
    return this.db.sql.update(agentReviews).set(end).where(where).returning().all();
  }
}

function the(tenant: string, id: string) {
  return and(eq(agentReviews.tenant, tenant), eq(agentReviews.id, id));
}
