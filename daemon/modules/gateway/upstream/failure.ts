import { type AppError, fail } from '../../../../src/errors/app-error.ts';
import { SECOND_MS } from '../../../../src/kit/time.ts';
import { passHeaders } from './headers.ts';

const SHOWN_CHARS = 300;
const DEFAULT_RETRY_SECONDS = 1;

/** Whose answer it is, and the key that must not be shown. */
export interface Origin {
  readonly name: string;
  readonly apiKey: string;
}

/**
 * What the caller gets for an answer that is no success. Errors of the request itself, in the dialect of stock
 * clients, pass with their status; the rest is ours. Errors: upstream_failed, upstream_timeout, rate_limited.
 */
export async function failedAnswer(response: Response, origin: Origin): Promise<Response> {
  const { status } = response;
  if (status === 401 || status === 403) {
    await response.body?.cancel();
    throw refusedKey(origin, status);
  }
  const text = withoutKey(await response.text().catch(() => ''), origin);
  const message = dialectMessage(text);
  if (message !== undefined && status >= 400 && status < 500)
    return new Response(text, { status, headers: passHeaders(response.headers) });
  throw describe(response, message, origin);
}

/** The text of an error body of this dialect; undefined when it is none. */
function dialectMessage(text: string): string | undefined {
  try {
    const body = JSON.parse(text) as { error?: { message?: unknown } } | null;
    return typeof body?.error?.message === 'string' ? body.error.message : undefined;
  } catch {
    return undefined;
  }
}

function refusedKey({ name }: Origin, status: number): AppError {
  const message = `The provider ${name} refused the key of this instance (${status}). Check providers.${name}.api_key.`;
  return fail('upstream_failed', { message });
}

function describe({ status, headers }: Response, said: string | undefined, { name }: Origin): AppError {
  const message = `The provider ${name} answered ${status}${said ? `: ${said.slice(0, SHOWN_CHARS)}` : ''}.`;
  if (status === 429) return fail('rate_limited', { message, retryAfterSeconds: retryAfter(headers) });
  if (status === 408 || status === 504) return fail('upstream_timeout', { message });
  if (status < 500 && said === undefined)
    return fail('upstream_failed', { message: `${message} Check providers.${name}.base_url.` });
  return fail('upstream_failed', { message });
}

/** Seconds of Retry-After, which is a number or a date (RFC 9110, 10.2.3). */
function retryAfter(headers: Headers): number {
  const text = headers.get('retry-after') ?? '';
  const seconds = /^\d+$/.test(text) ? Number(text) : (Date.parse(text) - Date.now()) / SECOND_MS;
  return seconds > 0 ? Math.ceil(seconds) : DEFAULT_RETRY_SECONDS;
}

function withoutKey(text: string, { apiKey }: Origin): string {
  return apiKey === '' ? text : text.replaceAll(apiKey, '[redacted]');
}
