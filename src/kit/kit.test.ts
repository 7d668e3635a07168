import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { formatBytes } from './bytes.ts';
import { formatDuration, parseDuration } from './duration.ts';
import { isId, newId, newSecret } from './id.ts';
import { KeyedLock } from './keyed-lock.ts';
import { editDistance, nearest } from './nearest.ts';
import { pageOf } from './page.ts';
import { maskKey, redact } from './redact.ts';

describe('ids', () => {
  test('have their prefix, are unique and sort by time', () => {
    const ids = [1_000, 2_000, 3_000_000_000_000].map((ms) => newId('sbx', ms));
    expect(ids.toSorted()).toEqual(ids);
    for (const id of ids) expect(isId('sbx', id)).toBe(true);
    expect(isId('key', ids[0] ?? '')).toBe(false);
    expect(new Set(Array.from({ length: 10_000 }, () => newId('evt', 1)))).toHaveProperty('size', 10_000);
  });

  test('a secret has 256 bits in 43 characters that need no escaping', () => {
    expect(newSecret()).toMatch(/^[\w-]{43}$/);
  });
});

describe('durations', () => {
  test.each([
    ['250ms', 250],
    ['30s', 30_000],
    ['1h30m', 5_400_000],
    ['7d', 604_800_000],
    ['1.5s', 1_500],
  ])('%s is %d ms', (text, ms) => expect(parseDuration(text)).toBe(ms));

  test.each(['', '5', 's', '5 s', '-1s', '1h 30m', '1y'])('%j is no duration', (text) =>
    expect(parseDuration(text)).toBeUndefined(),
  );

  test('are written for people', () => {
    expect([12, 1_400, 200_000, 18_120_000, 90_000_000].map(formatDuration)).toEqual([
      '12 ms',
      '1.4 s',
      '3 m 20 s',
      '5 h 2 m',
      '1 d 1 h',
    ]);
  });
});

test('byte counts are written for people', () => {
  expect([0, 1_023, 1_024, 1_500_000].map(formatBytes)).toEqual(['0 B', '1023 B', '1.0 KB', '1.4 MB']);
});

test('the nearest names come first and far ones not at all', () => {
  expect(nearest('memoryMB', ['memoryMb', 'diskMb', 'name'])).toEqual(['memoryMb']);
  expect(nearest('zzzzzz', ['memoryMb'])).toEqual([]);
});

test('the edit distance is a metric', () => {
  fc.assert(
    fc.property(
      fc.string({ maxLength: 12 }),
      fc.string({ maxLength: 12 }),
      fc.string({ maxLength: 12 }),
      (a, b, c) => {
        expect(editDistance(a, a)).toBe(0);
        expect(editDistance(a, b)).toBe(editDistance(b, a));
        expect(editDistance(a, c)).toBeLessThanOrEqual(editDistance(a, b) + editDistance(b, c));
      },
    ),
  );
});

test('redaction masks secret names at any depth and leaves the rest', () => {
  const value = { user: 'ada', nested: [{ api_key: 'x', count: 1 }], text: 'Bearer abc.def' };
  expect(redact(value)).toEqual({
    user: 'ada',
    nested: [{ api_key: '[redacted]', count: 1 }],
    text: '[redacted]',
  });
  expect(maskKey('sk-1234567890')).toBe('****7890');
  expect(maskKey('short')).toBe('****');
});

test('a page is bounded', () => {
  expect(pageOf({})).toEqual({ limit: 50, offset: 0 });
  expect(pageOf({ limit: 9_999, offset: -1 })).toEqual({ limit: 500, offset: 0 });
});

test('a keyed lock keeps order within a key, survives failures and forgets idle keys', async () => {
  const lock = new KeyedLock();
  const order: string[] = [];
  const slow = lock.run('a', async () => {
    await Bun.sleep(10);
    order.push('a1');
    throw new Error('failed');
  });
  const next = lock.run('a', async () => void order.push('a2'));
  await lock.run('b', async () => void order.push('b1'));
  expect(slow).rejects.toThrow('failed');
  await next;
  expect(order).toEqual(['b1', 'a1', 'a2']);
});
