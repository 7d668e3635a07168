import { BLOCK, checksum, type TarEntry } from './tar.ts';

const TYPES = { file: '0', hardlink: '1', symlink: '2', directory: '5', other: '0' } as const;
const NAME_LENGTH = 100;
const LARGEST_OCTAL = 8 ** 11 - 1;

/** The header of an entry, made anew from what was understood of it, with a pax header before it where needed. */
export function writeHeader(entry: TarEntry): Uint8Array {
  const records: Array<[string, string]> = [];
  if (byteLength(entry.path) > NAME_LENGTH) records.push(['path', entry.path]);
  if (byteLength(entry.link) > NAME_LENGTH) records.push(['linkpath', entry.link]);
  if (entry.size > LARGEST_OCTAL) records.push(['size', String(entry.size)]);
  const own = block(entry, TYPES[entry.kind]);
  if (records.length === 0) return own;
  const pax = new TextEncoder().encode(records.map(([key, value]) => record(key, value)).join(''));
  const before = block({ ...entry, path: 'pax', link: '', mode: 0o644, size: pax.length }, 'x');
  return concat([before, pax, padding(pax.length), own]);
}

/** What fills content up to a whole block. */
export function padding(size: number): Uint8Array {
  return new Uint8Array((BLOCK - (size % BLOCK)) % BLOCK);
}

/** What ends an archive. */
export function endOfArchive(): Uint8Array {
  return new Uint8Array(2 * BLOCK);
}

function block(entry: TarEntry, type: string): Uint8Array {
  const header = new Uint8Array(BLOCK);
  const put = (at: number, bytes: Uint8Array, length: number) => header.set(bytes.subarray(0, length), at);
  const octal = (at: number, value: number, length: number) =>
    put(at, new TextEncoder().encode(value.toString(8).padStart(length - 1, '0')), length - 1);
  put(0, new TextEncoder().encode(entry.path), NAME_LENGTH);
  octal(100, entry.mode, 8);
  octal(108, entry.uid, 8);
  octal(116, entry.gid, 8);
  octal(124, Math.min(entry.size, LARGEST_OCTAL), 12);
  octal(136, Math.min(entry.mtime, LARGEST_OCTAL), 12);
  put(156, new TextEncoder().encode(type), 1);
  put(157, new TextEncoder().encode(entry.link), NAME_LENGTH);
  put(257, new TextEncoder().encode('ustar\x0000'), 8);
  octal(148, checksum(header), 7);
  return header;
}

/** `<length> <key>=<value>\n`, where the length counts its own digits. */
function record(key: string, value: string): string {
  const rest = ` ${key}=${value}\n`;
  let length = byteLength(rest) + 1;
  while (byteLength(`${length}${rest}`) !== length) length = byteLength(`${length}${rest}`);
  return `${length}${rest}`;
}

function byteLength(text: string): number {
  return new TextEncoder().encode(text).length;
}

function concat(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
