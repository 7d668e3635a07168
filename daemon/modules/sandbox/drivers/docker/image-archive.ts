import { stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { fail } from '../../../../../src/errors/app-error.ts';

/** What a tar holds: images as `docker save` or an OCI layout has them, or one root file system. */
export type ArchiveKind = 'images' | 'rootfs';

const BLOCK = 512;
const MAX_HEADER_BLOCKS = 64;
const IMAGE_ENTRY =
  /^(\.\/)?(blobs\/|oci-layout|index\.json|manifest\.json|repositories|[0-9a-f]{64}(\/|\.json|\.tar))/;

/** A name for this state of the file: it changes when the file is replaced or written. Errors: image_not_found. */
export async function archiveTag(path: string): Promise<string> {
  const info = await stat(path, { bigint: true }).catch(() => undefined);
  if (!info) throw fail('image_not_found', { image: path, why: 'there is no such file' });
  if (!info.isFile()) throw fail('image_not_found', { image: path, why: 'it is no file' });
  const state = [path, info.dev, info.ino, info.size, info.mtimeNs].join('\n');
  return new Bun.CryptoHasher('sha256').update(state).digest('hex').slice(0, 32);
}

/** Looks at the first entry of a tar, plain or compressed with gzip or zstd. Errors: image_not_found. */
export async function archiveKind(path: string): Promise<ArchiveKind> {
  const name = await firstEntry(path).catch(() => undefined);
  if (name === undefined)
    throw fail('image_not_found', {
      image: path,
      why: 'it is no tar, plain or compressed with gzip or zstd',
    });
  return IMAGE_ENTRY.test(name) ? 'images' : 'rootfs';
}

async function firstEntry(path: string): Promise<string | undefined> {
  const head = await readHead(path, BLOCK * MAX_HEADER_BLOCKS);
  for (let at = 0; at + BLOCK <= head.length; ) {
    const header = head.subarray(at, at + BLOCK);
    if (new TextDecoder().decode(header.subarray(257, 262)) !== 'ustar') return undefined;
    const type = String.fromCharCode(header[156] ?? 0);
    const size = Number.parseInt(text(header.subarray(124, 136)), 8);
    const name = text(header.subarray(0, 100));
    const isMeta = 'xgLK'.includes(type) || /^\.\/?$/.test(name);
    if (!isMeta) return name;
    at += BLOCK + Math.ceil((size || 0) / BLOCK) * BLOCK;
  }
  return undefined;
}

async function readHead(path: string, bytes: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of await archiveStream(path)) {
    parts.push(part);
    length += part.length;
    if (length >= bytes) break;
  }
  return Buffer.concat(parts);
}

function compressionOf(magic: Uint8Array): 'gzip' | 'zstd' | undefined {
  const hex = Buffer.from(magic).toString('hex');
  if (hex.startsWith('1f8b')) return 'gzip';
  return hex === '28b52ffd' ? 'zstd' : undefined;
}

function text(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes).replace(/\0.*$/s, '').trim();
}

/** The tar without its compression, for the engine: older ones do not know zstd. */
export async function archiveStream(path: string): Promise<Readable> {
  const magic = new Uint8Array(await Bun.file(path).slice(0, 4).arrayBuffer());
  const format = compressionOf(magic);
  const file = Bun.file(path).stream();
  const plain = format ? file.pipeThrough(new DecompressionStream(format as CompressionFormat)) : file;
  return Readable.fromWeb(plain as unknown as Parameters<typeof Readable.fromWeb>[0]);
}
