import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { badGitUrl, isBranch } from './git.ts';

test.each([
  'https://example.com/a/b.git',
  'http://example.com/a',
  'ssh://git@example.com/a/b',
  'git@example.com:a/b.git',
  'git://example.com/a',
  'file:///srv/repo',
])('%s can be cloned', (url) => expect(badGitUrl(url)).toBeUndefined());

test.each([
  ['ext::sh -c id', 'clone'],
  ['--upload-pack=id', 'clone'],
  ['/srv/repo', 'clone'],
  ['', 'clone'],
  ['ftp://example.com/a', 'clone'],
  ['git@example.com:-x', 'clone'],
  ['https://token@example.com/a', 'credential'],
  ['https://user:word@example.com/a', 'credential'],
  ['ssh://git:word@example.com/a', 'credential'],
])('%s cannot: it says %s', (url, why) => expect(badGitUrl(url)).toContain(why));

test.each(['main', 'feature/x', 'v1.2.3', 'ünïcode'])('%s is a branch', (name) =>
  expect(isBranch(name)).toBe(true),
);

test.each([
  '',
  '-x',
  '/x',
  'x/',
  'a..b',
  'a b',
  'a~1',
  'x^',
  'a:b',
  '.x',
  'x.',
  '--branch=y',
  'a\nb',
  'a//b',
])('%j is none', (name) => expect(isBranch(name)).toBe(false));

test('no branch is taken for an option, a range or two words', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (name) => {
      fc.pre(isBranch(name));
      return !/^-|\s|\.\.|[~^:?*[\\]/.test(name);
    }),
  );
});
