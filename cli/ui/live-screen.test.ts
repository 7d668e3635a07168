import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { shownBy } from '../testing/screen.ts';
import { recordedTerminal } from '../testing/terminal.ts';
import { type LiveLines, LiveScreen, wrap } from './live-screen.ts';

function screenOf(columns = 20) {
  const terminal = recordedTerminal(true, columns);
  const screen = new LiveScreen(terminal.out);
  return { screen, shown: () => shownBy(terminal.out.text(), columns) };
}

const typing = (typed: string, cursor = typed.length, status?: string): LiveLines => ({
  status,
  prompt: '> ',
  typed,
  cursor,
});

describe('a screen with live lines', () => {
  test('keeps them below what is said, piece by piece', () => {
    const { screen, shown } = screenOf();
    screen.show(typing('hel', 1, 'works'));
    for (const piece of ['One ', 'two\nthr', 'ee']) screen.text(piece);
    expect(shown()).toEqual({ rows: ['One two', 'three', 'works', '> hel'], row: 3, column: 3 });
    screen.line('✓ done');
    screen.show(typing(''));
    expect(shown()).toEqual({ rows: ['One two', 'three', '✓ done', '>'], row: 3, column: 2 });
    screen.close();
    expect(shown()).toEqual({ rows: ['One two', 'three', '✓ done', ''], row: 3, column: 0 });
  });

  test('wraps between words, and moves a word that grows too long', () => {
    const { screen, shown } = screenOf(10);
    for (const piece of ['hello wor', 'ld', ' again', 'stthelimit']) screen.text(piece);
    screen.close();
    expect(shown().rows).toEqual(['hello', 'world', 'againstthe', 'limit', '']);
  });

  test('shows a long line that is typed over several rows, around its cursor', () => {
    const { screen, shown } = screenOf(10);
    screen.show(typing('abcdefghijklmnop', 8));
    expect(shown()).toEqual({ rows: ['> abcdefgh', 'ijklmnop'], row: 1, column: 0 });
    screen.show(typing('abc'));
    expect(shown()).toEqual({ rows: ['> abc'], row: 0, column: 5 });
  });

  test('a status that is too long is cut', () => {
    const { screen, shown } = screenOf(10);
    screen.show(typing('', 0, 'x'.repeat(30)));
    expect(shown().rows[0]).toBe('xxxxxxxx…');
  });

  const word = fc.stringMatching(/^[a-z]{1,14}$/);
  const step = fc.oneof(
    fc.array(fc.constantFrom('a', 'bc', ' ', '\n', 'defghijklmn'), { maxLength: 6 }).map((parts) => ({
      text: parts.join(''),
    })),
    word.map((line) => ({ line })),
    fc.tuple(word, fc.option(word, { nil: undefined })).map(([typed, status]) => ({
      live: typing(typed, typed.length, status),
    })),
  );

  test('loses nothing that was said and leaves nothing behind, whatever comes when', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), fc.integer({ min: 8, max: 40 }), (steps, columns) => {
        const { screen, shown } = screenOf(columns);
        let said = '';
        for (const one of steps) {
          if ('text' in one) screen.text(one.text);
          else if ('line' in one) screen.line(one.line);
          else screen.show(one.live);
          if ('text' in one) said += one.text;
          if ('line' in one) said += `${said === '' || said.endsWith('\n') ? '' : '\n'}${one.line}\n`;
        }
        screen.close();
        const bare = (text: string) => text.replace(/[ \n]/g, '');
        expect(bare(shown().rows.join('\n'))).toBe(bare(said));
        expect(shown().rows.at(-1)).toBe('');
      }),
      { numRuns: 300 },
    );
  });
});

test.each([
  ['short', ['short']],
  ['one two three', ['one two', 'three']],
  ['箱子箱子箱子', ['箱子箱子', '箱子']],
] as const)('%p in rows of 8', (line, rows) => {
  expect(wrap(line, 8)).toEqual([...rows]);
});
