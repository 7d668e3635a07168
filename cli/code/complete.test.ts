import { expect, test } from 'bun:test';
import { isWhole } from './complete.ts';

test.each([
  ['python', '1 + 1', true],
  ['python', 'f(1,', false],
  ['python', 'f(1,\n2)', true],
  ['python', 'for x in y:', false],
  ['python', 'for x in y:\n  print(x)', false],
  ['python', 'for x in y:\n  print(x)\n', true],
  ['python', 's = """a', false],
  ['python', 's = """a\nb"""', true],
  ['python', 'x = "("', true],
  ['python', 'x = 1 # (', true],
  ['python', "it = 'isn\\'t'", true],
  ['python', '@wraps', false],
  ['javascript', 'function f() {', false],
  ['javascript', 'function f() {\n}', true],
  ['javascript', 'const s = `a', false],
  ['javascript', 'a // {', true],
  ['bash', 'echo "a', false],
  ['bash', 'echo a \\', false],
])('%s: %j is whole: %p', (language, code, whole) => {
  expect(isWhole(code, language)).toBe(whole);
});
