import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { spansOf } from './chunks.ts';

const cut = (text: string, size: number) =>
  [...spansOf(text, size)].map(({ start, end }) => text.slice(start, end));

test('a short text is one chunk, without the white space around it', () => {
  expect(cut('  one\n\ntwo \n', 100)).toEqual(['one\n\ntwo']);
  expect(cut(' \n\t ', 100)).toEqual([]);
  expect(cut('', 100)).toEqual([]);
});

test('a text is cut at the ends of paragraphs', () => {
  const paragraphs = ['a', 'b', 'c', 'd'].map((letter) => `${letter.repeat(79)}.`);
  const chunks = cut(paragraphs.join('\n\n'), 100);
  expect(chunks).toEqual(paragraphs);
});

test('without paragraphs it is cut at lines, then sentences, then words', () => {
  const line = 'x'.repeat(70);
  expect(cut(`${line}\n${line}`, 100)).toEqual([line, line]);
  const sentence = `${'y'.repeat(60)}.`;
  expect(cut(`${sentence} ${sentence}`, 100)).toEqual([sentence, sentence]);
  expect(cut(`${'z'.repeat(60)} ${'z'.repeat(60)}`, 100)).toEqual(['z'.repeat(60), 'z'.repeat(60)]);
  expect(cut('q'.repeat(250), 100).map(({ length }) => length)).toEqual([100, 100, 50]);
});

test('a chunk begins with the last words of the one before', () => {
  const words = Array.from({ length: 60 }, (_, i) => `word${i}`).join(' ');
  const chunks = cut(words, 200);
  for (const [i, chunk] of chunks.slice(1).entries()) {
    const first = chunk.split(' ')[0] ?? '';
    const shared = chunks[i]?.slice(chunks[i]?.indexOf(first)) ?? '';
    expect(chunk.startsWith(shared)).toBe(true);
    expect(shared.length).toBeGreaterThan(0);
    expect(shared.length).toBeLessThanOrEqual(25);
  }
});

const piece = fc.oneof(
  fc.constantFrom('\n\n', '\n', ' ', '. ', '\r\n\r\n', '😀', '東京都。', '\t'),
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.lorem({ maxCount: 12 }),
);
const texts = fc.array(piece, { maxLength: 120 }).map((pieces) => pieces.join(''));

test('chunks are in order, not too long, never empty, and cover all but white space', () => {
  fc.assert(
    fc.property(texts, fc.integer({ min: 50, max: 400 }), (text, size) => {
      let covered = 0;
      let before = -1;
      for (const { start, end } of spansOf(text, size)) {
        expect(end - start).toBeGreaterThan(0);
        expect(end - start).toBeLessThanOrEqual(size);
        expect(start).toBeGreaterThan(before);
        if (start > covered) expect(text.slice(covered, start).trim()).toBe('');
        expect(end).toBeGreaterThanOrEqual(covered);
        covered = end;
        before = start;
      }
      expect(text.slice(covered).trim()).toBe('');
    }),
    { numRuns: 400 },
  );
});

test('no chunk ends or begins inside a character', () => {
  const chunks = cut('😀'.repeat(300), 51);
  for (const chunk of chunks) expect(chunk.isWellFormed()).toBe(true);
  expect(chunks.join('')).toBe('😀'.repeat(300));
});
