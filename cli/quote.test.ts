import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { shellLine } from './quote.ts';

/** What a real shell makes of a command line: the arguments that its program gets. */
function argumentsInShell(line: string): string[] {
  const { stdout } = Bun.spawnSync(['sh', '-c', `printf '%s\\0' ${line}`]);
  return stdout.toString('utf8').split('\0').slice(0, -1);
}

test('a shell reads back every argument as it was', () => {
  const nasty = fc.constantFrom(
    "'",
    '"',
    '\\',
    '$HOME',
    '`id`',
    '\n',
    ' ',
    '*',
    ';',
    '&&',
    '-n',
    '',
    'é',
    '{a,b}',
    '!',
    '~',
  );
  const argument = fc.oneof(
    nasty,
    fc.array(nasty).map((parts) => parts.join('')),
    fc.string().filter((text) => !text.includes('\0')),
  );
  fc.assert(
    fc.property(fc.array(argument, { minLength: 1, maxLength: 6 }), (argv) => {
      expect(argumentsInShell(shellLine(argv))).toEqual(argv);
    }),
    { numRuns: 60 },
  );
});

test.each([
  [['make', 'test'], 'make test'],
  [['echo', "it's"], "echo 'it'\\''s'"],
  [['sh', '-c', 'echo $HOME'], "sh -c 'echo $HOME'"],
  [['touch', ''], "touch ''"],
])('%p is written %p', (argv, line) => {
  expect(shellLine(argv)).toBe(line);
});
