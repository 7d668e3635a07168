import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { JsonEnd } from './json-end.ts';

test('an object is complete with its last brace, and not before', () => {
  const object = fc.dictionary(fc.string(), fc.jsonValue(), { noNullPrototype: true });
  fc.assert(
    fc.property(object, fc.integer({ min: 1, max: 9 }), (value, size) => {
      const json = JSON.stringify(value);
      const end = new JsonEnd();
      for (let at = 0; at < json.length; at += size) {
        expect(end.isComplete).toBe(false);
        end.add(json.slice(at, at + size));
      }
      expect(end.isComplete).toBe(true);
    }),
  );
});

test('nothing is no object', () => {
  const end = new JsonEnd();
  end.add(' \n');
  expect(end.isComplete).toBe(false);
});
