import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { ModelCall } from '../pipeline/call.ts';
import { askedOf, factsIn } from './asked.ts';
import { likeness, printOfText, printOfVector } from './likeness.ts';
import { keyOf } from './request-key.ts';
import { SimilarRequests } from './similar.ts';

describe('MinHash', () => {
  const alike = (one: string, other: string) => likeness(printOfText(one), printOfText(other));

  test('case, marks and spaces do not matter', () => {
    expect(alike('How tall is the mountain?', '  how tall is the MOUNTAIN ')).toBe(1);
  });

  test('a text has much in common with one that differs in a word, and little with another one', () => {
    const long =
      'Tell me in a few sentences how the mountains in the east of the country were made, and when';
    expect(alike(long, long.replace('sentences', 'paragraphs'))).toBeGreaterThan(0.6);
    expect(alike(long, 'What should I cook for seven guests on a warm evening in the garden?')).toBeLessThan(
      0.2,
    );
  });
});

test('what is left out early is never what is looked for', () => {
  const value = fc.double({ min: -1, max: 1, noNaN: true });
  const vectors = fc.array(value, { minLength: 600, maxLength: 600 });
  fc.assert(
    fc.property(vectors, vectors, fc.double({ min: 0, max: 1, noNaN: true }), (a, b, share) => {
      const mixed = a.map((x, place) => x * share + (b[place] ?? 0) * (1 - share));
      const [one, other] = [printOfVector(a), printOfVector(mixed)];
      const whole = likeness(one, other);
      if (whole >= 0.9) expect(likeness(one, other, 0.9)).toBe(whole);
      else expect(likeness(one, other, 0.9)).toBeLessThan(0.9);
    }),
    { numRuns: 100 },
  );
});

test('likeness of vectors is their cosine, and of different lengths nothing', () => {
  const one = printOfVector([3, 4, 0]);
  expect(likeness(one, printOfVector([3, 4, 0]))).toBeCloseTo(1, 5);
  expect(likeness(one, printOfVector([0, 0, 2]))).toBe(0);
  expect(likeness(one, printOfVector([1, 0, 0, 0]))).toBe(0);
  expect(likeness(one, printOfText('text'))).toBe(0);
  expect(likeness(printOfVector([0, 0]), printOfVector([0, 0]))).toBe(0);
});

describe('what makes a question another one', () => {
  test.each([
    ['walk 12 miles', ['12']],
    ['costs 1,299.50 now', ['1,299.50']],
    ["why isn't it not good", ['not', "n't"]],
    ['The war in France and the Alps', ['france', 'alps']],
    ['Nothing of that', []],
  ])('%s', (text, facts) => {
    expect(factsIn(text).toSorted()).toEqual(facts.toSorted());
  });

  const call = (request: object) =>
    ({ caller: { tenant: 't' }, surface: 'chat', headers: new Headers(), request }) as unknown as ModelCall;
  const asked = (messages: object[], more = {}) => askedOf(call({ model: 'm', messages, ...more }), []);
  const user = (content: unknown) => ({ role: 'user', content });

  test('all but the last words of the user is the context', () => {
    const one = asked([{ role: 'system', content: 's' }, user('a b')]);
    expect(one?.text).toBe('a b');
    expect(asked([{ role: 'system', content: 's' }, user('c d')])?.context).toBe(one?.context as string);
    expect(asked([{ role: 'system', content: 'x' }, user('a b')])?.context).not.toBe(one?.context);
    expect(asked([{ role: 'system', content: 's' }, user('a b')], { n: 2 })?.context).not.toBe(one?.context);
  });

  test('a picture beside the words belongs to the context', () => {
    const with_ = (url: string) =>
      asked([user([{ type: 'text', text: 'what is it' }, { image_url: { url } }])]);
    expect(with_('a')?.text).toBe('what is it');
    expect(with_('a')?.context).not.toBe(with_('b')?.context);
  });

  test('a request that ends with the result of a call is found by its key alone', () => {
    expect(asked([user('x'), { role: 'tool', content: 'y' }])).toBeUndefined();
  });
});

describe('the nearest', () => {
  const vector = (angle: number) => printOfVector([Math.cos(angle), Math.sin(angle)]);

  test('is the likest of the same tenant and context, above the threshold', async () => {
    const all = new SimilarRequests();
    all.add('t', 'c', keyOf('far'), vector(0.4));
    all.add('t', 'c', keyOf('near'), vector(0.1));
    all.add('t', 'other', keyOf('wrong context'), vector(0));
    all.add('u', 'c', keyOf('wrong tenant'), vector(0));
    expect(await all.nearest('t', 'c', vector(0), 0.9)).toEqual(keyOf('near'));
    expect(await all.nearest('t', 'c', vector(0), 0.999)).toBeUndefined();
    all.forget('t', keyOf('near'));
    expect(await all.nearest('t', 'c', vector(0), 0.9)).toEqual(keyOf('far'));
    all.clear('t');
    expect(await all.nearest('t', 'c', vector(0), 0.5)).toBeUndefined();
  });

  test('is looked for among a bounded number', () => {
    const all = new SimilarRequests();
    for (let i = 0; i < 10_050; i++) all.add('t', `${i % 3}`, keyOf(`${i}`), vector(i));
    expect(all.count('t')).toBe(10_000);
  });
});
