import type { ByteSource } from './byte-source.ts';
import { type ImageBounds, unusable } from './image.ts';
import { readEntries, skipPadding, type TarEntry } from './tar.ts';
import { endOfArchive, padding, writeHeader } from './tar-writer.ts';

/** What a layer says beside its files: what it takes away from the layers below. */
export interface LayerMarks {
  /** Paths that are gone. */
  readonly whiteouts: Set<string>;
  /** Directories whose earlier content is gone. */
  readonly opaque: Set<string>;
}

const WHITEOUT = '.wh.';
const OPAQUE = '.wh..wh..opq';
const MAX_PATH = 4_096;
const MAX_NAME = 255;
const MAX_ID = 65_535;

/**
 * Passes on the entries of a layer that are safe to unpack, with headers made anew: nothing that has not been
 * understood here reaches the program that unpacks. Devices and pipes are left out, whiteouts are noted in
 * `marks` (image-spec, layer.md). Errors: UnusableImage for a path that leads out of the layer, for one that
 * goes through a link, for ids that boxes do not have, and for too many entries.
 */
export async function* safeLayer(
  source: ByteSource,
  marks: LayerMarks,
  bounds: ImageBounds,
): AsyncGenerator<Uint8Array> {
  const links = new Set<string>();
  let entries = 0;
  for await (const raw of readEntries(source)) {
    if (++entries > bounds.layerEntries)
      throw unusable(`a layer has more than ${bounds.layerEntries} entries`);
    const entry = safeEntry(raw, links);
    if (!entry || isMark(entry, marks)) {
      await source.skip(raw.size);
      await skipPadding(source, raw.size);
      continue;
    }
    if (entry.kind === 'symlink') links.add(entry.path);
    yield writeHeader(entry);
    yield* content(source, entry.size);
  }
  yield endOfArchive();
}

async function* content(source: ByteSource, size: number): AsyncGenerator<Uint8Array> {
  for (let left = size; left > 0; ) {
    const piece = await source.some(left);
    if (piece.length === 0) throw unusable('an archive ends too early');
    left -= piece.length;
    yield piece;
  }
  await skipPadding(source, size);
  const fill = padding(size);
  if (fill.length > 0) yield fill;
}

/** The entry with its paths in their plain form; undefined for what is left out. */
function safeEntry(raw: TarEntry, links: ReadonlySet<string>): TarEntry | undefined {
  if (raw.kind === 'other') return undefined;
  const path = plainPath(raw.path, links);
  if (path === '') return undefined;
  if (raw.uid > MAX_ID || raw.gid > MAX_ID)
    throw unusable(`${show(raw.path)} belongs to ${raw.uid}:${raw.gid}; boxes have ids up to ${MAX_ID}`);
  if (raw.kind === 'hardlink') return { ...raw, path, link: plainPath(raw.link, links) };
  if (raw.link.includes('\0') || raw.link.length > MAX_PATH)
    throw unusable(`${show(raw.path)} has a bad target`);
  return { ...raw, path };
}

/** A path inside the layer, without `.` and doubled slashes. None of its folders may be a link of this layer. */
function plainPath(path: string, links: ReadonlySet<string>): string {
  const segments = path.split('/').filter((segment) => segment !== '' && segment !== '.');
  if (segments.includes('..') || path.includes('\0')) throw unusable(`${show(path)} leads out of the image`);
  if (path.length > MAX_PATH || segments.some((segment) => segment.length > MAX_NAME))
    throw unusable(`${show(path)} is too long`);
  for (let i = 1; i < segments.length; i++)
    if (links.has(segments.slice(0, i).join('/'))) throw unusable(`${show(path)} goes through a link`);
  return segments.join('/');
}

function isMark({ path }: TarEntry, marks: LayerMarks): boolean {
  const slash = path.lastIndexOf('/');
  const folder = path.slice(0, Math.max(0, slash));
  const name = path.slice(slash + 1);
  if (!name.startsWith(WHITEOUT)) return false;
  const hidden = name.slice(WHITEOUT.length);
  if (name === OPAQUE) marks.opaque.add(folder);
  else if (!hidden.startsWith(WHITEOUT) && !['', '.', '..'].includes(hidden))
    marks.whiteouts.add(folder ? `${folder}/${hidden}` : hidden);
  return true;
}

function show(path: string): string {
  return JSON.stringify(path.length > 80 ? `${path.slice(0, 80)}...` : path);
}
