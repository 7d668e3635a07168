import { afterEach, beforeEach, expect, test } from 'bun:test';
import { appendFileSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Spoken } from './spoken.ts';

let dir: string;
let log: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'svc-spoken-'));
  log = join(dir, 'log');
});
afterEach(() => rmSync(dir, { recursive: true }));

test('each line is told once, without secrets', () => {
  writeFileSync(log, 'old\n');
  const spoken = new Spoken(log, ['hidden']);
  spoken.skip();
  appendFileSync(log, 'new hidden\n');
  expect(spoken.news()).toEqual(['new [redacted]']);
  expect(spoken.news()).toEqual([]);
});

test('a log that has grown large is emptied, and of what was in it the end is told', () => {
  const spoken = new Spoken(log, []);
  writeFileSync(log, `${'x'.repeat(99)}\n`.repeat(20_000));
  expect(spoken.news()).toHaveLength(20);
  expect(statSync(log).size).toBe(0);
  appendFileSync(log, 'after\n');
  expect(spoken.news()).toEqual(['after']);
});

test('a log that is not there says nothing', () => expect(new Spoken(log, []).news()).toEqual([]));
