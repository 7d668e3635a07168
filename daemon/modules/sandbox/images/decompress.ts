import { Readable } from 'node:stream';
import { createGunzip, createZstdDecompress } from 'node:zlib';
import { unusable } from './image.ts';

const GZIP = [0x1f, 0x8b];
const ZSTD = [0x28, 0xb5, 0x2f, 0xfd];

/** A stream without its compression, which its first bytes tell: gzip, zstd or none. The work is done off the event loop. */
export async function* decompress(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const iterator = stream[Symbol.asyncIterator]();
  const first = await iterator.next();
  if (first.done) return;
  const all = prepend(first.value, iterator);
  const decoder = decoderFor(first.value);
  if (!decoder) {
    yield* all;
    return;
  }
  const input = Readable.from(all);
  input.on('error', (error) => decoder.destroy(error));
  input.pipe(decoder);
  try {
    yield* decoder as AsyncIterable<Uint8Array>;
  } catch (error) {
    throw input.errored ?? unusable(`a part of it cannot be decompressed (${String(error)})`);
  } finally {
    input.destroy();
    decoder.destroy();
  }
}

function decoderFor(head: Uint8Array) {
  if (GZIP.every((byte, i) => head[i] === byte)) return createGunzip();
  if (ZSTD.every((byte, i) => head[i] === byte)) return createZstdDecompress();
  return undefined;
}

async function* prepend(first: Uint8Array, rest: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield first;
    for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
  } finally {
    await rest.return?.();
  }
}
