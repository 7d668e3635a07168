import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { addsNothing, digestOf } from './likeness.ts';

test.each([
  ['The user lives in Lisbon.', '  the user LIVES in\nLisbon', true],
  ['“The user lives in Lisbon”', 'The user lives in Lisbon!', true],
  ['The user lives in Lisbon.', 'The user lived in Lisbon.', false],
  ['Pays 1,5', 'Pays 15', false],
])('%j and %j have the same digest: %p', (one, other, same) => {
  expect(digestOf(one) === digestOf(other)).toBe(same);
});

test.each([
  ['User likes green tea', 'The user likes green tea very much', true],
  ['The user likes teal', 'The user likes red', false],
  ['The user likes tea', 'The user does not like tea', false],
  ['The user never drinks tea', 'The user drinks tea', false],
  ["The user doesn't drink tea", 'The user drinks tea', false],
  ['The server has 16 cores', 'The server has 1 cores', false],
  ['The user likes tea with lemon', 'The user likes tea', false],
  ['The teams deploy', 'A team deploys on Tuesday', true],
])('%j adds nothing to %j: %p', (text, older, expected) => {
  expect(addsNothing(text, older)).toBe(expected);
});

test('a text adds nothing to itself, whatever case and spaces it has', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 80 }), (text) => {
      expect(addsNothing(text, text)).toBe(true);
      expect(digestOf(` ${text}\n`)).toBe(digestOf(text));
    }),
  );
});
