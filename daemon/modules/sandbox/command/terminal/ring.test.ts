import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { OutputRing } from './ring.ts';

const readAll = (ring: OutputRing, offset: number, most: number) => {
  const parts: Uint8Array[] = [];
  for (let at = offset; at < ring.end; ) {
    const part = ring.read(at, most);
    expect(part.length).toBeGreaterThan(0);
    parts.push(part);
    at += part.length;
  }
  return Buffer.concat(parts).toString();
};

test('a ring keeps the last bytes and gives them from any offset, however they came', () => {
  const pieces = fc.array(fc.string({ maxLength: 12, unit: 'grapheme-ascii' }));
  fc.assert(
    fc.property(
      pieces,
      fc.integer({ min: 1, max: 20 }),
      fc.nat(),
      fc.integer({ min: 1, max: 5 }),
      (all, limit, at, most) => {
        const ring = new OutputRing(limit);
        for (const piece of all) ring.push(new TextEncoder().encode(piece));
        const text = all.join('');
        expect(ring.end).toBe(text.length);
        expect(ring.start).toBe(Math.max(text.length - limit, 0));
        const offset = ring.start + (at % (ring.end - ring.start + 1));
        expect(readAll(ring, offset, most)).toBe(text.slice(offset));
      },
    ),
  );
});
