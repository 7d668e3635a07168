import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { matches, matchesGlob } from './pattern.ts';

test.each<['exact' | 'prefix' | 'glob', string, string, boolean]>([
  ['exact', 'sandbox_shell', 'sandbox_shell', true],
  ['exact', 'sandbox_shell', 'sandbox_shell2', false],
  ['exact', 'sandbox_*', 'sandbox_shell', false],
  ['exact', 'Web_fetch', 'web_fetch', false],
  ['prefix', 'sandbox_', 'sandbox_shell', true],
  ['prefix', 'sandbox_', 'my_sandbox_shell', false],
  ['glob', 'mcp__*', 'mcp__github__create_issue', true],
  ['glob', 'mcp__*', 'mcp_', false],
  ['glob', 'mcp__*__delete_*', 'mcp__github__delete_repo', true],
  ['glob', 'mcp__*__delete_*', 'mcp__github__list_repos', false],
  ['glob', 'job_?', 'job_1', true],
  ['glob', 'job_?', 'job_12', false],
  ['glob', 'job_?', 'job_', false],
  ['glob', '*', '', true],
  ['glob', '', '', true],
  ['glob', '', 'a', false],
  ['glob', 'a.c', 'abc', false],
  ['glob', '[ab]', 'a', false],
  ['glob', '*ab*ab', 'abxabab', true],
])('%s %s and %s: %p', (mode, pattern, name, expected) => {
  expect(matches(mode, pattern, name)).toBe(expected);
});

/** What a glob means, as plainly as it can be said; it takes exponential time. */
function meant(glob: string, name: string): boolean {
  const [first] = glob;
  if (first === undefined) return name === '';
  const rest = glob.slice(1);
  if (first === '*') return meant(rest, name) || (name !== '' && meant(glob, name.slice(1)));
  return name !== '' && (first === '?' || first === name[0]) && meant(rest, name.slice(1));
}

const letters = (of: string, maxLength: number) => fc.string({ unit: fc.constantFrom(...of), maxLength });

test('a glob matches what its definition says', () => {
  fc.assert(
    fc.property(letters('ab*?', 8), letters('ab', 8), (glob, name) => {
      expect(matchesGlob(glob, name)).toBe(meant(glob, name));
    }),
    { numRuns: 3_000 },
  );
});

test('what is written between stars is no expression: any text matches itself', () => {
  const text = fc.string({ maxLength: 20 }).filter((one) => !/[*?]/.test(one));
  fc.assert(
    fc.property(text, text, text, (before, inside, after) => {
      expect(matchesGlob(`${before}*${after}`, before + inside + after)).toBe(true);
      expect(matchesGlob(inside, inside)).toBe(true);
    }),
  );
});

test('a glob that takes for ever where every star is tried again is answered', () => {
  expect(matchesGlob(`${'a*'.repeat(50)}b`, 'a'.repeat(2_000))).toBe(false);
});
