import type { FileStat } from '../box-files.ts';

/** Size of struct statx (statx(2)). */
export const STATX_SIZE = 256;
/** The basic fields and the time of birth. */
export const STATX_MASK = 0xfff;

const MODE_AT = 28;
const TYPES: ReadonlyMap<number, FileStat['kind']> = new Map([
  [0o100000, 'file'],
  [0o040000, 'directory'],
  [0o120000, 'symlink'],
]);
const HAS_BIRTH = 0x800;

/** What a struct statx says. */
export function parseStatx(bytes: Uint8Array): FileStat {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const mode = view.getUint16(MODE_AT, true);
  const time = (at: number) =>
    Number(view.getBigInt64(at, true)) * 1000 + Math.floor(view.getUint32(at + 8, true) / 1e6);
  const modifiedAt = time(112);
  const hasBirth = (view.getUint32(0, true) & HAS_BIRTH) !== 0;
  return {
    kind: TYPES.get(mode & 0o170000) ?? 'other',
    mode: mode & 0o7777,
    size: Number(view.getBigUint64(40, true)),
    uid: view.getUint32(20, true),
    gid: view.getUint32(24, true),
    accessedAt: time(64),
    createdAt: hasBirth ? time(80) : modifiedAt,
    modifiedAt,
    inode: `${view.getUint32(136, true)}:${view.getUint32(140, true)}:${view.getBigUint64(32, true)}`,
  };
}
