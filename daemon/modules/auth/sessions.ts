import type { Role } from '../../../src/api/endpoint.ts';
import { newId, newSecret } from '../../../src/kit/id.ts';
import type { App } from '../../app.ts';
import type { Caller } from '../../http/route.ts';
import { hashSecret } from './secret-hash.ts';
import type { LiveSession, SessionStore } from './session-store.ts';
import type { SessionRow } from './tables.ts';

/** Who is signed in, and in which way. */
export interface NewSession {
  readonly tenant: string;
  /** The person; absent for the operator, who has `role` instead. */
  readonly userId?: string;
  readonly role?: Role;
  /** How it came about, for the audit log: `password`, `magic_link`, `launch`, `invitation`, `exchange`, `oidc`. */
  readonly by: string;
  readonly tokens?: ProviderTokens;
  /** The token of the session that the browser had until now; it ends. */
  readonly earlier?: string;
}

/** What an identity provider gave. */
export interface ProviderTokens {
  readonly provider: string;
  readonly accessToken: string;
  readonly refreshToken?: string;
  /** Milliseconds since 1970. */
  readonly accessExpiresAt: number;
  /** When the session ends, in milliseconds since 1970. */
  readonly endsAt: number;
}

/** A session that was opened. The token is seen here only. */
export interface SignedIn {
  readonly token: string;
  readonly tenant: string;
  readonly userId?: string;
  /** Of the operator. */
  readonly role?: Role;
  readonly expiresAt: number;
}

/** Sessions of browsers: a token of 256 random bits, kept as its hash, new at each sign-in. */
export class Sessions {
  constructor(
    private readonly app: App,
    private readonly store: SessionStore,
  ) {}

  /** Opens a session, in the transaction of the sign-in when there is one. */
  open({ tenant, userId, role, by, tokens, earlier }: NewSession): SignedIn {
    const token = newSecret();
    const createdAt = this.app.clock.now();
    const id = newId('web', createdAt);
    const expiresAt = tokens?.endsAt ?? createdAt + this.app.config.get('auth.session_ttl');
    const row: SessionRow = {
      id,
      tokenHash: hashSecret(token),
      tenant,
      userId: userId ?? null,
      role: userId ? null : (role ?? null),
      ...this.seal(tenant, id, tokens),
      createdAt,
      expiresAt,
    };
    this.app.db.transaction(() => {
      if (earlier) this.close(earlier);
      this.store.insert(row);
      this.record(row, 'session.create', { by });
    });
    return { token, tenant, userId, role: row.role ?? undefined, expiresAt };
  }

  /** The live session of a token, with the role that it has now. */
  find(token: string): LiveSession | undefined {
    const found = this.store.live(hashSecret(token), this.app.clock.now());
    return found && (found.memberRole ?? found.session.role) ? found : undefined;
  }

  /** The caller that a session token stands for. */
  callerOf(token: string): Caller | undefined {
    const found = this.find(token);
    const role = found?.memberRole ?? found?.session.role;
    if (!found || !role) return undefined;
    const { tenant, userId } = found.session;
    const person = userId === null ? {} : { userId };
    return { tenant, role, actor: userId ?? 'operator', ...person, via: 'cookie' };
  }

  /** Ends a session; does nothing when there is none. */
  close(token: string): void {
    const session = this.store.live(hashSecret(token), this.app.clock.now())?.session;
    if (session) this.end(session);
  }

  /** Ends a session that was found. */
  end(session: SessionRow): void {
    this.app.db.transaction(() => {
      this.store.delete(session.tenant, session.id);
      this.record(session, 'session.end');
    });
  }

  /** Prolongs a session under a new token; the old token ends. Its provider's tokens are replaced when some are given. */
  rotate(session: SessionRow, tokens?: ProviderTokens): SignedIn {
    const token = newSecret();
    const { id, tenant, userId, role } = session;
    const expiresAt = tokens?.endsAt ?? this.app.clock.now() + this.app.config.get('auth.session_ttl');
    const sealed = tokens ? this.seal(tenant, id, tokens) : {};
    this.app.db.transaction(() => {
      this.store.update(tenant, id, { tokenHash: hashSecret(token), expiresAt, ...sealed });
      this.record(session, 'session.refresh');
    });
    return { token, tenant, userId: userId ?? undefined, role: role ?? undefined, expiresAt };
  }

  /** A provider's refresh token of a session, in plain; undefined when it has none. */
  refreshTokenOf({ tenant, id, refreshToken }: SessionRow): string | undefined {
    return refreshToken === null ? undefined : this.app.secrets.open(tenant, refreshAad(id), refreshToken);
  }

  private seal(tenant: string, id: string, tokens: ProviderTokens | undefined) {
    if (!tokens) return { provider: null, accessToken: null, refreshToken: null, accessExpiresAt: null };
    const { provider, accessToken, refreshToken, accessExpiresAt } = tokens;
    return {
      provider,
      accessToken: this.app.secrets.seal(tenant, id, accessToken),
      refreshToken: refreshToken ? this.app.secrets.seal(tenant, refreshAad(id), refreshToken) : null,
      accessExpiresAt,
    };
  }

  private record(
    { tenant, userId, id }: SessionRow,
    action: string,
    details?: Record<string, unknown>,
  ): void {
    this.app.audit.record({ tenant, actor: userId ?? 'operator', action, target: id, details });
  }
}

/** Binds the two sealed tokens of one row to their own columns. */
function refreshAad(id: string): string {
  return `${id}/refresh`;
}
