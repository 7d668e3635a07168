import { closeSync, createReadStream, createWriteStream, openSync, readSync } from 'node:fs';
import { rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createZstdCompress, createZstdDecompress } from 'node:zlib';
import { flush } from './files.ts';

/** A frame that decompressors pass over (RFC 8878, section 3.1.2): ours holds JSON about what follows. */
const SKIPPABLE = 0x184d2a50;
const FRAME_HEAD = 8;
const LEVEL = 1;
const LARGEST_HEAD = 256 * 1024 * 1024;

/**
 * Writes a stream to a file, compressed with zstd, behind a head of JSON. The file is there as a whole, on the
 * disk, or not at all. Gives its size in bytes. Errors: those of the stream and of the disk.
 */
export async function writePacked(file: string, head: unknown, content: Readable): Promise<number> {
  const part = `${file}.${process.pid}.part`;
  try {
    const json = new TextEncoder().encode(JSON.stringify(head));
    const frame = new Uint8Array(FRAME_HEAD + json.length);
    const view = new DataView(frame.buffer);
    view.setUint32(0, SKIPPABLE, true);
    view.setUint32(4, json.length, true);
    frame.set(json, FRAME_HEAD);
    const out = createWriteStream(part, { mode: 0o600, flags: 'wx' });
    out.write(frame);
    const compress = createZstdCompress({ params: { [constants.ZSTD_c_compressionLevel]: LEVEL } });
    await pipeline(content, compress, out);
    await flush(part);
    await rename(part, file);
    await flush(dirname(file));
    return (await stat(file)).size;
  } finally {
    await rm(part, { force: true });
  }
}

/** The head of a packed file. Errors: ENOENT; Error when it is no packed file. */
export function readHead(file: string): unknown {
  const fd = openSync(file, 'r');
  try {
    const frame = new Uint8Array(FRAME_HEAD);
    readSync(fd, frame);
    const view = new DataView(frame.buffer);
    const size = view.getUint32(4, true);
    if (view.getUint32(0, true) !== SKIPPABLE || size > LARGEST_HEAD)
      throw new Error(`${file} is no archive`);
    const json = new Uint8Array(size);
    if (readSync(fd, json, 0, size, FRAME_HEAD) !== size) throw new Error(`${file} is cut off`);
    return JSON.parse(new TextDecoder().decode(json));
  } finally {
    closeSync(fd);
  }
}

/** What a packed file holds behind its head. */
export function readPacked(file: string): Readable {
  const plain = createZstdDecompress();
  const packed = createReadStream(file);
  packed.on('error', (error) => plain.destroy(error));
  plain.on('close', () => packed.destroy());
  return packed.pipe(plain);
}
