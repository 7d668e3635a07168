import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadAll, makeProgram } from '../../program.ts';
import { recordedTerminal } from '../../testing/terminal.ts';
import { SHELLS, scriptFor } from './scripts.ts';
import { describeTree, type Place } from './words.ts';

let places: readonly Place[];
let dir: string;

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'svc-cli-completion-'));
  const program = makeProgram({ terminal: recordedTerminal(), env: {} });
  await loadAll(program);
  places = describeTree(program);
  for (const shell of SHELLS) writeFileSync(join(dir, shell), scriptFor(shell)?.(places) ?? '');
});

afterAll(() => rmSync(dir, { recursive: true }));

function run(...command: string[]): string[] {
  const { stdout, stderr } = Bun.spawnSync(command);
  expect(stderr.toString()).toBe('');
  return stdout.toString().split('\n').filter(Boolean);
}

/** What bash would offer after these words, the last of which is being typed. */
function bashOffers(...words: string[]): string[] {
  const set = `COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}`;
  return run(
    'bash',
    '--norc',
    '-c',
    `source ${join(dir, 'bash')}; ${set}; _svc; printf '%s\\n' "\${COMPREPLY[@]}"`,
  );
}

describe('bash', () => {
  const cases: Array<[words: string[], offers: string[]]> = [
    [['svc', 'sand'], ['sandbox']],
    [['svc', 'sandbox', 'rec'], ['recreate']],
    [
      ['svc', 'sandbox', 'create', '--net'],
      ['--network', '--network-mode', '--network-block-all'],
    ],
    [['svc', 'sandbox', 'exec', 'box', '--cw'], ['--cwd']],
    [['svc', 'sandbox', 'exec', 'box', '--', '--cw'], []],
    [['svc', '--context', 'x', 'context', 'a'], ['add']],
    [
      ['svc', 'key', 'revoke', '--api-'],
      ['--api-url', '--api-key'],
    ],
  ];
  test.each(cases)('%p', (words, offers) => {
    expect(bashOffers(...words)).toEqual(offers);
  });
});

test.skipIf(!Bun.which('fish'))('fish offers commands and options of the place', () => {
  const offers = (line: string) =>
    run('fish', '--no-config', '-c', `source ${join(dir, 'fish')}; complete -C '${line}'`).map(
      (text) => text.split('\t')[0],
    );
  expect(offers('svc sandbox re')).toEqual(expect.arrayContaining(['recreate', 'revive']));
  expect(offers('svc sandbox create --netw')).toContain('--network-mode');
  expect(offers('svc sta')).toEqual(['status']);
});

test.skipIf(!Bun.which('zsh'))('zsh accepts the script and finds the place', () => {
  const script = `
    compdef() { :; }
    _describe() { print -l -- \${(P)2%%:*}; }
    source ${join(dir, 'zsh')}
    words=(svc sandbox re); CURRENT=3; _svc`;
  expect(run('zsh', '-f', '-c', script)).toContain('revive');
});

test('every command has a summary, examples and a place', () => {
  const leaves = places.filter(({ commands }) => commands.length === 0);
  expect(leaves.length).toBeGreaterThan(30);
  for (const { path, options } of leaves)
    expect([path, options.some(({ word }) => word === '--help')]).toEqual([path, true]);
  for (const { commands } of places) for (const { about } of commands) expect(about).not.toBe('');
});
