import { afterAll, expect, test } from 'bun:test';
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { readHead, readPacked, writePacked } from './packed-file.ts';

const dir = mkdtempSync(join(tmpdir(), 'svc-packed-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

test('head and content come back, the content compressed, for its owner only', async () => {
  const file = join(dir, 'whole');
  const content = Buffer.alloc(3_000_000, 'text ');
  const size = await writePacked(file, { name: 'é', list: [1, 2] }, Readable.from([content]));
  expect(statSync(file)).toMatchObject({ size });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(size).toBeLessThan(10_000);
  expect(readHead(file)).toEqual({ name: 'é', list: [1, 2] });
  const parts: Uint8Array[] = [];
  for await (const part of readPacked(file)) parts.push(part as Uint8Array);
  expect(Buffer.concat(parts).equals(content)).toBe(true);
});

test('a stream that breaks leaves no file, and the one that was there', async () => {
  const file = join(dir, 'broken');
  async function* broken() {
    yield Buffer.from('a');
    throw new Error('broke');
  }
  expect(writePacked(file, {}, Readable.from(broken()))).rejects.toThrow('broke');
  await writePacked(file, {}, Readable.from(broken())).catch(() => {});
  expect(existsSync(file)).toBe(false);
  await writePacked(file, { kept: true }, Readable.from([Buffer.from('a')]));
  await writePacked(file, {}, Readable.from(broken())).catch(() => {});
  expect(readHead(file)).toEqual({ kept: true });
  expect(readdirSync(dir).filter((name) => name.includes('part'))).toEqual([]);
});

test('what is no packed file, is cut off or is missing is an error', async () => {
  const file = join(dir, 'other');
  writeFileSync(file, 'nothing of the kind, but long enough');
  expect(() => readHead(file)).toThrow('no archive');
  expect(Array.fromAsync(readPacked(file))).rejects.toThrow();
  expect(Array.fromAsync(readPacked(join(dir, 'missing')))).rejects.toThrow();
  expect(() => readHead(join(dir, 'missing'))).toThrow();
});
