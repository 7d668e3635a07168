import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { boundaryOf, readMultipart } from './multipart.ts';

const MANY = 1e9;

/** A stream that gives a body in pieces of these lengths, over and over. */
function cut(body: Uint8Array, lengths: readonly number[]): ReadableStream<Uint8Array> {
  let at = 0;
  let i = 0;
  return new ReadableStream({
    pull(controller) {
      if (at >= body.length) return controller.close();
      const length = lengths[i++ % lengths.length] ?? 1;
      controller.enqueue(body.slice(at, at + length));
      at += length;
    },
  });
}

async function parse(
  body: Uint8Array | string,
  boundary = 'B',
  limit = MANY,
  lengths: readonly number[] = [7],
) {
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body;
  const parts: Array<{ name: string; fileName: string | undefined; content: Buffer }> = [];
  for await (const { name, fileName, content } of readMultipart(cut(bytes, lengths), boundary, limit)) {
    const list: Uint8Array[] = [];
    for await (const part of content) list.push(Uint8Array.from(part));
    parts.push({ name, fileName, content: Buffer.concat(list) });
  }
  return parts;
}

describe('a multipart body', () => {
  test('as the platform writes it comes back part by part, wherever it is cut', async () => {
    const field = fc.record({
      name: fc.stringMatching(/^[a-z]{1,8}$/),
      bytes: fc.uint8Array({ maxLength: 300 }),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(field, { maxLength: 6 }),
        fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1, maxLength: 5 }),
        async (fields, lengths) => {
          const form = new FormData();
          for (const { name, bytes } of fields)
            form.append(name, new Blob([Uint8Array.from(bytes)]), `${name}.bin`);
          const response = new Response(form);
          const boundary = boundaryOf(response.headers.get('content-type') ?? '');
          const parts = await parse(new Uint8Array(await response.arrayBuffer()), boundary, MANY, lengths);
          expect(parts.map(({ name, content }) => [name, [...content]])).toEqual(
            fields.map(({ name, bytes }) => [name, [...bytes]]),
          );
        },
      ),
      { numRuns: 200 },
    );
  });

  test('may have contents that look like its boundary', async () => {
    const content = '\r\n--\r\n--A\r\n-B\r\n--';
    const [part] = await parse(
      `--BB\r\nContent-Disposition: form-data; name=x\r\n\r\n${content}\r\n--BB--`,
      'BB',
      MANY,
      [1],
    );
    expect(part?.content.toString()).toBe(content);
  });

  test('may begin with words, end with words and have blanks after a boundary', async () => {
    const body =
      'hello\r\n--B \t\r\ncontent-disposition: form-data; name="a\\"b"; filename=x\r\n\r\n1\r\n--B--\r\nbye';
    expect(await parse(body)).toEqual([{ name: 'a"b', fileName: 'x', content: Buffer.from('1') }]);
  });

  test('that is not read by its reader is passed over', async () => {
    const body =
      '--B\r\nContent-Disposition: form-data; name=a\r\n\r\nlong text\r\n--B\r\nContent-Disposition: form-data; name=b\r\n\r\n\r\n--B--';
    const names: string[] = [];
    for await (const { name } of readMultipart(cut(new TextEncoder().encode(body), [5]), 'B', MANY))
      names.push(name);
    expect(names).toEqual(['a', 'b']);
    const first: string[] = [];
    for await (const { content } of readMultipart(cut(new TextEncoder().encode(body), [1]), 'B', MANY))
      for await (const bytes of content) {
        first.push(new TextDecoder().decode(bytes));
        break;
      }
    expect(first).toEqual(['l']);
  });

  test.each([
    ['that ends early', '--B\r\nContent-Disposition: form-data; name=a\r\n\r\n1'],
    ['without a boundary', 'nothing'],
    ['that is empty', ''],
    ['with a part without a name', '--B\r\n\r\n1\r\n--B--'],
    ['with a boundary that goes on', '--Bx\r\n\r\n1\r\n--B--'],
    ['with endless headers', `--B\r\n${'a'.repeat(20_000)}\r\n\r\n1\r\n--B--`],
  ])('%s is refused', async (_, body) => {
    await expect(parse(body)).rejects.toMatchObject({ code: 'malformed_body', http: 400 });
  });

  test('that is too long is refused', async () => {
    const body = `--B\r\nContent-Disposition: form-data; name=a\r\n\r\n${'x'.repeat(1000)}\r\n--B--`;
    await expect(parse(body, 'B', 1000)).rejects.toMatchObject({ code: 'body_too_large', http: 413 });
    expect(await parse(body, 'B', body.length)).toHaveLength(1);
  });
});

test.each(['', 'application/json', 'multipart/form-data', 'multipart/mixed; boundary=x'])(
  'a Content-Type of %p has no boundary',
  (type) => expect(() => boundaryOf(type)).toThrow('boundary'),
);
