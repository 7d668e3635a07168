import type { DirectoryEntry } from '../box-files.ts';
import { decodeName } from './names.ts';
import { brokenServer } from './server-error.ts';

const HEADER = 19;
const KINDS: Readonly<Record<number, DirectoryEntry['kind']>> = {
  0: 'unknown',
  4: 'directory',
  8: 'file',
  10: 'symlink',
};

/** The entries in the answer of getdents64(2), without `.` and `..`. Errors: unavailable when it is damaged. */
export function parseEntries(bytes: Uint8Array): DirectoryEntry[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const entries: DirectoryEntry[] = [];
  for (let at = 0; at < bytes.length; ) {
    if (at + HEADER > bytes.length) throw brokenServer('a directory entry is cut off');
    const length = view.getUint16(at + 16, true);
    if (length <= HEADER || at + length > bytes.length) throw brokenServer('a directory entry has no length');
    const field = bytes.subarray(at + HEADER, at + length);
    const end = field.indexOf(0);
    const name = decodeName(end < 0 ? field : field.subarray(0, end));
    if (name === '' || name.includes('/')) throw brokenServer('a directory entry has no name');
    if (name !== '.' && name !== '..') entries.push({ name, kind: KINDS[view.getUint8(at + 18)] ?? 'other' });
    at += length;
  }
  return entries;
}
