import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { relay } from './relay.ts';

const stream = (...pieces: Uint8Array[]) =>
  new ReadableStream<Uint8Array>({
    pull(controller) {
      const next = pieces.shift();
      if (next) controller.enqueue(next);
      else controller.close();
    },
  }).getReader();

const ends = { ended() {}, left() {}, failed: (): Uint8Array | undefined => undefined };

test('passes every byte on unchanged', async () => {
  const byte = fc.oneof(fc.constant(10), fc.integer({ min: 0, max: 255 }));
  const piece = fc.array(byte, { minLength: 1, maxLength: 1500 }).map((bytes) => Uint8Array.from(bytes));
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 20 }), async (pieces) => {
      const whole = Buffer.concat(pieces);
      const body = relay(stream(...pieces), ends);
      expect(Buffer.from(await new Response(body).arrayBuffer())).toEqual(whole);
    }),
    { numRuns: 200 },
  );
});

test('shows whole lines to whoever looks, and passes what that lets through', async () => {
  const seen: string[] = [];
  const pieces = ['a\nb', 'c\n', 'd'].map((text) => new TextEncoder().encode(text));
  const passing = (lines: Uint8Array) => {
    const text = new TextDecoder().decode(lines);
    seen.push(text);
    return text.startsWith('a') ? undefined : lines;
  };
  expect(await new Response(relay(stream(...pieces), { ...ends, passing })).text()).toBe('bc\nd');
  expect(seen).toEqual(['a\n', 'bc\n', 'd']);
});

test('a line that a failing source left open is dropped; the lines before it are not', async () => {
  const pieces = ['data: {"a":', '1}\n\ndata: {"b"', ':2}\n\nda', 'ta: {"c'].map((text) =>
    new TextEncoder().encode(text),
  );
  const source = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const next = pieces.shift();
      if (next) controller.enqueue(next);
      else controller.error(new Error('gone'));
    },
  });
  const body = relay(source.getReader(), { ...ends, failed: () => new TextEncoder().encode('end') });
  expect(await new Response(body).text()).toBe('data: {"a":1}\n\ndata: {"b":2}\n\nend');
});

test('a line without an end is held back only so far', async () => {
  const piece = new Uint8Array(600_000).fill(65);
  const reader = relay(stream(piece, piece, piece), ends).getReader();
  expect((await reader.read()).value?.byteLength).toBe(1_200_000);
  expect((await reader.read()).value?.byteLength).toBe(600_000);
  expect((await reader.read()).done).toBe(true);
});

test('a source that fails is closed with the last words given for it, or breaks off without', async () => {
  const failing = () =>
    new ReadableStream<Uint8Array>({
      pull(controller) {
        controller.error(new Error('gone'));
      },
    }).getReader();
  const words = new TextEncoder().encode('sorry');
  const ended = () => {
    throw new Error('it did not end');
  };
  expect(await new Response(relay(failing(), { ...ends, ended, failed: () => words })).text()).toBe('sorry');
  const broken = new Response(relay(failing(), { ...ends, ended })).text();
  expect(await broken.catch((error: Error) => error.message)).toBe('gone');
});

test('a reader that leaves stops the source, and that is told', async () => {
  let stopped = false;
  let left = 0;
  const source = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(new Uint8Array(1)),
    cancel: () => {
      stopped = true;
    },
  });
  const reader = relay(source.getReader(), { ...ends, left: () => left++ }).getReader();
  await reader.read();
  await reader.cancel();
  expect(stopped).toBe(true);
  expect(left).toBe(1);
});
