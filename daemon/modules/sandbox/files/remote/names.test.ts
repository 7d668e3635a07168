import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { decodeName, encodeName } from './names.ts';

test('any bytes are a name, and the name gives the same bytes', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
      expect([...encodeName(decodeName(bytes))]).toEqual([...bytes]);
    }),
    { numRuns: 2_000 },
  );
});

test('text is its UTF-8', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      expect([...encodeName(text)]).toEqual([...new TextEncoder().encode(text)]);
      expect(decodeName(new TextEncoder().encode(text))).toBe(text);
    }),
  );
});

test.each([
  ['a byte that begins nothing', [0x61, 0xff, 0x62], 'a\udcffb'],
  ['a sequence that is cut off', [0xe2, 0x82], '\udce2\udc82'],
  ['an overlong slash', [0xc0, 0xaf], '\udcc0\udcaf'],
  ['a byte order mark', [0xef, 0xbb, 0xbf, 0x61], '\ufeffa'],
])('%s is kept', (_, bytes, name) => {
  expect(decodeName(Uint8Array.from(bytes))).toBe(name);
});
