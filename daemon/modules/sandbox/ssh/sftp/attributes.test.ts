import { expect, test } from 'bun:test';
import type { FileStat } from '../../files/box-files.ts';
import { longName, toAttributes } from './attributes.ts';

const now = Date.UTC(2026, 10, 21, 16);
const times = { modifiedAt: now, accessedAt: now, createdAt: now };
const stat = (more: Partial<FileStat>): FileStat => ({
  kind: 'file',
  size: 12,
  mode: 0o644,
  uid: 1000,
  gid: 1000,
  inode: '1',
  ...times,
  ...more,
});

test.each<[Partial<FileStat>, string]>([
  [{}, '-rw-r--r--'],
  [{ kind: 'directory', mode: 0o1777 }, 'drwxrwxrwt'],
  [{ kind: 'symlink', mode: 0o777 }, 'lrwxrwxrwx'],
  [{ mode: 0o4755 }, '-rwsr-xr-x'],
  [{ mode: 0o2644 }, '-rw-r-Sr--'],
])('a line begins as that of ls -l: %p %s', (more, expected) => {
  expect(longName({ name: 'a', kind: 'file' }, stat(more), now)).toStartWith(expected);
});

test('a line has the time of what is recent, and the year of what is not', () => {
  expect(longName({ name: 'a', kind: 'file' }, stat({}), now)).toEndWith('Nov 21 16:00 a');
  expect(longName({ name: 'a', kind: 'file' }, stat({ modifiedAt: 0 }), now)).toEndWith('Jan  1  1970 a');
});

test('times stay inside the 32 bits that there are', () => {
  const { modifiedAt, accessedAt } = toAttributes(stat({ modifiedAt: -5_000, accessedAt: 1e16 }));
  expect([modifiedAt, accessedAt]).toEqual([0, 0xffff_ffff]);
});
