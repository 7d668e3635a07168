import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { afterOrAt, beforeOrAt, capped, MOST_RESULT_BYTES } from './capped.ts';

const NOTE =
  /\n\[(\d+) of (\d+) bytes are left out; the whole is artifact art_1: read_artifact with offset (\d+) goes on here\]\n/;
const never = () => {
  throw new Error('nothing is to be kept');
};

describe('a capped result', () => {
  test('stays as it is when it is short enough, and nothing is kept', () => {
    const most = 'é'.repeat(MOST_RESULT_BYTES / 2);
    for (const text of ['', 'short', most]) expect(capped(text, never)).toBe(text);
  });

  test('else has its beginning and its end in whole characters, and says what is missing', () => {
    const text = fc
      .array(fc.constantFrom('a', 'é', '€', '🙂', '\n', 'word '), { minLength: 500, maxLength: 2_000 })
      .map((parts) => parts.join('').repeat(60));
    fc.assert(
      fc.property(text, (whole) => {
        fc.pre(Buffer.byteLength(whole) > MOST_RESULT_BYTES);
        const kept: string[] = [];
        const shown = capped(whole, (all) => {
          kept.push(all);
          return 'art_1';
        });
        const [note = '', missing, total, offset] = NOTE.exec(shown) ?? [];
        const [head = '', tail = ''] = shown.split(note);
        expect(Buffer.byteLength(shown)).toBeLessThanOrEqual(MOST_RESULT_BYTES);
        expect(whole.startsWith(head)).toBe(true);
        expect(whole.endsWith(tail)).toBe(true);
        expect(Buffer.byteLength(head)).toBe(Number(offset));
        expect(Number(total)).toBe(Buffer.byteLength(whole));
        expect(Number(missing)).toBe(Number(total) - Buffer.byteLength(head + tail));
        expect(kept).toEqual([whole]);
      }),
      { numRuns: 50 },
    );
  });

  test('says that the whole could not be kept', () => {
    expect(capped('x'.repeat(100_000), () => undefined)).toContain('the whole could not be kept]');
  });
});

test('characters are found around any byte', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), fc.nat(200), (text, place) => {
      const bytes = Buffer.from(text.toWellFormed());
      for (const at of [beforeOrAt(bytes, place), afterOrAt(bytes, Math.min(place, bytes.length))]) {
        const decode = (part: Uint8Array) => new TextDecoder('utf-8', { fatal: true }).decode(part);
        expect(() => [decode(bytes.subarray(0, at)), decode(bytes.subarray(at))]).not.toThrow();
      }
    }),
  );
});
