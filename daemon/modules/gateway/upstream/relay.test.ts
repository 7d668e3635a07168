import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { relay, TAIL_BYTES } from './relay.ts';
import { usageInEvents, usageInText } from './usage.ts';

const stream = (...pieces: Uint8Array[]) =>
  new ReadableStream<Uint8Array>({
    pull(controller) {
      const next = pieces.shift();
      if (next) controller.enqueue(next);
      else controller.close();
    },
  });

test('passes every byte on unchanged, and keeps the end of what passed', async () => {
  const byte = fc.oneof(fc.constant(10), fc.integer({ min: 0, max: 255 }));
  const piece = fc.array(byte, { minLength: 1, maxLength: 1500 }).map((bytes) => Uint8Array.from(bytes));
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 20 }), async (pieces) => {
      let tail = new Uint8Array();
      const whole = Buffer.concat(pieces);
      const body = relay(stream(...pieces), {
        ended: (bytes) => (tail = new Uint8Array(bytes)),
        failed: () => undefined,
      });
      expect(Buffer.from(await new Response(body).arrayBuffer())).toEqual(whole);
      expect(tail.length).toBeGreaterThanOrEqual(Math.min(whole.length, TAIL_BYTES));
      expect(Buffer.from(tail)).toEqual(whole.subarray(whole.length - tail.length));
    }),
    { numRuns: 200 },
  );
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
  const body = relay(source, { ended() {}, failed: () => new TextEncoder().encode('end') });
  expect(await new Response(body).text()).toBe('data: {"a":1}\n\ndata: {"b":2}\n\nend');
});

test('a line without an end is held back only so far', async () => {
  const piece = new Uint8Array(600_000).fill(65);
  const reader = relay(stream(piece, piece, piece), { ended() {}, failed: () => undefined }).getReader();
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
    });
  const words = new TextEncoder().encode('sorry');
  const ended = () => {
    throw new Error('it did not end');
  };
  expect(await new Response(relay(failing(), { ended, failed: () => words })).text()).toBe('sorry');
  const broken = new Response(relay(failing(), { ended, failed: () => undefined })).text();
  expect(await broken.catch((error: Error) => error.message)).toBe('gone');
});

test('a reader that leaves stops the source', async () => {
  let stopped = false;
  const source = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(new Uint8Array(1)),
    cancel: () => {
      stopped = true;
    },
  });
  const reader = relay(source, { ended() {}, failed: () => undefined }).getReader();
  await reader.read();
  await reader.cancel();
  expect(stopped).toBe(true);
});

test('usage is read from a whole answer and from the last events of a stream', () => {
  const usage = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 };
  const counted = { input: 3, output: 4 };
  expect(usageInText(JSON.stringify({ choices: [], usage }))).toEqual(counted);
  const last = `data: ${JSON.stringify({ choices: [], usage })}`;
  expect(usageInEvents(`cut": 1}\n\n${last}\n\ndata: [DONE]\n\n`)).toEqual(counted);
  expect(usageInEvents(`${last}\r\n\r\ndata: [DONE]\r\n\r\n`)).toEqual(counted);
});

test('there is no usage where none was reported', () => {
  for (const text of [
    '',
    'null',
    '[]',
    '{}',
    '{"usage":null}',
    '{"usage":{"prompt_tokens":"3"}}',
    '{"usage":',
  ])
    expect(usageInText(text)).toBeUndefined();
  expect(usageInEvents('data: {"usage":null}\n\ndata: [DONE]\n\n')).toBeUndefined();
  fc.assert(fc.property(fc.string(), (text) => usageInEvents(text) === undefined));
});
