import type { ByteSource } from '../upstream/adapter.ts';

/** Whom passing bytes tell of their end. Exactly one of them is called, once. */
export interface PassEnds {
  ended(): void;
  /** The source has failed; the reader's connection breaks off. */
  failed(error: unknown): void;
  left(): void;
}

/** Passes bytes on as they come and no faster than they are read. Stopping the reader stops the source. */
export function passBytes(source: ByteSource, ends: PassEnds): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    async pull(sink) {
      try {
        const { value, done } = await source.read();
        if (!done && value) return sink.enqueue(value);
        ends.ended();
        sink.close();
      } catch (error) {
        ends.failed(error);
        sink.error(error);
      }
    },
    cancel(reason) {
      ends.left();
      return source.cancel(reason);
    },
  });
}
