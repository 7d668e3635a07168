import { hkdfSync } from 'node:crypto';
import type { JWTPayload } from 'jose';
import { ROLES, type Role } from '../../../src/api/endpoint.ts';
import { fail } from '../../../src/errors/app-error.ts';
import { SECOND_MS } from '../../../src/kit/time.ts';
import type { App } from '../../app.ts';
import type { Visit } from './accounts.ts';
import { readEmail, readName } from './inputs.ts';
import type { KeySnapshot } from './key-snapshot.ts';
import type { People } from './people.ts';
import { hashSecret } from './secret-hash.ts';
import type { SessionStore } from './session-store.ts';
import type { Sessions, SignedIn } from './sessions.ts';
import type { UserRow } from './tables.ts';
import type { UserStore } from './user-store.ts';

/** Longest life of an exchange token (spec, Managed-instance exchange). */
const MAX_LIFE_S = 60;
/** How far the control plane's clock may be ahead. */
const SKEW_S = 5;
const KEY_BYTES = 32;
/** What the derived key is for (RFC 5869, info). */
const KEY_INFO = 'svc managed-instance exchange v1';

/** What a control plane says about the person it sends. */
interface Claims {
  readonly subject: string;
  readonly email: string;
  readonly name: string;
  readonly org: string;
  readonly role: Role;
  readonly jti: string;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

/** What the exchange works on. */
export interface ExchangeParts {
  readonly users: UserStore;
  readonly people: People;
  readonly sessionStore: SessionStore;
  readonly sessions: Sessions;
  readonly snapshot: KeySnapshot;
}

/** The key that exchange tokens are signed with: HKDF-SHA256 of auth.exchange_secret, without salt. */
export function exchangeKey(secret: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', secret, '', KEY_INFO, KEY_BYTES));
}

/**
 * Signs people in who come from the control plane that manages this instance: a JWT (HS256, at most 60 s,
 * used once) becomes a local person and a session.
 */
export class Exchange {
  constructor(
    private readonly app: App,
    private readonly tenant: string,
    private readonly parts: ExchangeParts,
  ) {}

  /** Errors: not_configured, bad_link (wrong, expired, used, for another instance or organization). */
  async signIn(token: string, visit: Visit): Promise<SignedIn> {
    const claims = await this.verify(token);
    const signedIn = this.app.db.transaction(() => {
      this.spend(claims);
      this.bindOrganization(claims.org);
      const user = this.person(claims);
      this.place(user, claims.role);
      return this.parts.sessions.open({
        tenant: this.tenant,
        userId: user.id,
        by: 'exchange',
        earlier: visit.earlier,
      });
    });
    if (signedIn.userId) this.parts.snapshot.refreshUser(this.tenant, signedIn.userId);
    return signedIn;
  }

  private async verify(token: string): Promise<Claims> {
    const secret = this.app.config.get('auth.exchange_secret');
    const audience = this.app.config.get('auth.instance_id');
    if (!secret || !audience)
      throw fail('not_configured', { message: 'auth.instance_id and auth.exchange_secret are not set.' });
    const { jwtVerify } = await import('jose');
    const now = this.app.clock.now();
    const verified = await jwtVerify(token, exchangeKey(secret), {
      algorithms: ['HS256'],
      audience,
      currentDate: new Date(now),
      requiredClaims: ['exp', 'iat', 'sub', 'jti', 'email', 'org', 'role'],
    }).catch(() => undefined);
    const claims = verified && readClaims(verified.payload, now / SECOND_MS);
    if (!claims) throw fail('bad_link');
    return claims;
  }

  private spend({ jti, expiresAt }: Claims): void {
    if (!this.parts.sessionStore.spendExchange(hashSecret(jti), expiresAt)) throw fail('bad_link');
  }

  /** The first exchange says which organization of the control plane this is; another one is refused later. */
  private bindOrganization(org: string): void {
    const known = this.parts.users.organization(this.tenant)?.externalId;
    if (known === org) return;
    if (known) throw fail('bad_link');
    this.parts.users.updateOrganization(this.tenant, { externalId: org, updatedAt: this.app.clock.now() });
  }

  private person({ subject, email, name }: Claims): UserRow {
    const { users, people } = this.parts;
    const issuer = `exchange:${this.app.config.get('auth.instance_id')}`;
    const known = users.byIdentity(issuer, subject);
    if (known) return known;
    const user = users.byEmail(email) ?? people.add({ email, name });
    users.addIdentity(issuer, subject, user.id, this.app.clock.now());
    return user;
  }

  /** The control plane decides on the role, but the first owner stays one. */
  private place(user: UserRow, role: Role): void {
    const { users, people } = this.parts;
    const now = this.app.clock.now();
    const isFirstOwner = users.organization(this.tenant)?.ownerId === user.id;
    users.setMember(this.tenant, user.id, isFirstOwner ? 'owner' : role, now);
    if (role === 'owner') people.claim(this.tenant, user.id);
    const details = { role, by: 'exchange' };
    this.app.audit.record({
      tenant: this.tenant,
      actor: user.id,
      action: 'team.join',
      target: user.id,
      details,
    });
  }
}

/** The claims of a verified token; undefined when one is missing or out of its bounds. */
function readClaims(payload: JWTPayload, nowS: number): Claims | undefined {
  const { sub, jti, exp, iat } = payload;
  const [email, org, roleName, name] = ['email', 'org', 'role', 'name'].map((claim) => text(payload[claim]));
  const role = ROLES.find((one) => one === roleName);
  if (!sub || !jti || !exp || !iat || !email || !org || !role) return undefined;
  if (exp - iat > MAX_LIFE_S || iat > nowS + SKEW_S) return undefined;
  const address = readEmail(email);
  const shown = readName(name, address.split('@')[0] ?? address);
  return { subject: sub, jti, email: address, name: shown, org, role, expiresAt: (exp + SKEW_S) * SECOND_MS };
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
