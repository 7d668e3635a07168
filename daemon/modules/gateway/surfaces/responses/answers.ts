import { asAppError } from '../../../../../src/errors/app-error.ts';
import { sse } from '../../../../http/sse.ts';
import { eventBytes, eventStream, SSE_HEADERS } from '../../wire/event-stream.ts';
import type { Step } from './making.ts';
import type { Created } from './service.ts';
import type { ResponseEvent } from './wire.ts';

/** The answer over HTTP to a wish for a response. `signal` is aborted when its caller leaves. */
export function answerOf(created: Created, signal: AbortSignal): Response {
  switch (created.kind) {
    case 'whole':
      return Response.json(created.made.response, { headers: merged(created.made.headers, created.headers) });
    case 'stream':
      return new Response(streamOf(created.steps), {
        headers: merged(created.headers, { ...SSE_HEADERS, ...created.more }),
      });
    case 'queued':
      return Response.json(created.response);
    case 'followed':
      return followed(created.events, signal);
  }
}

/** A stream of events that were kept or are still made. */
export function followed(events: AsyncIterable<ResponseEvent>, signal: AbortSignal): Response {
  return sse(named(events), { signal, greets: true });
}

async function* named(events: AsyncIterable<ResponseEvent>) {
  for await (const data of events) yield { event: data.type, data };
}

/** An answer tells of its own failures; what breaks here is a fault of the gateway. */
function streamOf(steps: AsyncGenerator<Step, void>): ReadableStream<Uint8Array> {
  return eventStream(bytesIn(steps), { ended() {}, left() {}, failed: errorEvent });
}

async function* bytesIn(steps: AsyncGenerator<Step, void>): AsyncGenerator<Uint8Array, void> {
  for await (const { bytes } of steps) yield bytes;
}

function errorEvent(cause: unknown): Uint8Array {
  const { code, message } = asAppError(cause);
  return eventBytes(
    JSON.stringify({ type: 'error', code, message, param: null, sequence_number: 0 }),
    'error',
  );
}

function merged(passed: Headers, more: Readonly<Record<string, string>>): Headers {
  const headers = new Headers(passed);
  headers.delete('content-encoding');
  for (const [name, value] of Object.entries(more)) headers.set(name, value);
  return headers;
}
