import type { ByteSource } from '../upstream/adapter.ts';

/** A stream of what an iterable gives, taken only as fast as it is read. Leaving the stream ends the iterable. */
export function streamOf(pieces: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  const iterator = pieces[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>(
    {
      async pull(sink) {
        const { value, done } = await iterator.next();
        if (done) sink.close();
        else sink.enqueue(value);
      },
      async cancel() {
        await iterator.return?.();
      },
    },
    { highWaterMark: 0 },
  );
}

/** A stream of what a source gives, taken only as fast as it is read. Leaving the stream cancels the source. */
export function streamOfSource(source: ByteSource): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      async pull(sink) {
        const { value, done } = await source.read();
        if (done || !value) sink.close();
        else sink.enqueue(value);
      },
      cancel: (reason) => source.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}
