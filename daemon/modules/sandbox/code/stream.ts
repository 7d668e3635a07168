import type { ExecutionEvent } from '../../../../src/api/sandbox/command.ts';
import type { Value } from '../../../../src/api/schema.ts';
import type { Clock } from '../../../../src/kit/time.ts';
import type { ServerEvent } from '../../../http/sse.ts';
import type { Run, RunEvent } from './run.ts';

type Message = Omit<Value<typeof ExecutionEvent>, 'timestamp'>;
type Decoders = Readonly<Record<'stdout' | 'stderr', TextDecoder>>;

/**
 * The messages of a run: `init` with its id, `status` when it has to wait, `execution_count`, then output and results
 * as they come, then `execution_complete` or `error`. Text is UTF-8 decoded across chunks.
 */
export async function* codeMessages(run: Run, clock: Clock): AsyncGenerator<ServerEvent> {
  const event = (message: Message): ServerEvent => ({ data: { ...message, timestamp: clock.now() } });
  yield event({ type: 'init', text: run.id });
  const decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() };
  let hasWaited = false;
  for await (const one of run.events) {
    if (one.type === 'started' && hasWaited) yield event({ type: 'status', text: 'running' });
    hasWaited ||= one.type === 'queued';
    for (const message of messagesOf(one, decoders)) yield event(message);
  }
}

function* messagesOf(event: RunEvent, decoders: Decoders): Generator<Message> {
  if (event.type === 'queued') yield { type: 'status', text: 'queued' };
  else if (event.type === 'started') yield { type: 'execution_count', execution_count: event.count };
  else if (event.type === 'output') yield* outputOf(event.chunk.channel, decoders, event.chunk.bytes);
  else if (event.type === 'result') yield resultOf(event.data);
  else {
    for (const channel of ['stdout', 'stderr'] as const) yield* outputOf(channel, decoders);
    yield endOf(event.durationMs, event.error);
  }
}

function* outputOf(channel: 'stdout' | 'stderr', decoders: Decoders, bytes?: Uint8Array): Generator<Message> {
  const text = bytes ? decoders[channel].decode(bytes, { stream: true }) : decoders[channel].decode();
  if (text !== '') yield { type: channel, text };
}

function resultOf(results: Readonly<Record<string, unknown>>): Message {
  const plain = results['text/plain'];
  return { type: 'result', results, ...(typeof plain === 'string' && { text: plain }) };
}

function endOf(durationMs: number, error: (RunEvent & { type: 'finished' })['error']): Message {
  if (!error) return { type: 'execution_complete', execution_time: durationMs };
  return { type: 'error', execution_time: durationMs, error: { ...error, traceback: [...error.traceback] } };
}
