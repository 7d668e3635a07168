import { asAppError } from '../../../../../src/errors/app-error.ts';
import { messagesFailure } from '../../../../http/messages-failure.ts';
import type { ModelCall } from '../../pipeline/call.ts';
import { failureOf } from '../../pipeline/failure.ts';
import type { Settlement } from '../../pipeline/settlement.ts';
import type { ByteSource } from '../../upstream/adapter.ts';
import type { ChatChunk } from '../../wire/chat.ts';
import { eventBytes, eventStream } from '../../wire/event-stream.ts';
import type { MessagesEvent, MessagesRequest } from '../../wire/messages.ts';
import { relay } from '../../wire/relay.ts';
import { broken, cutOff } from '../broken-stream.ts';
import { guessUsage } from '../chat/guess.ts';
import { EventWriter } from './event-writer.ts';
import { UsageWatch } from './usage-watch.ts';

type Call = ModelCall<MessagesRequest>;

const encoder = new TextEncoder();

/** The bytes of an upstream of this dialect, with its usage read on the way. */
export function relayedBody(
  call: Call,
  source: ByteSource,
  settlement: Settlement,
): ReadableStream<Uint8Array> {
  const watch = new UsageWatch();
  const account = () => settlement.used(watch.usage ?? guessUsage(call.request, watch.events));
  return relay(source, {
    passing: (lines) => watch.passing(lines),
    last: () => (watch.isComplete ? undefined : lastWords(cutOff(settlement), call)),
    ended() {
      account();
      settlement.finish(
        watch.isComplete ? 'completed' : 'failed',
        watch.isComplete ? undefined : cutOff(settlement),
      );
    },
    failed(error) {
      account();
      if (call.signal.aborted) {
        settlement.finish('stopped');
        return undefined;
      }
      settlement.finish('failed', error);
      return lastWords(broken(error, settlement), call);
    },
    left() {
      account();
      settlement.finish(watch.isComplete ? 'completed' : 'stopped');
    },
  });
}

/** The events of an upstream of another dialect, written in this one. */
export function writtenBody(
  call: Call,
  chunks: AsyncIterable<ChatChunk>,
  settlement: Settlement,
): ReadableStream<Uint8Array> {
  const writer = new EventWriter();
  let count = 0;
  const account = () => settlement.used(writer.usage ?? guessUsage(call.request, count));
  async function* events() {
    for await (const chunk of chunks) {
      count++;
      const written = writer.take(chunk);
      if (written.length > 0) yield bytesOf(written);
    }
    yield bytesOf(writer.end());
  }
  return eventStream(events(), {
    ended() {
      account();
      settlement.finish('completed');
    },
    failed(error) {
      account();
      settlement.finish(call.signal.aborted ? 'stopped' : 'failed', error);
      return failureEvent(broken(error, settlement), call);
    },
    left() {
      account();
      settlement.finish('stopped');
    },
  });
}

/** Events as they stand on the wire. */
export function bytesOf(events: readonly MessagesEvent[]): Uint8Array {
  let text = '';
  for (const event of events) text += `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
  return encoder.encode(text);
}

/** The event that stands for the rest of a stream that failed after its first content; stock clients throw it. */
function failureEvent(cause: unknown, { requestId }: Call): Uint8Array {
  const { body } = messagesFailure(asAppError(failureOf(cause, [])), requestId);
  return eventBytes(JSON.stringify(body), 'error');
}

/** The same after bytes of another, where an event may be open. */
function lastWords(cause: unknown, call: Call): Uint8Array {
  return Buffer.concat([Buffer.from('\n\n'), failureEvent(cause, call)]);
}
