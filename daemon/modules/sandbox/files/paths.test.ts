import { describe, expect, test } from 'bun:test';
import { posix } from 'node:path';
import fc from 'fast-check';
import { ancestorsOf, bare, checkPath, isRoot, nameOf, parentOf, readMode, spellMode } from './paths.ts';

const part = fc.oneof(
  fc.constantFrom('', '.', '..', 'a', 'b c', '…', '-x'),
  fc.string({ minLength: 1, maxLength: 5 }),
);
const anyPath = fc.array(part, { maxLength: 8 }).map((parts) => `/${parts.join('/')}`);

describe('a path', () => {
  test('that is let through never climbs above the root by its own words', () => {
    fc.assert(
      fc.property(anyPath, (path) => {
        let isLet = true;
        try {
          checkPath('path', path);
        } catch (error) {
          isLet = false;
          expect(error).toMatchObject({ code: 'invalid_argument', violations: [{ field: 'path' }] });
        }
        let depth = 0;
        let lowest = 0;
        for (const one of path.split('/')) {
          depth += one === '..' ? -1 : one === '' || one === '.' ? 0 : 1;
          lowest = Math.min(lowest, depth);
        }
        expect(isLet).toBe(lowest >= 0 && !path.includes('\0'));
      }),
      { numRuns: 2_000 },
    );
  });

  test.each([
    ['x', 'absolute'],
    ['', 'empty'],
    ['/../x', 'root'],
    ['/a/../../x', 'root'],
    ['/a\0b', 'NUL'],
    [`/${'ä'.repeat(2050)}`, 'longer'],
    ['~/x', 'absolute'],
  ])('%p is refused: %s', (path, why) => {
    expect(() => checkPath('src', path)).toThrow(why);
    expect(() => checkPath('src', path)).toThrow('src');
  });

  test('has a parent and a name that make it up again', () => {
    fc.assert(
      fc.property(anyPath, (path) => {
        if (isRoot(path)) return;
        const short = bare(path);
        expect(posix.join(parentOf(path), nameOf(path))).toBe(posix.join(short));
        expect(nameOf(path)).not.toInclude('/');
      }),
    );
  });

  test.each([
    ['/', '/'],
    ['//', '/'],
    ['/a//', '/a'],
    ['/a/b', '/a/b'],
  ])('%p is bare as %p', (path, wanted) => {
    expect(bare(path)).toBe(wanted);
  });

  test('has the directories above it from the root down', () => {
    expect(ancestorsOf('/a/b/c')).toEqual(['/a', '/a/b']);
    expect(ancestorsOf('/a')).toEqual([]);
    expect(ancestorsOf('/')).toEqual([]);
  });
});

test('modes are spelled and read the same', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 0o7777 }), (mode) => {
      expect(readMode('mode', spellMode(mode))).toBe(mode);
    }),
  );
  for (const wrong of [789, 80, -1, 77777, 1.5, Number.NaN])
    expect(() => readMode('mode', wrong)).toThrow('mode');
});
