import { expect, test } from 'bun:test';
import { addressText } from './wire.ts';

test.each([
  [[127, 0, 0, 1], '127.0.0.1'],
  [[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], '::'],
  [[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1], '::1'],
  [[0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x1a], 'fe80::1a'],
])('%j is written as %s', (octets, text) => {
  expect(addressText(new Uint8Array(octets))).toBe(text);
});
