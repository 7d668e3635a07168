import { and, asc, count, eq, gt, isNull, lte } from 'drizzle-orm';
import type { Database } from '../../db/open.ts';
import { type InvitationRow, invitations } from './tables.ts';

/** Reads and writes invitations. */
export class InvitationStore {
  constructor(private readonly db: Database) {}

  insert(invitation: InvitationRow): void {
    this.db.sql.insert(invitations).values(invitation).run();
  }

  /** The invitations of a tenant that can still be accepted, oldest first. */
  pending(tenant: string, now: number): InvitationRow[] {
    return this.db.sql
      .select()
      .from(invitations)
      .where(and(eq(invitations.tenant, tenant), this.isOpen(now)))
      .orderBy(asc(invitations.createdAt))
      .all();
  }

  pendingCount(tenant: string, now: number): number {
    const row = this.db.sql
      .select({ n: count() })
      .from(invitations)
      .where(and(eq(invitations.tenant, tenant), this.isOpen(now)))
      .get();
    return row?.n ?? 0;
  }

  /** The open invitations of an address in every tenant, oldest first: the address proves itself elsewhere. */
  pendingFor(email: string, now: number): InvitationRow[] {
    return this.db.sql
      .select()
      .from(invitations)
      .where(and(eq(invitations.email, email), this.isOpen(now)))
      .orderBy(asc(invitations.createdAt))
      .all();
  }

  /** The open invitation with this token; the token is the proof. */
  pendingByToken(tokenHash: string, now: number): InvitationRow | undefined {
    return this.db.sql
      .select()
      .from(invitations)
      .where(and(eq(invitations.tokenHash, tokenHash), this.isOpen(now)))
      .get();
  }

  accept(tenant: string, id: string, now: number): void {
    this.db.sql
      .update(invitations)
      .set({ acceptedAt: now })
      .where(and(eq(invitations.tenant, tenant), eq(invitations.id, id)))
      .run();
  }

  /** Withdraws an open invitation; undefined when there is none. */
  revoke(tenant: string, id: string): InvitationRow | undefined {
    return this.db.sql
      .delete(invitations)
      .where(and(eq(invitations.tenant, tenant), eq(invitations.id, id), isNull(invitations.acceptedAt)))
      .returning()
      .get();
  }

  /** Forgets invitations that nobody accepted in time. */
  sweep(now: number): void {
    this.db.sql
      .delete(invitations)
      .where(and(isNull(invitations.acceptedAt), lte(invitations.expiresAt, now)))
      .run();
  }

  private isOpen(now: number) {
    return and(isNull(invitations.acceptedAt), gt(invitations.expiresAt, now));
  }
}
