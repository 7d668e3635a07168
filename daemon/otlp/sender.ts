import { AppError } from '../../src/errors/app-error.ts';
import { MINUTE_MS, SECOND_MS } from '../../src/kit/time.ts';
import type { Outbound } from '../outbound/outbound.ts';
import type { Destination } from './destination.ts';
import type { Signal } from './messages.ts';

/** How long one request may take. */
const DEADLINE_MS = 10 * SECOND_MS;
const MAX_ANSWER = 64 * 1024;
/** A receiver cannot ask for a longer pause. */
const LONGEST_PAUSE_MS = 5 * MINUTE_MS;

/** Answers that say: try again (OTLP 1.x, Retryable Response Codes). */
const RETRYABLE: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** Failures of a call that may be over the next time. */
const PASSING: ReadonlySet<string> = new Set([
  'upstream_failed',
  'upstream_timeout',
  'cancelled',
  'unavailable',
]);

/** What became of one request. */
export interface Outcome {
  /** `later`: try again, after `pauseMs` when the receiver asked for a pause. */
  readonly kind: 'sent' | 'refused' | 'later';
  /** What the receiver said, for a person. */
  readonly message: string;
  readonly pauseMs?: number;
  /** How much of what was sent the receiver did not take. */
  readonly rejected?: number;
}

/** Sends one request over OTLP/HTTP, in protobuf. Never throws. */
export async function send(
  outbound: Outbound,
  { endpoint, headers, trust }: Destination,
  signal: Signal,
  body: Uint8Array,
  stop?: AbortSignal,
): Promise<Outcome> {
  const url = urlOf(endpoint, signal);
  try {
    const deadline = AbortSignal.timeout(DEADLINE_MS);
    const response = await outbound.fetch({
      url,
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/x-protobuf' },
      body,
      trust,
      field: 'endpoint',
      idleTimeoutMs: DEADLINE_MS,
      signal: stop ? AbortSignal.any([stop, deadline]) : deadline,
    });
    const answer = await readSome(response);
    return await judge(url, response, answer);
  } catch (error) {
    const isLasting = error instanceof AppError && !PASSING.has(error.code);
    const message = error instanceof AppError ? error.message : `${url} broke off its answer.`;
    return { kind: isLasting ? 'refused' : 'later', message };
  }
}

/** The address of a signal: its path is added to that of the endpoint (OTLP exporter, Endpoint URLs for OTLP/HTTP). */
export function urlOf(endpoint: string, signal: Signal): string {
  const { origin, pathname } = new URL(endpoint);
  return `${origin}${pathname.replace(/\/+$/, '')}/v1/${signal}`;
}

async function judge(url: string, response: Response, answer: Uint8Array): Promise<Outcome> {
  const said = `${url} answered ${response.status}${response.statusText ? ` ${response.statusText}` : ''}`;
  if (response.ok) {
    const { readRejection } = await import('./codec.ts');
    const rejection = readRejection(answer);
    const message = rejection ? `${said}, but did not take all: ${rejection.message}` : `${said}.`;
    return { kind: 'sent', message, rejected: rejection?.rejected };
  }
  if (!RETRYABLE.has(response.status)) return { kind: 'refused', message: `${said}.` };
  return { kind: 'later', message: `${said}.`, pauseMs: pauseOf(response.headers.get('retry-after')) };
}

/** Reads Retry-After: seconds, or a date (RFC 9110, 10.2.3). */
export function pauseOf(text: string | null, now: number = Date.now()): number | undefined {
  if (!text) return undefined;
  const ms = /^\d+$/.test(text) ? Number(text) * SECOND_MS : Date.parse(text) - now;
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), LONGEST_PAUSE_MS);
}

/** The head of an answer; the rest is not read. */
async function readSome(response: Response): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > MAX_ANSWER) break;
  }
  return Buffer.concat(chunks).subarray(0, MAX_ANSWER);
}
