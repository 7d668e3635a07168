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
import { guessUsage } from '../chat/guess.ts';
import { relayEnds, type StreamReading, writtenEnds } from '../stream-books.ts';
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
  const reading: StreamReading = {
    usage: () => watch.usage ?? guessUsage(call.request, watch.events),
    isComplete: () => watch.isComplete,
    failure: (cause) => failureEvent(cause, call),
  };
  const passing = (lines: Uint8Array) => watch.passing(lines);
  return relay(source, { passing, ...relayEnds(call, settlement, reading) });
}

/** The events of an upstream of another dialect, written in this one. */
export function writtenBody(
  call: Call,
  chunks: AsyncIterable<ChatChunk>,
  settlement: Settlement,
): ReadableStream<Uint8Array> {
  const writer = new EventWriter();
  let count = 0;
  async function* events() {
    for await (const chunk of chunks) {
      count++;
      const written = writer.take(chunk);
      if (written.length > 0) yield bytesOf(written);
    }
    yield bytesOf(writer.end());
  }
  return eventStream(
    events(),
    writtenEnds(call, settlement, {
      usage: () => writer.usage ?? guessUsage(call.request, count),
      failure: (cause) => failureEvent(cause, call),
    }),
  );
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
