import { beforeEach, describe, expect, test } from 'bun:test';
import { Penalties, sourceOf } from './penalties.ts';

let now = 0;
let penalties: Penalties;
beforeEach(() => {
  now = 1_000_000;
  penalties = new Penalties({ now: () => now });
});

const failTimes = (times: number, source = 'a') =>
  Array.from({ length: times }, () => penalties.fail(source));

test('each failure waits twice as long as the one before, up to five seconds', () => {
  expect(failTimes(8)).toEqual([100, 200, 400, 800, 1600, 3200, 5000, 5000]);
});

test('ten failures block a source for a minute, ten more for two, and others not at all', () => {
  failTimes(9);
  expect(penalties.isBlocked('a')).toBe(false);
  failTimes(1);
  expect([penalties.isBlocked('a'), penalties.isBlocked('b')]).toEqual([true, false]);
  now += 60_001;
  expect(penalties.isBlocked('a')).toBe(false);
  failTimes(10);
  now += 60_001;
  expect(penalties.isBlocked('a')).toBe(true);
  now += 60_000;
  expect(penalties.isBlocked('a')).toBe(false);
});

test('a quiet quarter of an hour forgets', () => {
  failTimes(9);
  now += 15 * 60_000 + 1;
  expect(failTimes(1)).toEqual([100]);
});

test('the sources of a flood are forgotten, the oldest first, and memory stays bounded', () => {
  failTimes(10, 'first');
  for (let i = 0; i < 20_000; i++) penalties.fail(`s${i}`);
  expect(penalties.size).toBe(10_000);
  expect(penalties.isBlocked('first')).toBe(false);
});

describe('one source', () => {
  test.each([
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::9', '2001:db8:1:2::/64'],
    ['2001:0DB8:0001:0002::9', '2001:db8:1:2::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
  ])('is %s -> %s', (address, source) => expect(sourceOf(address)).toBe(source));
});
