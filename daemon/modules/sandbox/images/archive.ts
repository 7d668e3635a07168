import { createReadStream, createWriteStream } from 'node:fs';
import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { FileSource } from './byte-source.ts';
import { decompress } from './decompress.ts';
import { type ImageBounds, unusable, type Watch } from './image.ts';
import type { ImageConfig } from './manifest.ts';
import { type Descriptor, object, parseConfig, parseManifest, pickPlatform } from './manifest.ts';
import { BLOCK, readEntries } from './tar.ts';

/** An image in a file of this host, opened: what it is and the streams of its layers, from the lowest up. */
export interface OpenedArchive {
  /** The digest of its configuration; absent for a plain root file system. */
  readonly id?: string;
  readonly config?: ImageConfig;
  readonly layers: ReadonlyArray<() => AsyncIterable<Uint8Array>>;
}

/** Names that archives of images have, as `docker save` and the OCI image layout write them; nothing else. */
const IMAGE_FILE =
  /^(manifest\.json|index\.json|oci-layout|repositories|[0-9a-f]{64}(\.json|\/|\/(VERSION|json|layer\.tar))?|blobs\/?|blobs\/sha256\/?|blobs\/sha256\/[0-9a-f]{64})$/;
const MAX_DOCUMENT = 8 * 1024 * 1024;
const MAX_ENTRIES = 10_000;

interface Part {
  readonly offset: number;
  readonly size: number;
}

/**
 * Opens `.tar`, `.tar.gz` or `.tar.zst`: an archive of `docker save`, an OCI image layout, or a plain root file
 * system. `scratch` is a folder for the archive without its compression. Errors: UnusableImage, ENOENT.
 */
export async function openArchive(
  path: string,
  scratch: string,
  bounds: ImageBounds,
  watch: Watch,
): Promise<OpenedArchive> {
  const plain = await withoutCompression(path, scratch, bounds, watch);
  const parts = await listParts(plain);
  if (!parts) return { layers: [() => createReadStream(plain)] };
  const read = (name: string) => readDocument(plain, parts, name);
  const stream = (name: string) => () => decompress(streamOf(plain, partOf(parts, name)));
  if (parts.has('index.json')) return openLayout(read, stream, bounds);
  return openSaved(read, stream, bounds);
}

type ReadDocument = (name: string) => Promise<unknown>;
type StreamPart = (name: string) => () => AsyncIterable<Uint8Array>;

/** image-spec, image-layout.md: index.json names manifests, these name blobs. */
async function openLayout(
  read: ReadDocument,
  stream: StreamPart,
  bounds: ImageBounds,
): Promise<OpenedArchive> {
  let document = await read('index.json');
  for (let next = pickPlatform(document); next; next = pickPlatform(document))
    document = await read(blob(next));
  const { config, layers } = parseManifest(document, bounds);
  return {
    id: config.digest,
    config: parseConfig(await read(blob(config))),
    layers: layers.map((it) => stream(blob(it))),
  };
}

/** The archive of `docker save`: manifest.json names the configuration and the layers by their paths. */
async function openSaved(
  read: ReadDocument,
  stream: StreamPart,
  bounds: ImageBounds,
): Promise<OpenedArchive> {
  const document = await read('manifest.json');
  const { Config, Layers } = object(Array.isArray(document) ? document[0] : undefined);
  if (typeof Config !== 'string' || !Array.isArray(Layers))
    throw unusable('its manifest.json names no image');
  if (Layers.length > bounds.layers) throw unusable(`it has more than ${bounds.layers} layers`);
  const id = /([0-9a-f]{64})/.exec(Config)?.[1];
  return {
    id: id && `sha256:${id}`,
    config: parseConfig(await read(Config)),
    layers: Layers.map((name) => stream(String(name))),
  };
}

function blob({ digest }: Descriptor): string {
  return `blobs/${digest.replace(':', '/')}`;
}

async function withoutCompression(
  path: string,
  scratch: string,
  bounds: ImageBounds,
  { progress, signal }: Watch,
): Promise<string> {
  const file = await open(path);
  const { size } = await file.stat().finally(() => file.close());
  const plain = join(scratch, 'archive.tar');
  let done = 0;
  let written = 0;
  const counted = async function* () {
    for await (const piece of createReadStream(path) as AsyncIterable<Uint8Array>) {
      done += piece.length;
      progress({ step: 'resolve', done, total: size });
      yield piece;
    }
  };
  const head = await firstBytes(path, BLOCK);
  if (head.length === BLOCK && head.subarray(257, 262).toString() === 'ustar') return path;
  await mkdir(scratch, { recursive: true, mode: 0o700 });
  const bounded = async function* () {
    for await (const piece of decompress(counted())) {
      written += piece.length;
      if (written > bounds.layerBytes) throw unusable(`it unpacks to more than ${bounds.layerBytes} bytes`);
      yield piece;
    }
  };
  await pipeline(Readable.from(bounded()), createWriteStream(plain, { mode: 0o600 }), { signal });
  return plain;
}

async function firstBytes(path: string, length: number): Promise<Buffer> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

/** Where the files of an image's archive are; undefined when it has a file that only a root file system has. */
async function listParts(path: string): Promise<Map<string, Part> | undefined> {
  const file = await open(path);
  try {
    return await scan(file);
  } finally {
    await file.close();
  }
}

async function scan(file: FileHandle): Promise<Map<string, Part> | undefined> {
  const source = new FileSource(file);
  const parts = new Map<string, Part>();
  const links: Array<[from: string, to: string]> = [];
  for await (const entry of readEntries(source)) {
    const name = entry.path.replace(/^\.\//, '');
    if (name === '' || name === '.') continue;
    if (!IMAGE_FILE.test(name) || parts.size > MAX_ENTRIES) return undefined;
    if (entry.kind === 'file') parts.set(name, { offset: source.position, size: entry.size });
    if (entry.kind === 'symlink') links.push([name, join(name, '..', entry.link)]);
    if (entry.kind === 'hardlink') links.push([name, entry.link.replace(/^\.\//, '')]);
    await source.skip(Math.ceil(entry.size / BLOCK) * BLOCK);
  }
  for (const [from, to] of links) {
    const part = parts.get(to);
    if (part) parts.set(from, part);
  }
  return parts.has('manifest.json') || parts.has('index.json') ? parts : undefined;
}

function partOf(parts: ReadonlyMap<string, Part>, name: string): Part {
  const part = parts.get(name);
  if (!part) throw unusable(`it lacks its part ${JSON.stringify(name.slice(0, 100))}`);
  return part;
}

function streamOf(path: string, { offset, size }: Part): AsyncIterable<Uint8Array> {
  if (size === 0) return Readable.from([]);
  return createReadStream(path, { start: offset, end: offset + size - 1 });
}

async function readDocument(path: string, parts: ReadonlyMap<string, Part>, name: string): Promise<unknown> {
  const part = partOf(parts, name);
  if (part.size > MAX_DOCUMENT) throw unusable(`its ${name} is too long`);
  const pieces: Uint8Array[] = [];
  for await (const piece of streamOf(path, part)) pieces.push(piece);
  const text = Buffer.concat(pieces).toString();
  try {
    return JSON.parse(text);
  } catch {
    throw unusable(`its ${name.slice(0, 100)} is not JSON`);
  }
}
