import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { Tail } from './tail.ts';

test('has the end of what passed, and never much more than it was told to keep', () => {
  const pieces = fc.array(fc.string({ unit: 'binary-ascii', maxLength: 60 }), { maxLength: 30 });
  fc.assert(
    fc.property(pieces, fc.integer({ min: 1, max: 40 }), (list, most) => {
      const tail = new Tail(most);
      for (const piece of list) tail.push(Buffer.from(piece));
      const whole = list.join('');
      expect(whole.endsWith(tail.text())).toBe(true);
      expect(tail.text().length).toBeGreaterThanOrEqual(Math.min(whole.length, most));
      expect(tail.text().length).toBeLessThan(most * 2);
    }),
  );
});
