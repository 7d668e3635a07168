import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { isMasked, masked } from './mask.ts';

test('a masked key shows at most its last four characters, and short ones nothing', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme-ascii', maxLength: 80 }), (key) => {
      const shown = masked(key).replace(/^\*{4}/, '');
      expect(shown.length).toBeLessThanOrEqual(4);
      if (key.length <= 8) expect(shown).toBe('');
      else expect(key.endsWith(shown)).toBe(true);
    }),
  );
});

test('a masked key is known as one', () => {
  fc.assert(fc.property(fc.string(), (key) => isMasked(masked(key))));
  expect(isMasked(masked(undefined))).toBe(true);
  expect(isMasked('sk-1234****')).toBe(false);
});

test('of a service account nothing is shown', () => {
  expect(masked('{"client_email": "a@b", "private_key": "abcdefghijkl"}')).toBe('****');
});
