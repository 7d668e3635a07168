import { agentSessions } from '../../../src/api/agents/sessions.ts';
import { type AgentEvent as AgentEventSchema, agentTurns } from '../../../src/api/agents/turns.ts';
import type { Value } from '../../../src/api/schema.ts';
import type { Client } from '../../../src/client/client.ts';
import { RemoteError } from '../../../src/client/remote-error.ts';
import { readSse } from '../../../src/client/sse.ts';
import { connectionError } from '../../../src/client/unreachable.ts';
import { AppError } from '../../../src/errors/app-error.ts';
import { MINUTE_MS, SECOND_MS } from '../../../src/kit/time.ts';

/** One thing that happened in a session. */
export type AgentEvent = Value<typeof AgentEventSchema>;

/** An event with its number in its session, counted from 1. */
export interface SeenEvent {
  readonly id: number;
  readonly event: AgentEvent;
}

/** What is followed. */
export interface FeedWish {
  readonly sessionId: string;
  /** The event that was seen last; 0 begins at the beginning. */
  readonly after: number;
  readonly signal?: AbortSignal;
  /** Told when the connection is lost, and when it is there again. */
  readonly onConnection?: (isThere: boolean) => void;
}

/** A daemon that is restarted is back within this. */
const PATIENCE_MS = 2 * MINUTE_MS;
/** The daemon says something every 15 seconds, be it a comment. */
const SILENCE_MS = 45 * SECOND_MS;
const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 2 * SECOND_MS;
const UNAVAILABLE = 14;

/**
 * The events of a session in their order, until it is over for good: each once, over connections that break and daemons that are
 * restarted. Ends quietly when the signal fires. Errors: those of the first connection; unreachable after two minutes.
 */
export async function* sessionEvents(client: Client, wish: FeedWish): AsyncGenerator<SeenEvent> {
  const { sessionId, signal, onConnection } = wish;
  let seen = wish.after;
  let isKnown = false;
  for (let lostAt: number | undefined, waitMs = FIRST_WAIT_MS; ; ) {
    try {
      for await (const one of connection(client, sessionId, seen, signal)) {
        isKnown = true;
        if (lostAt !== undefined) onConnection?.(true);
        [lostAt, waitMs] = [undefined, FIRST_WAIT_MS];
        if (one === 'open' || one.id <= seen) continue;
        seen = one.id;
        yield one;
      }
      if (await isOver(client, sessionId)) return;
    } catch (error) {
      if (signal?.aborted) return;
      if (!isKnown || !isBreak(error) || isTooLong(lostAt)) throw error;
    }
    if (lostAt === undefined) onConnection?.(false);
    lostAt ??= performance.now();
    await pause(waitMs, signal);
    if (signal?.aborted) return;
    waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS);
  }
}

/** One connection: `open` when the daemon has answered, then the events. */
async function* connection(
  client: Client,
  sessionId: string,
  after: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<SeenEvent | 'open'> {
  const silence = new AbortController();
  const either = signal ? AbortSignal.any([signal, silence.signal]) : silence.signal;
  const watchdog = setTimeout(() => silence.abort(), SILENCE_MS);
  try {
    const response = await client.open(
      agentTurns.ListSessionEvents,
      { params: { sessionId }, query: { follow: true } },
      { signal: either, lastEventId: String(after) },
    );
    yield 'open';
    const heard = new TransformStream<Uint8Array, Uint8Array>({
      transform(piece, controller) {
        watchdog.refresh();
        controller.enqueue(piece);
      },
    });
    const body = response.body ?? new ReadableStream<Uint8Array>();
    for await (const { id, data } of readSse(body.pipeThrough(heard)))
      yield { id: Number(id), event: read(data) };
  } catch (error) {
    throw error instanceof RemoteError ? error : connectionError(client.url, error, signal);
  } finally {
    clearTimeout(watchdog);
    silence.abort();
  }
}

/** Errors: RemoteError when the message says that the stream has broken. */
function read(data: string): AgentEvent {
  const { result, error } = JSON.parse(data) as { result?: AgentEvent; error?: { code?: number } };
  if (error) throw new RemoteError(error.code === UNAVAILABLE ? 503 : 500, error);
  return result ?? {};
}

/** Whether it may go on when it is tried again. */
export function isBreak(error: unknown): boolean {
  if (error instanceof RemoteError) return error.http === 502 || error.http === 503 || error.http === 504;
  return error instanceof AppError && (error.code === 'unreachable' || error.code === 'cancelled');
}

async function isOver(client: Client, sessionId: string): Promise<boolean> {
  const { session } = await client.call(agentSessions.GetSession, { params: { id: sessionId } });
  return session?.status === 'SESSION_STATUS_COMPLETED' || session?.status === 'SESSION_STATUS_CANCELLED';
}

const isTooLong = (lostAt: number | undefined) =>
  lostAt !== undefined && performance.now() - lostAt > PATIENCE_MS;

/** Waits; the signal ends it sooner. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  signal?.addEventListener('abort', () => resolve(), { once: true });
  return promise.finally(() => clearTimeout(timer));
}
