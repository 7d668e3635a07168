/** Headers of a stream of events; nothing on the way may hold events back. */
export const SSE_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache',
  'x-accel-buffering': 'no',
} as const;

const encoder = new TextEncoder();

/** One event (WHATWG HTML, 9.2). `data` has no line breaks. */
export function eventBytes(data: string, name?: string): Uint8Array {
  return encoder.encode(name === undefined ? `data: ${data}\n\n` : `event: ${name}\ndata: ${data}\n\n`);
}

/** Whom a stream of events tells of its end. Exactly one of them is called, once. */
export interface StreamEnds {
  /** All has been read. */
  ended(): void;
  /** It has failed: the event to send in its place before closing. */
  failed(error: unknown): Uint8Array;
  /** The reader has left. */
  left(): void;
}

/** A stream of ready-made events, made only as fast as it is read. Leaving it ends the source. */
export function eventStream(events: AsyncIterable<Uint8Array>, ends: StreamEnds): ReadableStream<Uint8Array> {
  const iterator = events[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>({
    async pull(sink) {
      try {
        const { value, done } = await iterator.next();
        if (!done) return sink.enqueue(value);
        ends.ended();
      } catch (error) {
        sink.enqueue(ends.failed(error));
      }
      sink.close();
    },
    async cancel() {
      ends.left();
      await iterator.return?.();
    },
  });
}
