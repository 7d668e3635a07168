import { afterAll, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { Form, type FormBody, type FormPart } from './form.ts';
import { keptInMemory, Spool } from './spool.ts';

const directory = mkdtempSync(join(tmpdir(), 'svc-form-'));
afterAll(() => rmSync(directory, { recursive: true }));

/** What the platform's own reader makes of a body. */
async function read({
  body,
  contentType,
}: FormBody): Promise<Array<readonly [string, string | Uint8Array, string?]>> {
  const form = await new Response(body as BodyInit, { headers: { 'content-type': contentType } }).formData();
  const entries: Array<readonly [string, string | Uint8Array, string?]> = [];
  for (const [name, value] of form.entries())
    entries.push(
      typeof value === 'string'
        ? [name, value]
        : [name, new Uint8Array(await (value as File).arrayBuffer()), (value as File).name],
    );
  return entries;
}

const text = (name: string, value: string): FormPart => ({ name, content: keptInMemory(Buffer.from(value)) });
const file = (name: string, bytes: Uint8Array<ArrayBuffer>): FormPart => ({
  name,
  fileName: `${name}.bin`,
  contentType: 'application/x-test',
  content: keptInMemory(bytes),
});

test('is read by others as what it was made of, as often as it is sent', async () => {
  const part = fc.oneof(
    fc
      .tuple(
        fc.stringMatching(/^[a-z]{1,8}$/),
        fc.string({ unit: 'grapheme' }).filter((one) => !/[\r\n\0]/.test(one)),
      )
      .map(([name, value]) => text(name, value)),
    fc
      .tuple(fc.stringMatching(/^[a-z]{1,8}$/), fc.uint8Array({ minLength: 1, maxLength: 200 }))
      .map(([name, bytes]) => file(name, Uint8Array.from(bytes))),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(part, { minLength: 1, maxLength: 6 }), async (parts) => {
      const form = new Form(parts);
      const expected = parts.map(({ name, fileName, content: { head } }) =>
        fileName === undefined
          ? [name, Buffer.from(head).toString()]
          : [name, Uint8Array.from(head), fileName],
      );
      expect(await read(form.encode({}))).toEqual(expected as never);
      expect(await read(form.encode({}))).toEqual(expected as never);
    }),
    { numRuns: 100 },
  );
});

test('has the values that replace its fields in their place, and new ones first; files stay', async () => {
  const bytes = Uint8Array.from([1, 2, 3]);
  const form = new Form([
    file('file', bytes),
    text('model', 'openai/a'),
    text('tag', 'x'),
    text('tag', 'y'),
    text('toString', '1'),
  ]);
  expect(await read(form.encode({ model: 'a', tag: 'z', file: 'no', language: 'en' }))).toEqual([
    ['language', 'en'],
    ['file', bytes, 'file.bin'],
    ['model', 'a'],
    ['tag', 'z'],
    ['toString', '1'],
  ]);
});

test('is never taken for another one where requests are compared', () => {
  const one = new Form([file('file', Uint8Array.from([1]))]);
  const other = new Form([file('file', Uint8Array.from([2]))]);
  expect(JSON.stringify({ model: 'm', form: one })).not.toBe(JSON.stringify({ model: 'm', form: other }));
});

test('cannot be broken out of by a name', async () => {
  const part = {
    ...file('file', Uint8Array.from([1])),
    fileName: 'a"; name="model"\r\nX: y.bin',
    contentType: 'x\r\nY: z',
  };
  const body = Buffer.from(new Form([part]).encode({ 'a"b': 'c' }).body as Uint8Array).toString();
  expect(body).toContain('filename="a%22; name=%22model%22%0D%0AX: y.bin"');
  expect(body).toContain('name="a%22b"');
  expect(body).not.toContain('Y: z');
  expect(body.match(/^[A-Z][\w-]*:/gm)).toEqual(['Content-Disposition:', 'Content-Disposition:']);
});

test('takes out what an end without warning left', async () => {
  const folder = join(directory, 'left');
  mkdirSync(folder);
  writeFileSync(join(folder, 'old.part'), 'x');
  const spool = new Spool(folder);
  async function* large() {
    yield new Uint8Array(600_000);
  }
  expect((await spool.keep(large())).isOnDisk).toBe(true);
  expect(readdirSync(folder)).toEqual([]);
  await spool.dispose();
});

test('keeps large files on disk without a name, and gives them back byte for byte', async () => {
  const spool = new Spool(directory);
  const large = (seed: number) =>
    Uint8Array.from({ length: 700_000 }, (_, at) => (at * seed + (at >> 8)) & 255);
  async function* cut(bytes: Uint8Array) {
    for (let at = 0; at < bytes.length; at += 65_521) yield bytes.subarray(at, at + 65_521);
  }
  const contents = [];
  for (const seed of [3, 5, 7]) contents.push(await spool.keep(cut(large(seed))));
  expect(readdirSync(directory).filter((name) => name.endsWith('.part'))).toEqual([]);
  expect(contents.map(({ isOnDisk }) => isOnDisk)).toEqual([true, true, true]);
  expect(contents.every(({ head }) => head.byteLength >= 64)).toBe(true);
  const form = new Form(contents.map((content, place) => ({ name: `f${place}`, fileName: 'x', content })));
  for (let times = 0; times < 2; times++)
    expect((await read(form.encode({}))).map(([, bytes]) => bytes)).toEqual([large(3), large(5), large(7)]);
  const late = form.encode({});
  await spool.dispose();
  await expect(new Response(late.body as BodyInit).arrayBuffer()).rejects.toThrow('gone');
});
