import { describe, expect, test } from 'bun:test';
import { createTwoFilesPatch } from 'diff';
import fc from 'fast-check';
import { readPatch } from './patch.ts';

const line = fc.constantFrom(
  'a',
  'b',
  '',
  ' c',
  '-- d',
  '++ e',
  '@@ f',
  '--- g',
  '\\ h',
  'émile',
  'x y',
  'diff --git',
);
const text = fc
  .tuple(fc.array(line, { maxLength: 30 }), fc.boolean())
  .map(([lines, ends]) => lines.join('\n') + (ends && lines.length > 0 ? '\n' : ''));

const applied = (patch: string, before: string) => readPatch(patch)[0]?.apply(before);

describe('a patch', () => {
  test('made from two texts turns one into the other', () => {
    fc.assert(
      fc.property(text, text, fc.nat(4), (before, after, context) => {
        fc.pre(before !== after);
        const patch = createTwoFilesPatch('a/f', 'b/f', before, after, '', '', { context });
        expect(applied(patch, before)).toBe(after);
      }),
      { numRuns: 500 },
    );
  });

  test('is read with wrong counts in its hunks, as models write them', () => {
    fc.assert(
      fc.property(text, text, fc.nat(50), fc.nat(50), (before, after, one, two) => {
        fc.pre(before !== after);
        const patch = createTwoFilesPatch('a/f', 'b/f', before, after);
        const miscounted = patch.replaceAll(
          /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/gm,
          `@@ -$1,${one} +$2,${two} @@`,
        );
        expect(applied(miscounted, before)).toBe(after);
      }),
      { numRuns: 500 },
    );
  });

  test('never fits a text by accident: what is taken away was there', () => {
    const patch = '--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n';
    expect(applied(patch, 'one\ntwo\n')).toBe('one\n2\n');
    expect(applied(patch, 'zero\none\ntwo\nthree\n')).toBe('zero\none\n2\nthree\n');
    for (const other of ['', 'one\n', 'one\nTwo\n', 'two\none\n'])
      expect(applied(patch, other)).toBeUndefined();
  });

  test('keeps Windows line ends', () => {
    const patch = '--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n';
    expect(applied(patch, 'one\r\ntwo\r\n')).toBe('one\r\n2\r\n');
  });

  test('names its files and what it does to them', () => {
    const patch = [
      'diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b',
      '--- /dev/null\n+++ b/dir/y\n@@ -0,0 +1,1 @@\n+new',
      '--- a/z\t2020-01-01\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-old',
    ].join('\n');
    expect(readPatch(patch).map(({ path, kind }) => [path, kind])).toEqual([
      ['x', 'change'],
      ['dir/y', 'create'],
      ['z', 'delete'],
    ]);
  });

  test.each([
    ['nothing', 'hello', 'has no hunk'],
    ['a file without a name', '@@ -1 +1 @@\n-a\n+b\n', 'without a --- or +++ line'],
    ['a renaming', '--- a/x\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n', 'renames x to y'],
    ['a file twice', '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n'.repeat(2), 'names x twice'],
  ])('with %s is refused', (_, patch, why) => {
    expect(() => readPatch(patch)).toThrow(why);
  });
});
