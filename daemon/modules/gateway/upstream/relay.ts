import { WholeLines } from './lines.ts';

/** What a relay tells, besides passing bytes on. */
export interface RelayEnds {
  /** The source has ended; `tail` is the end of what it sent, of at least TAIL_BYTES when it was longer. */
  ended(tail: Uint8Array): void;
  /** The source has failed: the bytes to send in its place before closing, or undefined to break off. */
  failed(error: unknown): Uint8Array | undefined;
}

/** Room for the last event of a stream, which reports usage. */
export const TAIL_BYTES = 4096;

type Sink = ReadableStreamDefaultController<Uint8Array>;

/**
 * Passes the lines of a stream on as they come and no faster than they are read. Stopping the reader stops the
 * source. When the source fails, the line that it left open is dropped.
 */
export function relay(source: ReadableStream<Uint8Array>, ends: RelayEnds): ReadableStream<Uint8Array> {
  const reader = source.getReader();
  const lines = new WholeLines();
  const tail = new Tail();
  const finish = (sink: Sink) => {
    const rest = lines.rest();
    if (rest) sink.enqueue(rest);
    ends.ended(tail.bytes());
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
        for (let passing: Uint8Array | undefined; !passing; ) {
          const { value, done } = await reader.read();
          if (done) return finish(sink);
          tail.add(value);
          passing = lines.take(value);
          if (passing) sink.enqueue(passing);
        }
      } catch (error) {
        breakOff(sink, error);
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

/** Keeps the last pieces of a stream, without copying them. */
class Tail {
  private readonly pieces: Uint8Array[] = [];
  private size = 0;

  add(piece: Uint8Array): void {
    this.pieces.push(piece);
    this.size += piece.byteLength;
    while (this.size - (this.pieces[0]?.byteLength ?? 0) >= TAIL_BYTES)
      this.size -= this.pieces.shift()?.byteLength ?? 0;
  }

  bytes(): Uint8Array {
    return Buffer.concat(this.pieces);
  }
}
