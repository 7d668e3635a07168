import type { ExecutionEvent } from '../../../../src/api/sandbox/command.ts';
import type { Value } from '../../../../src/api/schema.ts';
import type { Clock } from '../../../../src/kit/time.ts';
import type { ServerEvent } from '../../../http/sse.ts';
import type { Execution } from '../drivers/driver.ts';
import { type Ended, type Running, reasonOf } from './service.ts';

type Message = Value<typeof ExecutionEvent>;

/** Silence after which a reader is told that the command still runs. */
export const PING_MS = 3_000;

/**
 * The messages of a command: `init` with its id, then `stdout` and `stderr` as they come, then
 * `execution_complete`, or `error` whose `evalue` is the exit code. Text is UTF-8 decoded across chunks.
 */
export async function* commandMessages(
  running: Running<Execution>,
  clock: Clock,
): AsyncGenerator<ServerEvent> {
  yield message(clock, { type: 'init', text: running.row.id });
  try {
    yield* outputMessages(running, clock);
    yield message(clock, lastMessage(await running.ended));
  } finally {
    await running.log.close();
  }
}

/** The last message of a stream that broke inside svc. */
export function brokenMessage(clock: Clock): ServerEvent {
  return message(clock, {
    type: 'error',
    error: { ename: 'InternalError', evalue: '', traceback: ['svc lost the command'] },
  });
}

async function* outputMessages(
  { process, head, log }: Running<Execution>,
  clock: Clock,
): AsyncGenerator<ServerEvent> {
  const decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() };
  for await (const { channel, bytes } of process.output) {
    head.add(channel, bytes);
    await log.write(bytes);
    const text = decoders[channel].decode(bytes, { stream: true });
    if (text !== '') yield message(clock, { type: channel, text });
  }
  for (const channel of ['stdout', 'stderr'] as const) {
    const rest = decoders[channel].decode();
    if (rest !== '') yield message(clock, { type: channel, text: rest });
  }
}

/** The heartbeat of a command's stream. */
export function ping(clock: Clock): ServerEvent {
  return message(clock, { type: 'ping' });
}

/** The two messages of a command that was sent to the background. */
export function* backgroundMessages(id: string, clock: Clock): Generator<ServerEvent> {
  yield message(clock, { type: 'init', text: id });
  yield message(clock, { type: 'status', text: 'running' });
}

function lastMessage(ended: Ended): Omit<Message, 'timestamp'> {
  if (ended.code === 0) return { type: 'execution_complete', execution_time: ended.durationMs };
  const ename = ended.timedOut ? 'CommandTimeout' : 'CommandExecError';
  const why = reasonOf(ended) ?? `exit status ${ended.code}`;
  return {
    type: 'error',
    execution_time: ended.durationMs,
    error: { ename, evalue: String(ended.code), traceback: [why] },
  };
}

function message(clock: Clock, fields: Omit<Message, 'timestamp'>): ServerEvent {
  return { data: { ...fields, timestamp: clock.now() } };
}
