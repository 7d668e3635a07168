import type { JSONWebKeySet, JWTPayload } from 'jose';
import { fail } from '../../../src/errors/app-error.ts';
import { type Clock, HOUR_MS, SECOND_MS } from '../../../src/kit/time.ts';
import type { Outbound } from '../../outbound/outbound.ts';
import type { OidcSettings } from './oidc-settings.ts';

/** Signatures that are accepted: those of a key pair, since a shared secret would let the client sign too. */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'];
const METADATA_MS = HOUR_MS;
/** Keys are asked for again at most this often when a token names an unknown one. */
const KEYS_MS = 10 * SECOND_MS;
const MAX_BODY = 1024 * 1024;
const TIMEOUT_MS = 15 * SECOND_MS;
const SKEW_S = 5;

/** What is used of a provider's description (OpenID Connect Discovery 1.0). */
interface Metadata {
  readonly issuer: string;
  readonly authorization_endpoint: string;
  readonly token_endpoint: string;
  readonly jwks_uri: string;
  readonly token_endpoint_auth_methods_supported?: readonly string[];
}

/** What a token endpoint gives (RFC 6749, 5.1). */
export interface TokenAnswer {
  readonly accessToken: string;
  readonly refreshToken?: string;
  readonly idToken?: string;
  /** Seconds. */
  readonly expiresIn?: number;
}

/** What a sign-in asks of the provider's page. */
export interface Authorization {
  readonly redirectUri: string;
  readonly state: string;
  readonly nonce: string;
  /** Base64url of the SHA-256 of the verifier (RFC 7636, S256). */
  readonly codeChallenge: string;
}

interface Fetched<T> {
  readonly value: T;
  readonly at: number;
}

/** Speaks to one OpenID Connect provider. Every call goes through the one way out. */
export class OidcClient {
  private metadata: Fetched<Metadata> | undefined;
  private keys: Fetched<JSONWebKeySet> | undefined;

  constructor(
    private readonly settings: OidcSettings,
    private readonly outbound: Outbound,
    private readonly clock: Clock,
  ) {}

  /** The address that the browser is sent to. Errors: upstream_failed. */
  async authorizationUrl({ redirectUri, state, nonce, codeChallenge }: Authorization): Promise<string> {
    const { authorization_endpoint } = await this.discover();
    const url = new URL(authorization_endpoint);
    const query = {
      response_type: 'code',
      client_id: this.settings.clientId,
      redirect_uri: redirectUri,
      scope: this.settings.scopes.join(' '),
      state,
      nonce,
      code_challenge: codeChallenge,
      code_challenge_method: 'S256',
    };
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    return url.href;
  }

  /** Trades a code for tokens. Errors: unauthenticated when the provider refuses, upstream_failed. */
  exchangeCode(code: string, redirectUri: string, codeVerifier: string): Promise<TokenAnswer> {
    return this.token({
      grant_type: 'authorization_code',
      code,
      redirect_uri: redirectUri,
      code_verifier: codeVerifier,
    });
  }

  /** Trades a refresh token for new tokens. Errors: unauthenticated when the provider refuses, upstream_failed. */
  refresh(refreshToken: string): Promise<TokenAnswer> {
    return this.token({ grant_type: 'refresh_token', refresh_token: refreshToken });
  }

  /** The claims of an id token that this provider signed for us. Errors: unauthenticated. */
  async verifyIdToken(idToken: string, nonce?: string): Promise<JWTPayload & { readonly sub: string }> {
    const { createLocalJWKSet, jwtVerify, errors } = await import('jose');
    const check = async (keys: JSONWebKeySet) =>
      jwtVerify(idToken, createLocalJWKSet(keys), {
        issuer: this.settings.issuer,
        audience: this.settings.clientId,
        algorithms: ALGORITHMS,
        clockTolerance: SKEW_S,
        currentDate: new Date(this.clock.now()),
        requiredClaims: ['sub', 'exp', 'iat'],
      });
    const verified = await check(await this.jwks()).catch(async (error) => {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw refused('its id token is not valid');
      return check(await this.jwks(KEYS_MS)).catch(() => {
        throw refused('its id token is not valid');
      });
    });
    const { payload } = verified;
    const isForUs =
      !Array.isArray(payload.aud) || payload.aud.length === 1 || payload.azp === this.settings.clientId;
    if (!payload.sub || !isForUs || (nonce !== undefined && payload.nonce !== nonce))
      throw refused('its id token is not for this sign-in');
    return { ...payload, sub: payload.sub };
  }

  private async discover(): Promise<Metadata> {
    const now = this.clock.now();
    if (this.metadata && now - this.metadata.at < METADATA_MS) return this.metadata.value;
    const { issuer } = this.settings;
    const value = (await this.getJson(
      `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`,
    )) as Partial<Metadata>;
    const { authorization_endpoint, token_endpoint, jwks_uri } = value;
    if (value.issuer !== issuer || !authorization_endpoint || !token_endpoint || !jwks_uri)
      throw fail('upstream_failed', { message: `${issuer} does not describe itself as an OpenID provider.` });
    this.metadata = { value: value as Metadata, at: now };
    return this.metadata.value;
  }

  private async jwks(maxAgeMs = METADATA_MS): Promise<JSONWebKeySet> {
    const now = this.clock.now();
    if (this.keys && now - this.keys.at < maxAgeMs) return this.keys.value;
    const { jwks_uri } = await this.discover();
    this.keys = { value: (await this.getJson(jwks_uri)) as JSONWebKeySet, at: now };
    return this.keys.value;
  }

  private async token(form: Readonly<Record<string, string>>): Promise<TokenAnswer> {
    const { token_endpoint, token_endpoint_auth_methods_supported: methods } = await this.discover();
    const { headers, fields } = clientAuth(this.settings, methods ?? ['client_secret_basic']);
    const response = await this.fetch(token_endpoint, {
      method: 'POST',
      headers: {
        ...headers,
        accept: 'application/json',
        'content-type': 'application/x-www-form-urlencoded',
      },
      body: new URLSearchParams({ ...form, ...fields }).toString(),
    });
    const answer = (await readJson(response)) as Record<string, unknown>;
    if (response.status >= 400 && response.status < 500) throw refused('it refused the code or the session');
    if (!response.ok || typeof answer.access_token !== 'string') throw this.failed(response.status);
    return {
      accessToken: answer.access_token,
      refreshToken: text(answer.refresh_token),
      idToken: text(answer.id_token),
      expiresIn: typeof answer.expires_in === 'number' ? answer.expires_in : undefined,
    };
  }

  private async getJson(url: string): Promise<unknown> {
    const response = await this.fetch(url, { headers: { accept: 'application/json' } });
    if (!response.ok) throw this.failed(response.status);
    return readJson(response);
  }

  private fetch(
    url: string,
    init: { method?: string; headers: Readonly<Record<string, string>>; body?: string },
  ): Promise<Response> {
    const field = `auth.oidc.${this.settings.name}.issuer`;
    return this.outbound.fetch({
      url,
      ...init,
      trust: 'operator',
      field,
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
  }

  private failed(status: number): Error {
    return fail('upstream_failed', {
      message: `The identity provider ${this.settings.name} answered ${status}.`,
    });
  }
}

interface ClientAuth {
  readonly headers: Readonly<Record<string, string>>;
  readonly fields: Readonly<Record<string, string>>;
}

/** How the client proves itself (RFC 6749, 2.3.1): in the header when the provider takes that, else in the form. */
function clientAuth({ clientId, clientSecret }: OidcSettings, methods: readonly string[]): ClientAuth {
  if (clientSecret === undefined) return { headers: {}, fields: { client_id: clientId } };
  if (!methods.includes('client_secret_basic'))
    return { headers: {}, fields: { client_id: clientId, client_secret: clientSecret } };
  const pair = `${formEncode(clientId)}:${formEncode(clientSecret)}`;
  return { headers: { authorization: `Basic ${btoa(pair)}` }, fields: {} };
}

function formEncode(value: string): string {
  return new URLSearchParams({ v: value }).toString().slice(2);
}

async function readJson(response: Response): Promise<unknown> {
  let read = 0;
  const chunks: Uint8Array[] = [];
  for await (const chunk of response.body ?? []) {
    read += chunk.byteLength;
    if (read > MAX_BODY)
      throw fail('upstream_failed', { message: 'The identity provider answered too much.' });
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch {
    throw fail('upstream_failed', { message: 'The identity provider did not answer with JSON.' });
  }
}

function refused(why: string): Error {
  return fail('unauthenticated', { message: `The identity provider did not sign you in: ${why}.` });
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
