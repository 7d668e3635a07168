import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openMounted } from './mounted-folder.ts';

const OWNER = process.getuid?.() === 0 ? 4_321 : (process.getuid?.() ?? 0);
let dir: string;
let source: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'svc-folder-'));
  source = join(dir, 'source');
  mkdirSync(source);
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** Where the descriptor leads to. */
const opened = (subpath?: string) => {
  const fd = openMounted({ source, subpath, target: '/x' }, OWNER);
  try {
    return readlinkSync(`/proc/self/fd/${fd}`);
  } finally {
    closeSync(fd);
  }
};

test('a folder is opened and given to the user', () => {
  expect(opened()).toBe(source);
  expect(statSync(source).uid).toBe(OWNER);
});

test('what is missing of a subpath is made, and given to the user', () => {
  expect(opened('a/b')).toBe(join(source, 'a/b'));
  expect(statSync(join(source, 'a/b')).uid).toBe(OWNER);
  expect(opened('a/b')).toBe(join(source, 'a/b'));
});

describe('a subpath is refused, and nothing is made', () => {
  test.each<[string, (at: string) => void]>([
    ['that is a link to the outside', (at) => symlinkSync('/', at)],
    ['that is a link to a folder beside it', (at) => symlinkSync('.', at)],
    ['that is a dangling link', (at) => symlinkSync(join(dir, 'made'), at)],
    ['that is a file', (at) => writeFileSync(at, '')],
  ])('%s', (_, put) => {
    put(join(source, 'in-the-way'));
    expect(() => opened('in-the-way')).toThrow('in-the-way');
    expect(() => opened('in-the-way/below')).toThrow('in-the-way');
    expect(existsSync(join(dir, 'made'))).toBe(false);
  });

  test.each(['..', 'a/../../x', '/etc', ''])('%j', (subpath) => expect(() => opened(subpath)).toThrow());
});

test('a source that is a link is refused', () => {
  const link = join(dir, 'link');
  symlinkSync(source, link);
  expect(() => openMounted({ source: link, target: '/x' }, OWNER)).toThrow();
});
