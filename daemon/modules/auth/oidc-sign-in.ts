import { decodeJwt } from 'jose/jwt/decode';
import { AppError, fail, invalid } from '../../../src/errors/app-error.ts';
import { newSecret } from '../../../src/kit/id.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../src/kit/time.ts';
import type { App } from '../../app.ts';
import type { Visit } from './accounts.ts';
import { readEmail, readName, readRequired } from './inputs.ts';
import { requireCloud } from './mode.ts';
import { OidcClient, type TokenAnswer } from './oidc-client.ts';
import { findProvider, type OidcSettings, readProvider } from './oidc-settings.ts';
import { Penalties } from './penalties.ts';
import type { People } from './people.ts';
import { hashSecret } from './secret-hash.ts';
import type { SessionStore } from './session-store.ts';
import type { ProviderTokens, Sessions, SignedIn } from './sessions.ts';
import type { SessionRow, UserRow } from './tables.ts';
import type { Team } from './team.ts';
import type { UserStore } from './user-store.ts';

/** How long a sign-in at the provider may take. */
export const ATTEMPT_MS = 10 * MINUTE_MS;
/** Longest that an access token counts, and that a session goes without word from its provider (spec, Limits). */
const MAX_TOKEN_MS = 24 * HOUR_MS;
/** An access token is refreshed when less than this is left (spec, Limits). */
const REFRESH_WINDOW_MS = 30 * SECOND_MS;
const MAX_STATE = 1_024;

/** A sign-in that has begun. The secret goes into a cookie of the browser that began it. */
export interface BegunSignIn {
  readonly authUrl: string;
  readonly secret: string;
}

/** What the sign-in works on. */
export interface OidcParts {
  readonly users: UserStore;
  readonly people: People;
  readonly sessionStore: SessionStore;
  readonly sessions: Sessions;
  readonly team: Team;
}

/** Sign-in through OpenID Connect: authorization code with PKCE, state and nonce (spec, Hosted flow). */
export class OidcSignIn {
  private readonly clients = new Map<string, { readonly key: string; readonly client: OidcClient }>();
  private readonly refreshing = new Map<string, Promise<SignedIn>>();
  private readonly byPeer: Penalties;

  constructor(
    private readonly app: App,
    private readonly parts: OidcParts,
  ) {
    this.byPeer = new Penalties(app.clock, { free: 100, longestMs: MINUTE_MS });
  }

  /**
   * Begins a sign-in. What the provider must be shown later follows from one secret that only the browser
   * keeps; the row holds hashes. Errors: invalid_argument, not_configured, upstream_failed, rate_limited.
   */
  async begin(
    input: { provider?: string; connectionId?: string; state?: string },
    redirectUri: string,
    { peer }: Visit,
  ): Promise<BegunSignIn> {
    requireCloud(this.app.config);
    this.byPeer.charge(peer);
    const settings = findProvider(this.app.config, input.provider, input.connectionId);
    const state = input.state || newSecret();
    if (state.length > MAX_STATE) throw invalid({ field: 'state', description: 'is too long' });
    const secret = newSecret();
    const codeChallenge = new Bun.CryptoHasher('sha256').update(verifierOf(secret)).digest('base64url');
    const authUrl = await this.client(settings).authorizationUrl({
      redirectUri,
      state,
      nonce: nonceOf(secret),
      codeChallenge,
    });
    this.parts.sessionStore.insertAttempt({
      secretHash: hashSecret(secret),
      provider: settings.name,
      stateHash: hashSecret(state),
      redirectUri,
      expiresAt: this.app.clock.now() + ATTEMPT_MS,
    });
    return { authUrl, secret };
  }

  /**
   * Ends a sign-in: the code becomes tokens, the tokens a person and a session. Errors: bad_link (another
   * browser, another state, too late), unauthenticated, already_exists, upstream_failed, invalid_argument.
   */
  async finish(
    input: { code?: string; state?: string },
    secret: string | undefined,
    visit: Visit,
  ): Promise<SignedIn> {
    requireCloud(this.app.config);
    const code = readRequired('code', input.code);
    const state = readRequired('state', input.state);
    const attempt = secret && this.parts.sessionStore.takeAttempt(hashSecret(secret), this.app.clock.now());
    if (!secret || !attempt || attempt.stateHash !== hashSecret(state)) throw fail('bad_link');
    const settings = readProvider(this.app.config, attempt.provider);
    const client = this.client(settings);
    const answer = await client.exchangeCode(code, attempt.redirectUri, verifierOf(secret));
    if (!answer.idToken)
      throw fail('unauthenticated', { message: 'The identity provider did not say who you are.' });
    const claims = await client.verifyIdToken(answer.idToken, nonceOf(secret));
    return this.app.db.transaction(() => {
      const { user, tenant } = this.settle(settings, claims);
      const tokens = this.tokensOf(settings, answer);
      return this.parts.sessions.open({
        tenant,
        userId: user.id,
        by: 'oidc',
        tokens,
        earlier: visit.earlier,
      });
    });
  }

  /**
   * Refreshes a session's access token when it is about to end; else answers undefined. Calls side by side
   * share one refresh, since a refresh token may work only once. The session ends when the provider refuses.
   */
  async refresh(session: SessionRow): Promise<SignedIn | undefined> {
    const left = (session.accessExpiresAt ?? 0) - this.app.clock.now();
    if (left > REFRESH_WINDOW_MS) return undefined;
    const running = this.refreshing.get(session.id);
    if (running) return running;
    const refreshed = this.refreshNow(session).finally(() => this.refreshing.delete(session.id));
    this.refreshing.set(session.id, refreshed);
    return refreshed;
  }

  private async refreshNow(session: SessionRow): Promise<SignedIn> {
    const settings = readProvider(this.app.config, session.provider ?? '');
    const earlier = this.parts.sessions.refreshTokenOf(session);
    if (!earlier)
      throw fail('unauthenticated', { message: 'The session cannot be prolonged; sign in again.' });
    try {
      const answer = await this.client(settings).refresh(earlier);
      const tokens = this.tokensOf(settings, { ...answer, refreshToken: answer.refreshToken ?? earlier });
      return this.parts.sessions.rotate(session, tokens);
    } catch (error) {
      if (error instanceof AppError && error.code === 'unauthenticated') this.parts.sessions.end(session);
      throw error;
    }
  }

  /** The person that a provider speaks of, and the organization to be in. */
  private settle(
    settings: OidcSettings,
    claims: Readonly<Record<string, unknown>>,
  ): { user: UserRow; tenant: string } {
    const { users, people, team } = this.parts;
    const subject = String(claims.sub);
    const isVerified = claims.email_verified === true;
    const user = users.byIdentity(settings.issuer, subject) ?? this.newcomer(settings, subject, claims);
    if (isVerified && user.email === emailOf(claims)) team.joinInvited(user);
    const [home] = users.belongings(user.id);
    return { user, tenant: home?.organization.id ?? people.addOwnOrganization(user).id };
  }

  /**
   * Somebody whom this provider speaks of for the first time. An address that has an account already is
   * not taken over, unless the operator trusts the provider's word on it and no provider was before it.
   */
  private newcomer(
    { issuer, linkByEmail }: OidcSettings,
    subject: string,
    claims: Readonly<Record<string, unknown>>,
  ): UserRow {
    const { users, people } = this.parts;
    const email = emailOf(claims);
    const isVerified = claims.email_verified === true;
    const known = users.byEmail(email);
    const mayLink = known && linkByEmail && isVerified && !users.hasIdentity(known.id);
    const name = readName(textOf(claims.name), email.split('@')[0] ?? email);
    const user = mayLink ? known : people.add({ email, name, avatarUrl: pictureOf(claims) });
    users.addIdentity(issuer, subject, user.id, this.app.clock.now());
    const [tenant] = users.belongings(user.id).map(({ organization }) => organization.id);
    const action = mayLink ? 'user.link' : 'user.register';
    this.app.audit.record({
      tenant: tenant ?? '',
      actor: user.id,
      action,
      target: user.id,
      details: { issuer },
    });
    return user;
  }

  private tokensOf(
    { name }: OidcSettings,
    { accessToken, refreshToken, expiresIn }: TokenAnswer,
  ): ProviderTokens {
    const now = this.app.clock.now();
    const expiry = jwtExpiry(accessToken) ?? now + (expiresIn ?? HOUR_MS / SECOND_MS) * SECOND_MS;
    const accessExpiresAt = Math.min(expiry, now + MAX_TOKEN_MS);
    const longest = now + Math.min(MAX_TOKEN_MS, this.app.config.get('auth.session_ttl'));
    const endsAt = refreshToken ? longest : Math.min(accessExpiresAt, longest);
    return { provider: name, accessToken, refreshToken, accessExpiresAt, endsAt };
  }

  /** One client a provider, so that its description and keys are asked for once; a new one when its settings change. */
  private client(settings: OidcSettings): OidcClient {
    const key = JSON.stringify(settings);
    const known = this.clients.get(settings.name);
    if (known?.key === key) return known.client;
    const client = new OidcClient(settings, this.app.outbound, this.app.clock);
    this.clients.set(settings.name, { key, client });
    return client;
  }
}

/** The expiry of an access token that is a JWT, in milliseconds; undefined for any other form. */
function jwtExpiry(token: string): number | undefined {
  try {
    const { exp } = decodeJwt(token);
    return exp === undefined ? undefined : exp * SECOND_MS;
  } catch {
    return undefined;
  }
}

/** The PKCE verifier that follows from the browser's secret. */
function verifierOf(secret: string): string {
  return new Bun.CryptoHasher('sha256').update(`pkce ${secret}`).digest('base64url');
}

/** The nonce that follows from the browser's secret. */
function nonceOf(secret: string): string {
  return new Bun.CryptoHasher('sha256').update(`nonce ${secret}`).digest('base64url');
}

function emailOf(claims: Readonly<Record<string, unknown>>): string {
  const email = textOf(claims.email);
  if (!email)
    throw fail('unauthenticated', { message: 'The identity provider did not give an email address.' });
  return readEmail(email);
}

function pictureOf(claims: Readonly<Record<string, unknown>>): string {
  const url = URL.parse(textOf(claims.picture) ?? '');
  return url?.protocol === 'https:' ? url.href : '';
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
