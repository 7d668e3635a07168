import { beforeEach, describe, expect, test } from 'bun:test';
import { MINUTE_MS, SECOND_MS } from '../../../src/kit/time.ts';
import { Penalties } from './penalties.ts';

let now = 0;
const clock = { now: () => now };
beforeEach(() => {
  now = 1_000_000;
});

/** The seconds to wait; 0 when the attempt is let through. */
function attempt(penalties: Penalties, key = 'a'): number {
  try {
    penalties.charge(key);
    return 0;
  } catch (error) {
    return (error as { data: { retryAfterSeconds: number } }).data.retryAfterSeconds;
  }
}

describe('penalties', () => {
  test('double from a second up to the longest', () => {
    const penalties = new Penalties(clock, { free: 2, longestMs: 10 * SECOND_MS });
    expect([attempt(penalties), attempt(penalties)]).toEqual([0, 0]);
    const waits = [1, 2, 4, 8, 10, 10].map(() => {
      expect(attempt(penalties)).toBe(0);
      const wait = attempt(penalties);
      now += wait * SECOND_MS;
      return wait;
    });
    expect(waits).toEqual([1, 2, 4, 8, 10, 10]);
  });

  test('do not grow while they last', () => {
    const penalties = new Penalties(clock, { free: 0, longestMs: MINUTE_MS });
    attempt(penalties);
    for (let i = 0; i < 100; i++) attempt(penalties);
    expect(attempt(penalties)).toBe(1);
  });

  test('are each key’s own', () => {
    const penalties = new Penalties(clock, { free: 0, longestMs: MINUTE_MS });
    attempt(penalties, 'a');
    expect([attempt(penalties, 'a'), attempt(penalties, 'b')]).toEqual([1, 0]);
  });

  test('are forgotten after a quiet time, and when they are forgiven', () => {
    const penalties = new Penalties(clock, { free: 0, longestMs: MINUTE_MS });
    attempt(penalties);
    now += SECOND_MS;
    attempt(penalties);
    expect(attempt(penalties)).toBe(2);
    penalties.forgive('a');
    attempt(penalties);
    expect(attempt(penalties)).toBe(1);
    now += 17 * MINUTE_MS;
    attempt(penalties);
    expect(attempt(penalties)).toBe(1);
  });

  test('are remembered for the keys that were busy last, however many there are', () => {
    const penalties = new Penalties(clock, { free: 0, longestMs: MINUTE_MS });
    attempt(penalties, 'old');
    attempt(penalties, 'busy');
    for (let i = 0; i < 9_999; i++) {
      attempt(penalties, `key ${i}`);
      if (i % 1_000 === 0) attempt(penalties, 'busy');
    }
    expect([attempt(penalties, 'old'), attempt(penalties, 'busy')]).toEqual([0, 1]);
  });
});
