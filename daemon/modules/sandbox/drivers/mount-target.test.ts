import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { badSubpath, badTarget, conflict } from './mount-target.ts';

describe('a target', () => {
  test.each([
    '/data',
    '/a/b/c',
    '/home/svc/.cache',
    '/workspace/d',
    '/etc/ssl',
    '/runner',
    '/devices',
    '/a+b@c_d-e',
  ])('%s is fine', (path) => expect(badTarget(path)).toBeUndefined());

  test.each([
    ['', 'absolute'],
    ['/', 'absolute'],
    ['data', 'absolute'],
    ['/data/', 'absolute'],
    ['//data', 'absolute'],
    ['/a b', 'absolute'],
    ['/a:b', 'absolute'],
    ['/a\nb', 'absolute'],
    ['/a\0b', 'absolute'],
    ['/a,b', 'absolute'],
    ['/a/./b', '.'],
    ['/a/../b', '..'],
    ['/..', '..'],
    ['/proc', '/proc'],
    ['/proc/self', '/proc'],
    ['/sys/fs', '/sys'],
    ['/dev', '/dev'],
    ['/.svc/x', '/.svc'],
    ['/run/svc', '/run/svc'],
    ['/etc/resolv.conf', '/etc/resolv.conf'],
    [`/${'a'.repeat(2_000)}`, '1024'],
  ])('%j is refused', (path, word) => expect(badTarget(path)).toContain(word));

  test('that is fine is one that joining to a root does not lead out of', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('/', '.', 'a', '-', ' ') }), (path) => {
        fc.pre(badTarget(path) === undefined);
        expect(new URL(`file:///root${path}`).pathname).toBe(`/root${path}`);
        expect(path.split('/').slice(1)).not.toContain('');
      }),
    );
  });
});

describe('a subpath', () => {
  test.each(['a', 'a/b', 'a b', '...', 'é'])('%s is fine', (path) =>
    expect(badSubpath(path)).toBeUndefined(),
  );
  test.each(['', '/', '/a', 'a/', 'a//b', '..', 'a/../b', './a', 'a\0', 'a'.repeat(2_000)])(
    '%j is refused',
    (path) => expect(badSubpath(path)).toBeString(),
  );
});

test.each<[string[], readonly [string, string] | undefined]>([
  [[], undefined],
  [['/a', '/b', '/ab'], undefined],
  [
    ['/a', '/a'],
    ['/a', '/a'],
  ],
  [
    ['/a', '/b', '/a/c'],
    ['/a', '/a/c'],
  ],
  [
    ['/a/c', '/a'],
    ['/a/c', '/a'],
  ],
])('%j lie in each other: %j', (paths, both) => expect(conflict(paths)).toEqual(both));
