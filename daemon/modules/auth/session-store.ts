import { and, eq, gt, lte } from 'drizzle-orm';
import type { Role } from '../../../src/api/endpoint.ts';
import type { Database } from '../../db/open.ts';
import {
  exchangeTokens,
  type LoginLinkRow,
  loginLinks,
  type OidcAttemptRow,
  oidcAttempts,
  type SessionRow,
  sessions,
} from './tables.ts';

/** A live session with the role that it has now; null when its person is no member any more. */
export interface LiveSession {
  readonly session: SessionRow;
  readonly memberRole: Role | null;
}

const LIVE_BY_HASH = `
  SELECT s.id, s.token_hash AS tokenHash, s.tenant, s.user_id AS userId, s.role, s.provider,
    s.access_token AS accessToken, s.refresh_token AS refreshToken, s.access_expires_at AS accessExpiresAt,
    s.created_at AS createdAt, s.expires_at AS expiresAt, m.role AS memberRole
  FROM sessions s LEFT JOIN memberships m ON m.tenant = s.tenant AND m.user_id = s.user_id
  WHERE s.token_hash = ? AND s.expires_at > ?`;

/** Reads and writes sessions and the one-time tokens that lead to them. They are found by their hash. */
export class SessionStore {
  private readonly liveByHash;

  constructor(private readonly db: Database) {
    this.liveByHash = db.raw.query<SessionRow & { memberRole: Role | null }, [string, number]>(LIVE_BY_HASH);
  }

  /** The session of a token that has not ended; one statement, since every request with a cookie asks. */
  live(hash: string, now: number): LiveSession | undefined {
    const row = this.liveByHash.get(hash, now);
    if (!row) return undefined;
    const { memberRole, ...session } = row;
    return { session, memberRole };
  }

  insert(session: SessionRow): void {
    this.db.sql.insert(sessions).values(session).run();
  }

  update(tenant: string, id: string, change: Partial<SessionRow>): void {
    this.db.sql
      .update(sessions)
      .set(change)
      .where(and(eq(sessions.tenant, tenant), eq(sessions.id, id)))
      .run();
  }

  delete(tenant: string, id: string): void {
    this.db.sql
      .delete(sessions)
      .where(and(eq(sessions.tenant, tenant), eq(sessions.id, id)))
      .run();
  }

  deleteOfUser(tenant: string, userId: string): void {
    this.db.sql
      .delete(sessions)
      .where(and(eq(sessions.tenant, tenant), eq(sessions.userId, userId)))
      .run();
  }

  insertLink(link: LoginLinkRow): void {
    this.db.sql.insert(loginLinks).values(link).run();
  }

  /** Takes a one-time link away and answers it; undefined when there is none that is still good. */
  takeLink(kind: LoginLinkRow['kind'], hash: string, now: number): LoginLinkRow | undefined {
    return this.db.sql
      .delete(loginLinks)
      .where(and(eq(loginLinks.tokenHash, hash), eq(loginLinks.kind, kind), gt(loginLinks.expiresAt, now)))
      .returning()
      .get();
  }

  insertAttempt(attempt: OidcAttemptRow): void {
    this.db.sql.insert(oidcAttempts).values(attempt).run();
  }

  /** Takes a begun sign-in away and answers it; undefined when there is none that is still good. */
  takeAttempt(secretHash: string, now: number): OidcAttemptRow | undefined {
    return this.db.sql
      .delete(oidcAttempts)
      .where(and(eq(oidcAttempts.secretHash, secretHash), gt(oidcAttempts.expiresAt, now)))
      .returning()
      .get();
  }

  /** Marks an exchange token as used; false when it was before. */
  spendExchange(jtiHash: string, expiresAt: number): boolean {
    const added = this.db.sql
      .insert(exchangeTokens)
      .values({ jtiHash, expiresAt })
      .onConflictDoNothing()
      .returning()
      .all();
    return added.length === 1;
  }

  /** Forgets what has expired. Returns how many sessions that were. */
  sweep(now: number): number {
    for (const table of [loginLinks, oidcAttempts, exchangeTokens])
      this.db.sql.delete(table).where(lte(table.expiresAt, now)).run();
    return this.db.sql
      .delete(sessions)
      .where(lte(sessions.expiresAt, now))
      .returning({ id: sessions.id })
      .all().length;
  }
}
