import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { bm25 } from './rank.ts';
import { wordsIn } from './words.ts';

describe('words', () => {
  test.each([
    ['Hello, World!', ['hello', 'world']],
    ["can't stop 3.14 naïve", ["can't", 'stop', '3.14', 'naïve']],
    ['ﬁne ＡＢＣ', ['fine', 'abc']],
    ['東京に住む', ['東京', 'に', '住む']],
    ['  ...\n', []],
    ['', []],
  ])('of %j', (text, words) => expect([...wordsIn(text)]).toEqual(words));

  test('are the same however long the text is before them', () => {
    const text = 'some words here '.repeat(2000);
    expect([...wordsIn(text)]).toHaveLength(6000);
    expect(new Set(wordsIn(text))).toEqual(new Set(['some', 'words', 'here']));
  });
});

const scoresOf = async (query: string, documents: string[], options = {}) =>
  (await bm25(query, documents, options)).scores.map(({ relevanceScore }) => relevanceScore);

describe('bm25', () => {
  // Three documents of 3, 3 and 6 words, 4 on average; k1 = 1.2, b = 0.75.
  const documents = ['apple banana cherry', 'apple apple date', 'egg fig grape hazel iris juniper'];

  test('gives what is computed by hand', async () => {
    // apple stands in 2 of 3 documents: idf = ln(1 + 1.5/2.5) = 0.470004; date in 1: ln(1 + 2.5/1.5) = 0.980829.
    // Documents of 3 words: damping = 1.2 x (0.25 + 0.75 x 3/4) = 0.975.
    // most = (0.470004 + 0.980829) x 2.2 = 3.191833
    // first: 0.470004 x 1 x 2.2 / 1.975 = 0.523549; second: 0.470004 x 2 x 2.2 / 2.975 + 0.980829 x 2.2 / 1.975 = 1.787697
    const [first, second, third] = await scoresOf('apple date', documents);
    expect(first).toBeCloseTo(0.523549 / 3.191833, 5);
    expect(second).toBeCloseTo(1.787697 / 3.191833, 5);
    expect(third).toBe(0);
  });

  test('lets words that no document has lower every score', async () => {
    const [known = 0] = await scoresOf('apple', documents);
    const [mixed = 0] = await scoresOf('apple zebra', documents);
    expect(mixed).toBeLessThan(known);
    expect(await scoresOf('zebra', documents)).toEqual([0, 0, 0]);
  });

  test('puts the shorter of two documents first, and the one with the rarer word', async () => {
    const [short = 0, long = 0] = await scoresOf('fox', ['a fox', 'a fox in a very long sentence']);
    expect(short).toBeGreaterThan(long);
    const [common = 0, rare = 0] = await scoresOf('the fox', ['the cat', 'a fox', 'the dog', 'the owl']);
    expect(rare).toBeGreaterThan(common);
  });

  test('reads so many words of each document', async () => {
    expect(await scoresOf('date', documents, { mostWords: 2 })).toEqual([0, 0, 0]);
    expect((await bm25('date', documents, { mostWords: 2 })).words).toBe(1 + 2 * 3);
  });

  test('has scores from 0 up to 1, the same every time, whatever the texts are', async () => {
    const text = fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom('a b', 'b', 'a a a', ''));
    await fc.assert(
      fc.asyncProperty(text, fc.array(text, { minLength: 1, maxLength: 8 }), async (query, list) => {
        const scores = await scoresOf(query, list);
        expect(scores).toHaveLength(list.length);
        for (const score of scores) expect(score >= 0 && score < 1).toBe(true);
        expect(await scoresOf(query, list)).toEqual(scores);
      }),
      { numRuns: 300 },
    );
  });

  test('gives way to others on the way, and stops when nobody waits for it any more', async () => {
    const large = Array.from({ length: 40 }, (_, i) => `word${i} and others `.repeat(2000));
    let turns = 0;
    const counting = setInterval(() => turns++, 1);
    await bm25('word1 word2', large);
    clearInterval(counting);
    expect(turns).toBeGreaterThan(2);
    const leaving = new AbortController();
    const work = bm25('word1', large, { signal: leaving.signal });
    leaving.abort(new Error('left'));
    await expect(work).rejects.toThrow('left');
  });
});
