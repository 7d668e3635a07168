import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { bounded } from './bounded.ts';

const MOST = 64;

/** What comes through when a text arrives in pieces of these sizes; undefined when it breaks off. */
async function through(text: string, sizes: readonly number[], type: string): Promise<string | undefined> {
  const bytes = Buffer.from(text);
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (let at = 0, i = 0; at < bytes.length; i++) {
        const size = sizes[i % sizes.length] ?? 1;
        controller.enqueue(new Uint8Array(bytes.subarray(at, at + size)));
        at += size;
      }
      controller.close();
    },
  });
  const response = bounded(new Response(body, { headers: { 'content-type': type } }), MOST);
  return response.text().catch(() => undefined);
}

const sizes = fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 8 });

test('a document passes as it is, and breaks off when it is too large, however it comes', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: 2 * MOST }), sizes, async (length, pieces) => {
      const text = 'x'.repeat(length);
      expect(await through(text, pieces, 'application/json')).toBe(length <= MOST ? text : undefined);
    }),
  );
});

test('events are counted each by itself, however they come and whatever ends their lines', async () => {
  const event = fc.tuple(fc.integer({ min: 1, max: 30 }), fc.constantFrom('\n', '\r\n'));
  await fc.assert(
    fc.asyncProperty(fc.array(event, { minLength: 1, maxLength: 40 }), sizes, async (events, pieces) => {
      const text = events.map(([length, end]) => `data: ${'x'.repeat(length)}${end}${end}`).join('');
      expect(await through(text, pieces, 'text/event-stream')).toBe(text);
    }),
  );
});

test.each([
  ['one line', `data: ${'x'.repeat(2 * MOST)}\n\n`],
  ['many lines', 'data: x\n'.repeat(MOST)],
  ['a line without an end', 'x'.repeat(2 * MOST)],
])('an event that is too large breaks off: %s', async (_, text) => {
  expect(await through(text, [7], 'text/event-stream')).toBeUndefined();
});
