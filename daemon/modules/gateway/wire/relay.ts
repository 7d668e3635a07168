import type { ByteSource } from '../upstream/adapter.ts';
import { WholeLines } from './whole-lines.ts';

/** What a relay does with what passes, and whom it tells of the end. Exactly one of the last three is called, once. */
export interface RelayEnds {
  /** Looks at whole lines on their way; answers those that pass, or undefined when none do. */
  passing?(lines: Uint8Array): Uint8Array | undefined;
  /** Bytes that the reader gets besides when the source has ended; told before `ended`. */
  last?(): Uint8Array | undefined;
  /** The source has ended. */
  ended(): void;
  /** The source has failed: the bytes to send in its place before closing, or undefined to break off. */
  failed(error: unknown): Uint8Array | undefined;
  /** The reader has left. */
  left(): void;
}

type Sink = ReadableStreamDefaultController<Uint8Array>;

/**
 * Passes the lines of a source on as they come and no faster than they are read. Stopping the reader stops the
 * source. When the source fails, the line that it left open is dropped.
 */
export function relay(source: ByteSource, ends: RelayEnds): ReadableStream<Uint8Array> {
  const lines = new WholeLines();
  const passing = (piece: Uint8Array | undefined) => (piece && ends.passing ? ends.passing(piece) : piece);
  const finish = (sink: Sink) => {
    const rest = passing(lines.rest());
    if (rest) sink.enqueue(rest);
    const last = ends.last?.();
    if (last) sink.enqueue(last);
    ends.ended();
    sink.close();
  };
  const breakOff = (sink: Sink, error: unknown) => {
    const last = ends.failed(error);
    if (!last) return sink.error(error);
    sink.enqueue(last);
    sink.close();
  };
  return new ReadableStream<Uint8Array>({
    async pull(sink) {
      try {
        for (;;) {
          const { value, done } = await source.read();
          if (done || !value) return finish(sink);
          const piece = passing(lines.take(value));
          if (piece) return sink.enqueue(piece);
        }
      } catch (error) {
        breakOff(sink, error);
      }
    },
    cancel(reason) {
      ends.left();
      return source.cancel(reason);
    },
  });
}
