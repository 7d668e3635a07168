import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { inEncoding } from './encoding.ts';

const answer = (embedding: unknown) =>
  JSON.stringify({ object: 'list', data: [{ object: 'embedding', index: 0, embedding }] });

test('there and back gives the same 32-bit floats', () => {
  // JSON has no negative zero.
  const number = fc.float({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0 || 0);
  fc.assert(
    fc.property(fc.array(number, { minLength: 1, maxLength: 40 }), (values) => {
      const floats = Float32Array.from(values);
      const there = inEncoding(answer(values), 'base64', 'p');
      expect(JSON.parse(there).data[0].embedding).toBe(Buffer.from(floats.buffer).toString('base64'));
      expect(Float32Array.from(JSON.parse(inEncoding(there, 'float', 'p')).data[0].embedding)).toEqual(
        floats,
      );
    }),
  );
});

test('what is in the wanted encoding is not touched', () => {
  const text = `${answer([0.1, 0.2])}  `;
  expect(inEncoding(text, 'float', 'p')).toBe(text);
  expect(inEncoding(answer('AAAA'), 'base64', 'p')).toBe(answer('AAAA'));
});

test.each([
  ['', 'float'],
  ['{}', 'float'],
  ['{"data":[]}', 'base64'],
  ['{"data":{"embedding":"AAAA"}}', 'float'],
  ['{"embedding":[1]', 'base64'],
] as const)('%j has no vectors to give as %s', (text, encoding) =>
  expect(() => inEncoding(text, encoding, 'p')).toThrow('no vectors'),
);
