/** Headers of a stream of completions; nothing on the way may hold events back. */
export const SSE_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache',
  'x-accel-buffering': 'no',
} as const;

const encoder = new TextEncoder();

/** One event without a name (WHATWG HTML, 9.2). `data` has no line breaks. */
export function eventBytes(data: string): Uint8Array {
  return encoder.encode(`data: ${data}\n\n`);
}

/** A stream with one event for each text, made only as fast as it is read. */
export function eventStream(texts: Iterator<string>): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    pull(controller) {
      const { value, done } = texts.next();
      if (done) controller.close();
      else controller.enqueue(eventBytes(value));
    },
    cancel: () => void texts.return?.(),
  });
}
