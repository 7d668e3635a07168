import { afterEach, beforeEach, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { processMark, waitForEnd } from './process.ts';
import { readDaemonRecord, removeDaemonRecord, runningDaemon, writeDaemonRecord } from './record.ts';

let dir: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'svc-cli-record-'));
});

afterEach(() => rmSync(dir, { recursive: true }));

const record = { url: 'http://127.0.0.1:1', version: '1', startedAt: 5 };

test('a daemon is found while its process lives, and not after', async () => {
  const child = Bun.spawn(['sleep', '30']);
  const mark = processMark(child.pid) ?? '';
  writeDaemonRecord(dir, { ...record, pid: child.pid, mark });
  expect(runningDaemon(dir)).toMatchObject({ pid: child.pid, url: record.url });
  expect(await waitForEnd(child.pid, mark, 50)).toBe(false);
  child.kill();
  expect(await waitForEnd(child.pid, mark, 5_000)).toBe(true);
  expect(runningDaemon(dir)).toBeUndefined();
  expect(readDaemonRecord(dir)).toBeDefined();
});

test('another process with the same pid is not taken for the daemon', () => {
  writeDaemonRecord(dir, { ...record, pid: process.pid, mark: 'of an earlier process' });
  expect(runningDaemon(dir)).toBeUndefined();
});

test('only the process that wrote a record removes it', () => {
  writeDaemonRecord(dir, { ...record, pid: process.pid, mark: processMark(process.pid) ?? '' });
  removeDaemonRecord(dir, process.pid + 1);
  expect(readDaemonRecord(dir)).toBeDefined();
  removeDaemonRecord(dir, process.pid);
  expect(readDaemonRecord(dir)).toBeUndefined();
});

test.each(['', 'not json', '{}', '{"pid": "1"}', 'null'])('%p is no record', (text) => {
  writeFileSync(join(dir, 'daemon.json'), text);
  expect(readDaemonRecord(dir)).toBeUndefined();
});
