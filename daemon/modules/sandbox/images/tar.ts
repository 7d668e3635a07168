import type { ByteSource } from './byte-source.ts';
import { unusable } from './image.ts';

/** What an entry of a tar archive is. `other` is what images cannot have: devices, pipes, unknown kinds. */
export type EntryKind = 'file' | 'directory' | 'symlink' | 'hardlink' | 'other';

/** An entry of a tar archive (POSIX pax, ustar, and GNU's long names). */
export interface TarEntry {
  readonly path: string;
  readonly link: string;
  readonly kind: EntryKind;
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  /** Seconds since 1970. */
  readonly mtime: number;
  /** Bytes of content that follow. */
  readonly size: number;
}

/** Length of a header, and what content is padded to. */
export const BLOCK = 512;

const MAX_EXTENSION = 1024 * 1024;
const KINDS: Readonly<Record<string, EntryKind>> = {
  '0': 'file',
  '\0': 'file',
  '7': 'file',
  '1': 'hardlink',
  '2': 'symlink',
  '5': 'directory',
};

type Override = Readonly<Partial<Record<string, string>>>;

/**
 * Reads the entries of an archive. After each entry its content is next in the source: the caller takes
 * exactly `size` bytes and then the padding (`skipPadding`). Errors: UnusableImage when it is no archive.
 */
export async function* readEntries(source: ByteSource): AsyncGenerator<TarEntry> {
  let override: Override = {};
  for (;;) {
    const header = await source.read(BLOCK);
    if (header.length === 0 || isZero(header)) return;
    if (header.length < BLOCK) throw unusable('an archive ends too early');
    const raw = parseHeader(header);
    if ('xgLK'.includes(raw.type)) {
      override = { ...override, ...(await readExtension(source, raw)) };
      continue;
    }
    const entry = withOverride(raw, override);
    override = {};
    yield entry;
  }
}

/** Passes over what fills the content of an entry up to a whole block. */
export async function skipPadding(source: ByteSource, size: number): Promise<void> {
  const over = size % BLOCK;
  if (over > 0) await source.skip(BLOCK - over);
}

interface Raw extends TarEntry {
  readonly type: string;
}

function parseHeader(header: Uint8Array): Raw {
  if (number(header, 148, 8) !== checksum(header))
    throw unusable('it is not a tar archive, or a damaged one');
  const type = String.fromCharCode(header[156] ?? 0);
  const prefix = text(header, 257, 5) === 'ustar' && header[262] === 0 ? text(header, 345, 155) : '';
  const name = text(header, 0, 100);
  const kind = name.endsWith('/') && (type === '0' || type === '\0') ? 'directory' : (KINDS[type] ?? 'other');
  const size = number(header, 124, 12);
  return {
    type,
    kind,
    path: prefix ? `${prefix}/${name}` : name,
    link: text(header, 157, 100),
    mode: number(header, 100, 8) & 0o7777,
    uid: number(header, 108, 8),
    gid: number(header, 116, 8),
    mtime: number(header, 136, 12),
    size: contentSize(kind, type, size),
  };
}

/** Links and directories carry no content, whatever their size field says; a pax header of another kind may. */
function contentSize(kind: EntryKind, type: string, size: number): number {
  const hasNone = kind === 'symlink' || kind === 'hardlink' || kind === 'directory' || '346'.includes(type);
  return hasNone ? 0 : size;
}

async function readExtension(source: ByteSource, { type, size }: Raw): Promise<Override> {
  if (size > MAX_EXTENSION) throw unusable('an archive has a header that is too long');
  const bytes = await source.read(size);
  if (bytes.length < size) throw unusable('an archive ends too early');
  await skipPadding(source, size);
  if (type === 'L') return { path: text(bytes, 0, size) };
  if (type === 'K') return { linkpath: text(bytes, 0, size) };
  // Global headers give no names or sizes in images; what they do give is not used.
  return type === 'x' ? paxRecords(bytes) : {};
}

/** Records of the form `<length> <key>=<value>\n`. */
function paxRecords(bytes: Uint8Array): Override {
  const records: Record<string, string> = {};
  for (let at = 0; at < bytes.length; ) {
    const space = bytes.indexOf(0x20, at);
    const length = Number(text(bytes, at, space - at));
    if (space < 0 || !Number.isInteger(length) || length <= space - at || at + length > bytes.length)
      throw unusable('an archive has a damaged header');
    const record = decode(bytes.subarray(space + 1, at + length - 1));
    const equals = record.indexOf('=');
    if (equals > 0) records[record.slice(0, equals)] = record.slice(equals + 1);
    at += length;
  }
  return records;
}

function withOverride(raw: Raw, override: Override): TarEntry {
  if (raw.type === 'S' || Object.keys(override).some((key) => key.startsWith('GNU.sparse.')))
    throw unusable('it has sparse files in a form that is not read here');
  const { type: _, ...entry } = raw;
  const path = override.path ?? raw.path;
  return {
    ...entry,
    path,
    link: override.linkpath ?? raw.link,
    uid: count(override.uid, raw.uid),
    gid: count(override.gid, raw.gid),
    mtime: count(override.mtime, raw.mtime),
    size: contentSize(raw.kind, raw.type, count(override.size, raw.size)),
  };
}

function count(text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise;
  const value = Math.floor(Number(text));
  if (!Number.isSafeInteger(value) || value < 0) throw unusable('an archive has a damaged header');
  return value;
}

function isZero(block: Uint8Array): boolean {
  return block.every((byte) => byte === 0);
}

/** The sum of all bytes of a header, its own field counted as spaces. */
export function checksum(header: Uint8Array): number {
  return header.reduce((sum, byte, i) => sum + (i >= 148 && i < 156 ? 0x20 : byte), 0);
}

/** An octal number, or GNU's binary one when the first bit is set. */
function number(bytes: Uint8Array, at: number, length: number): number {
  const field = bytes.subarray(at, at + length);
  if ((field[0] ?? 0) & 0x80) {
    const value = field.subarray(1).reduce((sum, byte) => sum * 256 + byte, (field[0] ?? 0) & 0x7f);
    if (!Number.isSafeInteger(value)) throw unusable('an archive has a number that is too large');
    return value;
  }
  const digits = text(bytes, at, length).trim();
  if (digits === '') return 0;
  if (!/^[0-7]+$/.test(digits)) throw unusable('it is not a tar archive, or a damaged one');
  return Number.parseInt(digits, 8);
}

function text(bytes: Uint8Array, at: number, length: number): string {
  const field = bytes.subarray(at, at + length);
  const end = field.indexOf(0);
  return decode(end < 0 ? field : field.subarray(0, end));
}

/** Names are bytes; those that are no UTF-8 are kept apart by their Latin-1 reading. */
function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder('latin1').decode(bytes);
  }
}
