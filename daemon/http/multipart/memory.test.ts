import { expect, test } from 'bun:test';
import { limited } from './limited.ts';
import { release } from './memory.ts';
import { readMultipart } from './multipart.ts';

/** A stream that keeps what it gave, to see what becomes of it. */
function watched(texts: readonly string[]): { stream: ReadableStream<Uint8Array>; given: Uint8Array[] } {
  const given: Uint8Array[] = [];
  const left = [...texts];
  const stream = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const text = left.shift();
        if (text === undefined) return controller.close();
        const bytes = Uint8Array.from(new TextEncoder().encode(text));
        given.push(bytes);
        controller.enqueue(bytes);
      },
    },
    { highWaterMark: 0 },
  );
  return { stream, given };
}

test('memory is given back as a whole, and never that of which others have a part', () => {
  const whole = new Uint8Array(10);
  const part = new Uint8Array(10).subarray(2, 8);
  release(part);
  release(whole);
  release(undefined);
  expect([whole.length, part.length]).toEqual([0, 6]);
});

test('the bytes of a body hold until the next are asked for', async () => {
  const { stream, given } = watched(['one', 'two']);
  const seen: string[] = [];
  for await (const bytes of limited(stream, 100)) {
    seen.push(Buffer.from(bytes).toString());
    expect(given.map(({ length }) => length)).toEqual(seen.length === 1 ? [3] : [0, 3]);
  }
  expect(seen).toEqual(['one', 'two']);
  expect(given.map(({ length }) => length)).toEqual([0, 0]);
});

test('what arrived of a multipart body is given back while the rest of its part comes', async () => {
  const head = '--B\r\nContent-Disposition: form-data; name=file\r\n\r\n';
  const { stream, given } = watched([head, 'a'.repeat(100), 'b'.repeat(100), '\r\n--B--']);
  const seen: string[] = [];
  for await (const { content } of readMultipart(stream, 'B', 1_000))
    for await (const bytes of content) {
      seen.push(Buffer.from(bytes).toString());
      expect(given.slice(0, -2).every(({ length }) => length === 0)).toBe(true);
    }
  expect(seen.join('')).toBe('a'.repeat(100) + 'b'.repeat(100));
  expect(given.every(({ length }) => length === 0)).toBe(true);
});
