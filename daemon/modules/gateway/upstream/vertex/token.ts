import { importPKCS8, SignJWT } from 'jose';
import { MINUTE_MS, SECOND_MS } from '../../../../../src/kit/time.ts';
import type { Upstream } from '../adapter.ts';
import { UpstreamError } from '../error.ts';
import { failedAnswer } from '../failed-answer.ts';
import { readJson } from '../translate/answer.ts';
import { type Credential, readCredential } from './credentials.ts';

const SCOPE = 'https://www.googleapis.com/auth/cloud-platform';
const MOST_KEPT = 256;
const LIFE_SECONDS = 3600;

interface Token {
  readonly text: string;
  /** Until when it is used, Unix time in milliseconds: a minute less than it lives. */
  readonly until: number;
}

/** Tokens by the secret that they were had for; a secret is asked for once at a time. */
const tokens = new Map<string, Promise<Token>>();

/**
 * The headers that open the door: an access token, bought with the key and kept until a minute before its end, or the key
 * itself. Errors: UpstreamError of kind key when the key is refused or of a kind that is not known; network, timeout; cancelled.
 */
export async function accessHeaders(upstream: Upstream): Promise<Record<string, string>> {
  const { account, key } = upstream;
  if (!key) return {};
  const credential = readCredential(key.secret, account.baseUrl);
  if (!credential)
    throw new UpstreamError(
      'key',
      `The key of ${account.name} is no service account, user, access token or API key of Google.`,
    );
  if (credential.kind === 'api_key') return { 'x-goog-api-key': key.secret };
  if (credential.kind === 'token') return { authorization: `Bearer ${key.secret}` };
  return { authorization: `Bearer ${await tokenFor(key.secret, credential, upstream)}` };
}

/** Forgets the token of a key, after it was refused. */
export function forgetToken({ key }: Upstream): void {
  if (key) tokens.delete(key.secret);
}

type Bought = Extract<Credential, { tokenUri: string }>;

async function tokenFor(secret: string, credential: Bought, upstream: Upstream): Promise<string> {
  for (;;) {
    const shared = tokens.get(secret);
    if (!shared) return (await keep(secret, buy(credential, upstream))).text;
    const token = await shared.catch(() => undefined);
    if (token && token.until > Date.now()) return token.text;
    if (tokens.get(secret) === shared) tokens.delete(secret);
  }
}

/** Only tokens that were had are kept: whoever waited for one that failed asks again, under a signal of its own. */
async function keep(secret: string, buying: Promise<Token>): Promise<Token> {
  const oldest = tokens.size >= MOST_KEPT ? tokens.keys().next().value : undefined;
  if (oldest !== undefined) tokens.delete(oldest);
  tokens.set(secret, buying);
  try {
    return await buying;
  } catch (error) {
    if (tokens.get(secret) === buying) tokens.delete(secret);
    throw error;
  }
}

async function buy(credential: Bought, upstream: Upstream): Promise<Token> {
  const { name } = upstream.account;
  const body = new URLSearchParams(await grantOf(credential, name)).toString();
  const headers = { 'content-type': 'application/x-www-form-urlencoded', 'accept-encoding': 'identity' };
  const response = await upstream.fetch(credential.tokenUri, { headers, body });
  if (response.status === 400) {
    await response.body?.cancel();
    throw new UpstreamError('key', `Google refused the key of ${name}. Check it: svc provider test ${name}`, {
      status: 400,
    });
  }
  if (!response.ok) throw await failedAnswer(response, upstream);
  const { access_token, expires_in = 0 } = (await readJson(response, upstream)) as {
    access_token?: string;
    expires_in?: number;
  };
  if (!access_token) throw new UpstreamError('server', `Google answered without a token for ${name}.`);
  return { text: access_token, until: Date.now() + expires_in * SECOND_MS - MINUTE_MS };
}

/** RFC 7523, 2.1 for service accounts; RFC 6749, 6 for users. */
async function grantOf(credential: Bought, provider: string): Promise<Record<string, string>> {
  if (credential.kind === 'user') {
    const { clientId: client_id, clientSecret: client_secret, refreshToken: refresh_token } = credential;
    return { grant_type: 'refresh_token', client_id, client_secret, refresh_token };
  }
  return {
    grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
    assertion: await assertionOf(credential, provider),
  };
}

async function assertionOf(
  credential: Extract<Bought, { kind: 'service_account' }>,
  provider: string,
): Promise<string> {
  const { email, privateKey, keyId, tokenUri } = credential;
  const key = await importPKCS8(privateKey, 'RS256').catch(() => {
    throw new UpstreamError('key', `The private key of ${provider} cannot be read.`);
  });
  const now = Math.floor(Date.now() / SECOND_MS);
  return new SignJWT({ scope: SCOPE })
    .setProtectedHeader({ alg: 'RS256', typ: 'JWT', ...(keyId ? { kid: keyId } : {}) })
    .setIssuer(email)
    .setAudience(tokenUri)
    .setIssuedAt(now)
    .setExpirationTime(now + LIFE_SECONDS)
    .sign(key);
}
