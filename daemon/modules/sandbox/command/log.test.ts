import { afterAll, describe, expect, test } from 'bun:test';
import { appendFileSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MIB } from '../../../../src/kit/bytes.ts';
import { CommandLogs } from './log.ts';

const root = mkdtempSync(join(tmpdir(), 'svc-logs-'));
afterAll(() => rmSync(root, { recursive: true }));
const logs = new CommandLogs(root, 1);
const read = async (id: string, cursor = 0, dropped = 0) => {
  const { body, next } = await logs.read('sbx_1', id, cursor, dropped);
  return { bytes: new Uint8Array(await new Response(body).arrayBuffer()), next };
};

test('what was written is read from any byte on, also bytes that are no text', async () => {
  const writer = logs.writer('sbx_1', 'cmd_1');
  await writer.write(new Uint8Array([0, 255, 10]));
  await writer.write(new Uint8Array([1, 2]));
  await writer.close();
  expect([...(await read('cmd_1')).bytes]).toEqual([0, 255, 10, 1, 2]);
  expect(await read('cmd_1', 3)).toEqual({ bytes: new Uint8Array([1, 2]), next: 5 });
  expect(await read('cmd_1', 99)).toEqual({ bytes: new Uint8Array(), next: 5 });
});

test('a command that printed nothing has an empty log', async () => {
  await logs.writer('sbx_1', 'cmd_none').close();
  expect(await read('cmd_none')).toEqual({ bytes: new Uint8Array(), next: 0 });
});

test('a log ends at its limit and says so', async () => {
  const writer = logs.writer('sbx_1', 'cmd_big');
  for (let i = 0; i < 5; i++) await writer.write(new Uint8Array(300_000).fill(120));
  await writer.close();
  const text = new TextDecoder().decode((await read('cmd_big')).bytes);
  expect(text.indexOf('\n[svc keeps the first')).toBe(MIB);
  expect(text.length).toBeLessThan(MIB + 100);
});

describe('a background log that is too long', () => {
  test('gives back the disk under its oldest part, and cursors stay good', async () => {
    const path = await logs.prepare('sbx_1', 'cmd_long');
    appendFileSync(path, new Uint8Array(3 * MIB).fill(97));
    appendFileSync(path, 'the end');
    const dropped = await logs.trim('sbx_1', 'cmd_long', 0);
    expect(dropped).toBeGreaterThan(2 * MIB);
    expect(statSync(path).blocks * 512).toBeLessThan(MIB);
    const tail = await read('cmd_long', 0, dropped);
    expect(new TextDecoder().decode(tail.bytes)).toMatch(/^a+the end$/);
    expect(tail.next).toBe(3 * MIB + 7);
    expect(await logs.trim('sbx_1', 'cmd_long', dropped)).toBe(dropped);
  });
});
