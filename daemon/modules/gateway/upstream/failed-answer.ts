import { DAY_MS, SECOND_MS } from '../../../../src/kit/time.ts';
import type { ProviderAccount, ProviderKey } from '../../providers/index.ts';
import { type FailureDetails, type FailureKind, UpstreamError } from './error.ts';
import { withoutSecrets } from './secrets.ts';
import { parsed } from './translate/content.ts';

const SHOWN_CHARS = 1000;
const MOST_READ_BYTES = 64 * 1024;

/** Whose answer it is. */
interface Origin {
  readonly account: ProviderAccount;
  readonly key: ProviderKey | undefined;
}

/** What an error body of any dialect says. */
interface Said {
  readonly message?: string;
  readonly type?: string;
  readonly code?: string;
  readonly param?: string;
}

/**
 * Reads an answer that is no success as the error that it means, whatever the dialect of its body. The key of the
 * attempt is taken out of the words.
 */
export async function failedAnswer(response: Response, { account, key }: Origin): Promise<UpstreamError> {
  const { status } = response;
  const kind = kindOf(status);
  const text = await readSome(response);
  if (kind === 'key') return new UpstreamError(kind, refusedKey(account.name, status), { status });
  const said = readSaid(withoutSecrets(text, key));
  if (kind === 'request' && !said.message)
    return new UpstreamError('address', wrongAddress(account.name, status), { status });
  return new UpstreamError(kind, wordsOf(kind, account.name, status, said.message), {
    ...said,
    status,
    retryAfterMs: retryAfterMs(response.headers),
  } satisfies FailureDetails & Said);
}

/** The kind of failure that a status means. */
export function kindOf(status: number): FailureKind {
  if (status === 401 || status === 403) return 'key';
  if (status === 429) return 'rate_limit';
  if (status === 408 || status === 504) return 'timeout';
  return status >= 400 && status < 500 ? 'request' : 'server';
}

/** Milliseconds of Retry-After-Ms, or Retry-After as a number or a date (RFC 9110, 10.2.3), a day at most; undefined without. */
export function retryAfterMs(headers: Headers, now = Date.now()): number | undefined {
  const exact = Number(headers.get('retry-after-ms') ?? Number.NaN);
  if (exact > 0) return Math.min(exact, DAY_MS);
  const text = headers.get('retry-after')?.trim();
  if (!text) return undefined;
  const ms = /^\d+(\.\d+)?$/.test(text) ? Number(text) * SECOND_MS : Date.parse(text) - now;
  return ms > 0 ? Math.min(Math.ceil(ms), DAY_MS) : undefined;
}

/** The words of an error body: `{error: {message}}`, `{error: "..."}`, `[{error}]`, `{message}` and `{detail}`. */
export function readSaid(text: string): Said {
  const body = parsed(text);
  const first = Array.isArray(body) ? body[0] : body;
  if (typeof first !== 'object' || first === null) return {};
  const { error, ...rest } = first as Record<string, unknown>;
  const inner =
    typeof error === 'object' && error !== null
      ? (error as Record<string, unknown>)
      : { ...rest, message: error ?? rest.message ?? rest.detail };
  const { message, type = inner.status, code, param } = inner;
  return { message: word(message), type: word(type), code: word(code), param: word(param) };
}

async function readSome(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  try {
    for await (const piece of response.body ?? []) {
      text += decoder.decode(piece, { stream: true });
      if (text.length > MOST_READ_BYTES) break;
    }
  } catch {
    // What has come of an error's words is enough.
  }
  return text;
}

function wordsOf(kind: FailureKind, provider: string, status: number, message: string | undefined): string {
  if (kind === 'request' && message) return message.slice(0, SHOWN_CHARS);
  const said = message ? `: ${message.slice(0, SHOWN_CHARS)}` : '.';
  return `The provider ${provider} answered ${status}${said}`;
}

function wrongAddress(provider: string, status: number): string {
  return `The provider ${provider} answered ${status} without a reason. Check the address of the provider: svc provider show ${provider}`;
}

function refusedKey(provider: string, status: number): string {
  return `The provider ${provider} refused the key of this instance (${status}). Check it: svc provider test ${provider}`;
}

function word(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value !== '' ? value : undefined;
}
