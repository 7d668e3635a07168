import { afterAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { openTelemetry } from '../../../db/telemetry.ts';
import { type KeptAnswer, sizeOf } from './answer.ts';
import { CACHE_SCHEMA, DiskAnswers } from './disk-store.ts';
import { LocalAnswers } from './local.ts';
import { MemoryAnswers } from './memory.ts';
import { keyOf } from './request-key.ts';

const dir = mkdtempSync(join(tmpdir(), 'svc-cache-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

let now = 1_000_000;
const clock = { now: () => now };
const answer = (body = 'x', ttl = 60_000): KeptAnswer => ({
  contentType: 'application/json',
  body,
  model: 'openai/gpt-test',
  keptAt: now,
  expiresAt: now + ttl,
});

const memory = (entries = 3, bytes = 1_000_000) =>
  new MemoryAnswers({ entries: () => entries, bytes: () => bytes }, clock);

describe('memory', () => {
  test('the least recently used goes first', () => {
    const store = memory();
    for (const name of ['a', 'b', 'c']) store.keep('t', keyOf(name), answer(name));
    store.find('t', keyOf('a'));
    store.keep('t', keyOf('d'), answer('d'));
    const left = ['a', 'b', 'c', 'd'].filter((name) => store.find('t', keyOf(name)));
    expect(left).toEqual(['a', 'c', 'd']);
  });

  test('a place that another request has is no answer', () => {
    const store = memory();
    const { place } = keyOf('a');
    store.keep('t', { place, proof: 'of another' }, answer());
    expect(store.find('t', keyOf('a'))).toBeUndefined();
  });

  test('an answer is good until its time', () => {
    const store = memory();
    store.keep('t', keyOf('a'), answer('a', 1000));
    now += 999;
    expect(store.find('t', keyOf('a'))).toBeDefined();
    now += 1;
    expect(store.find('t', keyOf('a'))).toBeUndefined();
    expect(store.holdings('t')).toEqual({ entries: 0, bytes: 0 });
  });

  test('when it is full the tenant with the most gives up', () => {
    const store = memory(1000, 10 * sizeOf(answer('y'.repeat(100))));
    store.keep('small', keyOf('mine'), answer('y'.repeat(100)));
    for (let i = 0; i < 50; i++) store.keep('large', keyOf(`${i}`), answer('y'.repeat(100)));
    expect(store.find('small', keyOf('mine'))).toBeDefined();
    expect(store.holdings('large').entries).toBe(9);
  });

  test('it never holds more than it may, and counts right', () => {
    const step = fc.record({
      tenant: fc.constantFrom('a', 'b', 'c'),
      key: fc.integer({ min: 0, max: 20 }),
      size: fc.integer({ min: 0, max: 900 }),
      clears: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const store = memory(5, 5000);
        for (const { tenant, key, size, clears } of steps) {
          if (clears && size % 7 === 0) store.clear(tenant);
          else store.keep(tenant, keyOf(`${key}`), answer('z'.repeat(size)));
          const held = ['a', 'b', 'c'].map((one) => store.holdings(one));
          expect(held.reduce((sum, { bytes = 0 }) => sum + bytes, 0)).toBeLessThanOrEqual(5000);
          expect(held.every(({ entries = 0 }) => entries <= 5)).toBe(true);
        }
        for (const tenant of ['a', 'b', 'c']) {
          const found = Array.from({ length: 21 }, (_, key) => store.find(tenant, keyOf(`${key}`)));
          const sum = found.reduce((total, one) => total + (one ? sizeOf(one) : 0), 0);
          expect(store.holdings(tenant).bytes).toBe(sum);
        }
      }),
      { numRuns: 200 },
    );
  });
});

describe('the file', () => {
  const open = (name: string, most = 1_000_000) =>
    new DiskAnswers(openTelemetry(join(dir, name), CACHE_SCHEMA), () => most, clock);

  test('has answers after a start, of their tenant alone', () => {
    const one = open('start.db');
    const kept = answer('kept');
    one.keep('a', keyOf('k'), kept);
    one.close();
    const two = open('start.db');
    expect(two.find('a', keyOf('k'))).toEqual(kept);
    expect(two.find('b', keyOf('k'))).toBeUndefined();
    expect(two.find('a', { ...keyOf('k'), proof: 'of another' })).toBeUndefined();
    two.close();
  });

  test('forgets what is over, and the oldest when it is full', () => {
    const store = open('full.db', 5 * sizeOf(answer('w'.repeat(500))));
    store.keep('a', keyOf('short'), answer('w', 10));
    now += 20;
    for (let i = 0; i < 400; i++) {
      store.keep('a', keyOf(`${i}`), answer('w'.repeat(500)));
      now++;
      if (i % 100 === 99) store.flush();
    }
    const { entries = 0, bytes = 0 } = store.holdings('a');
    expect(entries).toBeLessThanOrEqual(5);
    expect(bytes).toBeLessThanOrEqual(5 * sizeOf(answer('w'.repeat(500))));
    expect(store.find('a', keyOf('short'))).toBeUndefined();
    store.close();
  });

  test('is behind the memory, and cleared with it', () => {
    const disk = open('behind.db');
    const first = new LocalAnswers(memory(), () => disk);
    first.keep('a', keyOf('k'), answer('far'));
    first.keep('b', keyOf('k'), answer('theirs'));
    disk.flush();
    const fresh = new LocalAnswers(memory(), () => disk);
    expect(fresh.find('a', keyOf('k'))?.body).toBe('far');
    expect(fresh.clear('a')).toBe(1);
    expect(fresh.find('a', keyOf('k'))).toBeUndefined();
    expect(fresh.find('b', keyOf('k'))?.body).toBe('theirs');
    disk.close();
  });

  test('that breaks is a miss', () => {
    const sqlite = openTelemetry(join(dir, 'broken.db'), CACHE_SCHEMA);
    const store = new DiskAnswers(sqlite, () => 1000, clock);
    sqlite.run('DROP TABLE answers');
    store.keep('a', keyOf('k'), answer());
    store.flush();
    expect(store.find('a', keyOf('k'))).toBeUndefined();
  });
});
