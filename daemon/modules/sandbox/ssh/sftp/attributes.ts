import { SECOND_MS } from '../../../../../src/kit/time.ts';
import type { DirectoryEntry, FileStat } from '../../files/box-files.ts';
import type { Attributes } from './wire.ts';

/** The type bits of a mode (inode(7)). */
const TYPE_BITS = { file: 0o100000, directory: 0o040000, symlink: 0o120000, other: 0 } as const;
const TYPE_LETTER = { file: '-', directory: 'd', symlink: 'l', other: '?', unknown: '?' } as const;
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const HALF_A_YEAR_MS = 182 * 24 * 3600 * SECOND_MS;

/** A file's attributes as they travel. */
export function toAttributes(stat: FileStat): Attributes {
  return {
    size: stat.size,
    uid: stat.uid,
    gid: stat.gid,
    mode: TYPE_BITS[stat.kind] | stat.mode,
    accessedAt: seconds(stat.accessedAt),
    modifiedAt: seconds(stat.modifiedAt),
  };
}

/** The line of a file as `ls -l` has it, which clients show as it is. */
export function longName({ name, kind }: DirectoryEntry, stat: FileStat | undefined, now: number): string {
  if (!stat) return `${TYPE_LETTER[kind]}?????????    ? ?        ?               ?            ? ${name}`;
  const { uid, gid, size, modifiedAt } = stat;
  const columns = [
    TYPE_LETTER[stat.kind] + permissions(stat.mode),
    '   1',
    String(uid).padEnd(8),
    String(gid).padEnd(8),
    String(size).padStart(12),
    when(modifiedAt, now),
  ];
  return `${columns.join(' ')} ${name}`;
}

function permissions(mode: number): string {
  const triple = (shift: number, special: boolean, letter: string) => {
    const bits = (mode >> shift) & 7;
    const last = special ? (bits & 1 ? letter : letter.toUpperCase()) : bits & 1 ? 'x' : '-';
    return `${bits & 4 ? 'r' : '-'}${bits & 2 ? 'w' : '-'}${last}`;
  };
  return (
    triple(6, (mode & 0o4000) !== 0, 's') +
    triple(3, (mode & 0o2000) !== 0, 's') +
    triple(0, (mode & 0o1000) !== 0, 't')
  );
}

function when(at: number, now: number): string {
  const date = new Date(at);
  const two = (value: number, fill: string) => String(value).padStart(2, fill);
  const day = `${MONTHS[date.getUTCMonth()]} ${two(date.getUTCDate(), ' ')}`;
  const isRecent = Math.abs(now - at) < HALF_A_YEAR_MS;
  const rest = isRecent
    ? `${two(date.getUTCHours(), '0')}:${two(date.getUTCMinutes(), '0')}`
    : ` ${date.getUTCFullYear()}`;
  return `${day} ${rest}`;
}

/** Seconds since 1970, in the 32 bits that there are. */
function seconds(ms: number): number {
  return Math.min(Math.max(Math.floor(ms / SECOND_MS), 0), 0xffff_ffff);
}
