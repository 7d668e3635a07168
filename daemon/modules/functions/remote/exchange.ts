import { AppError } from '../../../../src/errors/app-error.ts';
import type { Outbound } from '../../../outbound/outbound.ts';
import type { Method } from '../config/checks.ts';
import { failed, MOST_RESULT, type Outcome } from '../outcome.ts';

/** A request that may be sent more than once. */
export interface RemoteRequest {
  readonly url: string;
  readonly method: Method;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The field of the function that the address stands in. */
  readonly field: string;
}

/** How long, and how often. */
export interface Patience {
  /** Of all attempts together, in milliseconds. */
  readonly timeoutMs: number;
  /** Of one attempt; 0 is as long as all of them. */
  readonly attemptMs: number;
  readonly retries: number;
  readonly signal: AbortSignal;
}

/** The wait before the second attempt; it doubles from one to the next. */
const FIRST_WAIT_MS = 200;
const LONGEST_WAIT_MS = 5_000;
const SHOWN = 500;

type Try = Outcome & { readonly again?: boolean };

/**
 * Sends a request and reads its answer: JSON as what it is, other text as text. Tries again after 429, 5xx, silence and
 * failed connections. Errors: cancelled, when the caller leaves; whatever else happens is an outcome.
 */
export async function exchange(
  outbound: Outbound,
  request: RemoteRequest,
  { timeoutMs, attemptMs, retries, signal }: Patience,
): Promise<Outcome> {
  const deadline = performance.now() + timeoutMs;
  for (let attempts = 1; ; attempts++) {
    const left = deadline - performance.now();
    const limit = Math.max(1, attemptMs > 0 ? Math.min(attemptMs, left) : left);
    const { again, ...outcome } = await attempt(outbound, request, limit, signal);
    const wait = Math.min(FIRST_WAIT_MS * 2 ** (attempts - 1), LONGEST_WAIT_MS);
    const isLast = !again || attempts > retries || performance.now() + wait >= deadline;
    if (isLast) return { ...outcome, attempts };
    await pause(wait * (0.5 + Math.random() / 2), signal);
  }
}

async function attempt(
  outbound: Outbound,
  request: RemoteRequest,
  limitMs: number,
  caller: AbortSignal,
): Promise<Try> {
  const late = AbortSignal.timeout(Math.ceil(limitMs));
  const signal = AbortSignal.any([caller, late]);
  try {
    const response = await outbound.fetch({ ...request, trust: 'tenant', signal, idleTimeoutMs: limitMs });
    return judge(response, await readText(response));
  } catch (error) {
    if (caller.aborted) throw error;
    if (late.aborted)
      return { ...failed(`no answer within ${Math.round(limitMs)} ms`, 1, 'timeout'), again: true };
    if (error instanceof TooLarge) return failed(`the answer is larger than ${MOST_RESULT} bytes`, 1);
    if (!(error instanceof AppError)) return { ...failed('the answer was cut off', 1), again: true };
    const isTimeout = error.code === 'upstream_timeout';
    const again = isTimeout || error.code === 'upstream_failed';
    return { ...failed(error.message, 1, isTimeout ? 'timeout' : 'error'), again };
  }
}

function judge(response: Response, text: string | undefined): Try {
  const { status } = response;
  if (status < 200 || status > 299) {
    const words = text?.trim().slice(0, SHOWN);
    const again = status >= 500 || status === 429;
    return { ...failed(`answered ${status}${words ? `: ${words}` : ''}`, 1), again };
  }
  if (text === undefined) return failed('the answer is not text', 1);
  if (text === '') return { status: 'success', result: null, attempts: 1 };
  if (!/^[\w.+-]+\/(?:[\w.+-]+\+)?json\b/i.test(response.headers.get('content-type') ?? ''))
    return { status: 'success', result: text, attempts: 1 };
  try {
    return { status: 'success', result: JSON.parse(text) as unknown, attempts: 1 };
  } catch {
    return failed('the answer says that it is JSON and is not', 1);
  }
}

class TooLarge extends Error {}

/** The text of an answer; undefined when its bytes are no text. */
async function readText(response: Response): Promise<string | undefined> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of response.body ?? []) {
    size += part.byteLength;
    if (size > MOST_RESULT) {
      throw new TooLarge();
    }
    parts.push(part);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(parts));
  } catch {
    return undefined;
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  signal.addEventListener('abort', () => resolve(), { once: true });
  await promise;
  clearTimeout(timer);
}
