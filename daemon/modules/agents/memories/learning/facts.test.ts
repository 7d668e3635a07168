import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { readFacts } from './facts.ts';

const lisbon = {
  factKey: 'user.home_city',
  content: 'The user lives in Lisbon.',
  type: 'fact',
  confidence: 0.9,
};
const json = JSON.stringify({ facts: [lisbon] });

describe('an answer is read', () => {
  test.each([
    ['plain', json],
    ['in a fence', `Here you are:\n\`\`\`json\n${json}\n\`\`\`\nAnything else?`],
    ['with words around it', `I found one. ${json} That is all.`],
    ['as a list', JSON.stringify([lisbon])],
    ['as memories', JSON.stringify({ memories: [lisbon] })],
    [
      'with another form of key',
      JSON.stringify([{ ...lisbon, factKey: undefined, fact_key: 'User.Home City' }]),
    ],
    ['with a number as text', JSON.stringify([{ ...lisbon, confidence: '0.9' }])],
  ])('%s', (_, answer) => {
    expect(readFacts(answer)).toEqual([
      { ...lisbon, type: 'fact', factKey: answer.includes('Home City') ? 'user.home_city' : lisbon.factKey },
    ]);
  });
});

test.each(['', 'Nothing to keep.', '{"facts": ', '{"other": []}', '42', 'null'])(
  '%j is no answer',
  (answer) => {
    expect(() => readFacts(answer)).toThrow('did not answer with a list of facts');
  },
);

test('what is no fact is left out, and so is what holds a secret', () => {
  const odd = [null, 7, 'text', {}, { content: '' }, { content: 5 }, { content: 'x'.repeat(1_001) }];
  const secret = { ...lisbon, content: 'The key of the user is sk-abcdefgh12345678.' };
  expect(readFacts(JSON.stringify([...odd, secret, lisbon]))).toHaveLength(1);
});

test('of several facts with one key the last counts, and twenty at most are kept', () => {
  const moved = { ...lisbon, content: 'The user lives in Porto.' };
  expect(readFacts(JSON.stringify([lisbon, moved])).map(({ content }) => content)).toEqual([moved.content]);
  const many = Array.from({ length: 30 }, (_, i) => ({ content: `fact ${i}` }));
  expect(readFacts(JSON.stringify(many))).toHaveLength(20);
});

test('whatever a model answers, facts have the form that can be stored, or there are none', () => {
  fc.assert(
    fc.property(fc.json(), (value) => {
      let facts: ReturnType<typeof readFacts> = [];
      try {
        facts = readFacts(value);
      } catch (error) {
        expect((error as Error).message).toContain('did not answer');
      }
      for (const { content, factKey, confidence, type } of facts) {
        expect(content.trim()).not.toBe('');
        expect(factKey.length).toBeLessThanOrEqual(128);
        expect(confidence >= 0 && confidence <= 1).toBe(true);
        expect(['fact', 'instruction']).toContain(type);
      }
    }),
  );
});

test('keys that models make up become keys that are allowed', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (factKey) => {
      const [fact] = readFacts(JSON.stringify([{ ...lisbon, factKey }]));
      expect(fact?.factKey).toMatch(/^$|^[\p{L}\p{N}][\p{L}\p{M}\p{N}._:/@-]*$/u);
    }),
  );
});
