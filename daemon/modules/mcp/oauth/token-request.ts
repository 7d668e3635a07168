import { fail } from '../../../../src/errors/app-error.ts';
import type { Outbound, Trust } from '../../../outbound/outbound.ts';
import { bounded } from '../connection/bounded.ts';
import type { OAuth } from '../servers/auth.ts';

/** What an authorization server has given (RFC 6749, 5.1). */
export interface Tokens {
  readonly accessToken: string;
  readonly refreshToken?: string;
  /** Milliseconds since 1970; absent when it was not said. */
  readonly expiresAt?: number;
}

/** How an authorization server is asked. */
export interface TokenWay {
  readonly outbound: Pick<Outbound, 'fetch'>;
  readonly trust: Trust;
  readonly nowMs: number;
}

const MOST_ANSWER = 256 * 1024;
const TIMEOUT_MS = 20_000;
const SHOWN = 300;
/** Tokens without an end are asked for anew when the server refuses them. */
const LONGEST_SECONDS = 10 * 365 * 24 * 3_600;

interface TokenAnswer {
  readonly access_token?: unknown;
  readonly refresh_token?: unknown;
  readonly token_type?: unknown;
  readonly expires_in?: unknown;
  readonly error?: unknown;
  readonly error_description?: unknown;
}

/**
 * Asks the token endpoint. A client with a secret shows it as Basic authentication (RFC 6749, 2.3.1), and in the body to
 * servers that do not take that. Errors: upstream_failed with the words of the server, outbound_refused, upstream_timeout.
 */
export async function requestTokens(
  oauth: OAuth,
  grant: Readonly<Record<string, string>>,
  way: TokenWay,
): Promise<Tokens> {
  const first = await ask(oauth, grant, 'basic', way);
  const isRefused = oauth.clientSecret !== '' && first.answer.error === 'invalid_client';
  const { status, answer } = isRefused ? await ask(oauth, grant, 'body', way) : first;
  return read(status, answer, way.nowMs);
}

async function ask(
  { tokenUrl, clientId, clientSecret }: OAuth,
  grant: Readonly<Record<string, string>>,
  proof: 'basic' | 'body',
  { outbound, trust }: TokenWay,
): Promise<{ readonly status: number; readonly answer: TokenAnswer }> {
  const isBasic = clientSecret !== '' && proof === 'basic';
  const client = isBasic
    ? {}
    : { client_id: clientId, ...(clientSecret ? { client_secret: clientSecret } : {}) };
  const pair = `${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}`;
  const response = await outbound.fetch({
    url: tokenUrl,
    method: 'POST',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      accept: 'application/json',
      ...(isBasic ? { authorization: `Basic ${Buffer.from(pair).toString('base64')}` } : {}),
    },
    body: new URLSearchParams({ ...grant, ...client }).toString(),
    signal: AbortSignal.timeout(TIMEOUT_MS),
    trust,
    field: 'authConfig.tokenUrl',
  });
  return { status: response.status, answer: await readAnswer(bounded(response, MOST_ANSWER)) };
}

async function readAnswer(response: Response): Promise<TokenAnswer> {
  const text = await response.text();
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
}

function read(status: number, answer: TokenAnswer, nowMs: number): Tokens {
  const { access_token: accessToken, refresh_token: refreshToken, token_type: type } = answer;
  const refuse = (why: string) => fail('upstream_failed', { message: `The authorization server ${why}` });
  if (status < 200 || status > 299 || answer.error !== undefined) {
    const words = [answer.error, answer.error_description]
      .filter((one) => typeof one === 'string')
      .join(': ');
    throw refuse(`refuses (${status})${words ? `: ${words.slice(0, SHOWN)}` : '.'}`);
  }
  if (typeof accessToken !== 'string' || accessToken === '' || /[\r\n\0]/.test(accessToken))
    throw refuse('gave no token.');
  if (typeof type === 'string' && type.toLowerCase() !== 'bearer')
    throw refuse('gave a token that is no bearer token.');
  const seconds = Math.min(Number(answer.expires_in), LONGEST_SECONDS);
  return {
    accessToken,
    ...(typeof refreshToken === 'string' && refreshToken !== '' ? { refreshToken } : {}),
    ...(seconds > 0 ? { expiresAt: nowMs + seconds * 1_000 } : {}),
  };
}
