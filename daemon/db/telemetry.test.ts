import { afterAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openTelemetry } from './telemetry.ts';

const dir = mkdtempSync(join(tmpdir(), 'svc-telemetry-'));
afterAll(() => rmSync(dir, { recursive: true }));

const schema = { version: 1, sql: 'CREATE TABLE points (at INTEGER NOT NULL) STRICT;' };
const count = (path: string, version = 1) => {
  const sqlite = openTelemetry(path, { ...schema, version });
  const row = sqlite.query<{ n: number }, []>('SELECT count(*) AS n FROM points').get();
  sqlite.close();
  return row?.n;
};
const fill = (path: string) => {
  const sqlite = openTelemetry(path, schema);
  sqlite.run('INSERT INTO points VALUES (1)');
  sqlite.close();
};

test('what was written is there again', () => {
  const path = join(dir, 'kept.db');
  fill(path);
  expect(count(path)).toBe(1);
});

test('a file of another version is made anew', () => {
  const path = join(dir, 'other.db');
  fill(path);
  expect(count(path, 2)).toBe(0);
  expect(count(path, 2)).toBe(0);
});

test.each([
  ['is no database', 'this is no database, whatever its name says'],
  ['is empty', ''],
])('a file that %s is made anew', (what, text) => {
  const path = join(dir, `${what}.db`);
  writeFileSync(path, text);
  expect(count(path)).toBe(0);
  fill(path);
  expect(count(path)).toBe(1);
});
