import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { editText } from './edit.ts';
import { windowOf } from './lines.ts';

const small = fc.string({ unit: fc.constantFrom('a', 'b', '\n'), maxLength: 60 });

describe('an edit', () => {
  test('replaces by the letter, all or the only one, and says in which lines', () => {
    fc.assert(
      fc.property(
        small,
        fc.string({ unit: fc.constantFrom('a', 'b', '\n'), minLength: 1, maxLength: 3 }),
        small,
        (text, oldText, newText) => {
          fc.pre(oldText !== newText);
          const times = text.split(oldText).length - 1;
          const all = editText(text, { oldText, newText, replaceAll: true });
          const one = editText(text, { oldText, newText, replaceAll: false });
          expect(all.ok).toBe(times > 0);
          expect(one.ok).toBe(times === 1);
          if (!all.ok) return;
          expect(all.text).toBe(text.replaceAll(oldText, () => newText));
          const starts = all.lines.map(
            (line) =>
              text
                .split('\n')
                .slice(0, line - 1)
                .join('\n').length,
          );
          expect(all.lines).toHaveLength(times);
          expect(starts.every((start) => text.indexOf(oldText, Math.max(start - 1, 0)) >= 0)).toBe(true);
          expect(all.lines[0]).toBe(text.slice(0, text.indexOf(oldText)).split('\n').length);
        },
      ),
      { numRuns: 1_000 },
    );
  });

  test.each([
    ['the same texts', 'a', { oldText: 'a', newText: 'a' }, 'are the same'],
    ['a text that is not there', 'a', { oldText: 'b', newText: 'c' }, 'is not in the file; read it again'],
    [
      'other spaces',
      'x\n\tif (a) {\n',
      { oldText: '  if (a) {\n', newText: '' },
      'line 2 is like its beginning',
    ],
    ['a text that is there twice', 'a\na\n', { oldText: 'a', newText: 'b' }, '2 times (lines 1, 2)'],
  ])('with %s says why not', (_, text, edit, why) => {
    const edited = editText(text, { ...edit, replaceAll: false });
    expect(edited.ok ? '' : edited.why).toContain(why);
  });

  test('fits a file with Windows line ends', () => {
    const edited = editText('a\r\nb\r\n', { oldText: 'a\nb', newText: 'c\nd', replaceAll: false });
    expect(edited).toMatchObject({ ok: true, text: 'c\r\nd\r\n' });
  });
});

describe('lines with numbers', () => {
  async function* pieces(text: string, size: number) {
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
  }

  test('are those of the text, however its bytes come', async () => {
    const run = fc.asyncProperty(
      fc.array(fc.constantFrom('', 'a', 'é🙂', 'long'.repeat(20)), { maxLength: 40 }),
      fc.boolean(),
      fc.integer({ min: 1, max: 50 }),
      fc.integer({ min: 1, max: 50 }),
      fc.integer({ min: 1, max: 30 }),
      async (lines, ends, offset, limit, size) => {
        const text = lines.join('\n') + (ends ? '\n' : '');
        const all = text.replace(/\n$/, '').split('\n');
        const total = text === '' ? 0 : all.length;
        const shown = await windowOf(pieces(text, size), offset, limit);
        if (total === 0) expect(shown).toBe('(the file is empty)');
        else if (offset > total)
          expect(shown).toBe(`(the file has ${total} lines; there is no line ${offset})`);
        else {
          const wanted = all.slice(offset - 1, offset - 1 + limit);
          const last = offset + wanted.length - 1;
          const next = last < total ? `; go on with offset ${last + 1}` : '';
          const numbered = wanted.map((line, i) => `${String(offset + i).padStart(6)}\t${line}`);
          expect(shown).toBe(`${numbered.join('\n')}\n(lines ${offset}-${last} of ${total}${next})`);
        }
      },
    );
    await fc.assert(run, { numRuns: 500 });
  });

  test('of an endless line are cut, and nothing grows', async () => {
    const shown = await windowOf(pieces(`${'x'.repeat(5_000_000)}\nend`, 65_536), 1, 10);
    expect(shown.length).toBeLessThan(2_200);
    expect(shown).toContain('(5000000 bytes in this line)');
    expect(shown).toEndWith('     2\tend\n(lines 1-2 of 2)');
  });
});
