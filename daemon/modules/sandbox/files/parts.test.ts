import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { parseTable } from './accounts.ts';
import type { BoxFile } from './box-files.ts';
import { selectLines } from './lines.ts';
import { readRange } from './range.ts';
import { readBytes } from './read.ts';
import { replaceBytes } from './replace.ts';

async function* chunks(bytes: Uint8Array, length: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length);
}

async function collect(parts: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const list: Uint8Array[] = [];
  for await (const part of parts) list.push(Uint8Array.from(part));
  return Buffer.concat(list);
}

test('a window of lines is what splitting gives, wherever the text is cut', async () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', '\n', 'é'), maxLength: 40 });
  const range = fc.integer({ min: 1, max: 12 });
  await fc.assert(
    fc.asyncProperty(text, range, fc.option(range), range, async (text, offset, limit, cut) => {
      const window = { offset, limit: limit ?? undefined };
      const selected = await collect(selectLines(chunks(new TextEncoder().encode(text), cut), window));
      const lines = text.split(/(?<=\n)/);
      const wanted = lines.slice(offset - 1, limit === null ? undefined : offset - 1 + limit).join('');
      expect(selected.toString()).toBe(wanted);
    }),
    { numRuns: 1_000 },
  );
});

test('a range is always within the file', () => {
  const number = fc.option(fc.nat({ max: 50 }));
  fc.assert(
    fc.property(number, number, fc.nat({ max: 30 }), (first, last, size) => {
      const range = readRange(`bytes=${first ?? ''}-${last ?? ''}`, size);
      if (range === undefined || range === 'none') return;
      expect(range.start).toBeGreaterThanOrEqual(0);
      expect(range.end).toBeGreaterThan(range.start);
      expect(range.end).toBeLessThanOrEqual(size);
    }),
  );
});

test.each([null, '', 'bytes=', 'bytes=-', 'items=0-1', 'bytes=a-b', 'bytes=0-1,3-4'])(
  '%p is no range',
  (header) => {
    expect(readRange(header, 10)).toBeUndefined();
  },
);

test('text is replaced by the letter, as splitting and joining does it', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', '$', '&', '.'), maxLength: 20 });
  fc.assert(
    fc.property(text, text.filter(Boolean), text, (content, old, by) => {
      const replaced = replaceBytes(Buffer.from(content), { old, new: by });
      const parts = content.split(old);
      expect(replaced?.count ?? 0).toBe(parts.length - 1);
      expect((replaced?.bytes ?? Buffer.from(content)).toString()).toBe(parts.join(by));
    }),
    { numRuns: 1_000 },
  );
});

describe('reading ahead', () => {
  const fileOf = (bytes: Uint8Array, most: number) =>
    ({
      read: async (position: number, length: number) =>
        bytes.slice(position, position + Math.min(length, most)),
    }) as unknown as BoxFile;

  test.each([
    ['whole blocks', 1e9],
    ['little at a time', 100_000],
  ])('gives every byte of a span once, from a file that gives %s', async (_, most) => {
    const bytes = new Uint8Array(3 * 1024 * 1024 + 5).map((_, i) => i >> 3);
    for (const [start, end] of [
      [0, undefined],
      [7, 2_000_000],
      [3_000_000, 1e10],
      [5, 5],
    ] as const) {
      const got = await collect(readBytes(fileOf(bytes, most), { start, end }));
      expect(got.equals(Buffer.from(bytes.subarray(start, end)))).toBe(true);
    }
  });
});

test('a table of accounts gives ids and names, the first of several, and nothing of a broken line', () => {
  const { names, ids } = parseTable(
    'root:x:0:0::/root:/bin/sh\ntoor:x:0:0\n\nbad\nx:y:z\nsvc:x:1000:\nsvc:x:7:\n:x:5:\n',
  );
  expect([...names]).toEqual([
    [0, 'root'],
    [1000, 'svc'],
    [7, 'svc'],
  ]);
  expect([...ids]).toEqual([
    ['root', 0],
    ['toor', 0],
    ['svc', 1000],
  ]);
});
