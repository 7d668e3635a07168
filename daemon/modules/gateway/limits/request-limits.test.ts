import { describe, expect, test } from 'bun:test';
import { AppError } from '../../../../src/errors/app-error.ts';
import type { RateLimitValue, RuntimeConfigValue } from '../../settings/index.ts';
import type { ModelCall } from '../pipeline/call.ts';
import { hostOf } from './bucket-key.ts';
import { RequestLimits } from './request-limits.ts';

const START = Date.UTC(2026, 0, 1);

interface Who {
  readonly tenant?: string;
  readonly key?: string;
  readonly user?: string;
  readonly peer?: string;
}

function callOf({ tenant = 'org_a', key, user, peer = '192.0.2.1' }: Who): ModelCall {
  const caller = {
    tenant,
    role: 'member',
    actor: key ?? user ?? 'system',
    userId: user,
    via: key ? 'api-key' : 'cookie',
  } as const;
  return { caller, peer: () => peer } as unknown as ModelCall;
}

function scene(change: Partial<RateLimitValue>, mostBuckets?: number) {
  const time = { now: 0, wall: START };
  const rateLimit = {
    enabled: true,
    requestsPerMinute: 60,
    burst: 2,
    keySource: 'correlation' as const,
    ...change,
  };
  const settings = { of: () => ({ rateLimit }) as RuntimeConfigValue };
  const limits = new RequestLimits(
    settings,
    { now: () => time.wall },
    { monotonic: () => time.now, mostBuckets },
  );
  const admits = (who: Who) => {
    try {
      limits.admit(callOf(who));
      return true;
    } catch (error) {
      if (error instanceof AppError && error.code === 'rate_limited') return false;
      throw error;
    }
  };
  return { limits, time, admits, rateLimit };
}

describe('what has a bucket of its own', () => {
  const cases: ReadonlyArray<readonly [RateLimitValue['keySource'], Who, Who, boolean]> = [
    ['api_key', { key: 'key_1' }, { key: 'key_2' }, true],
    ['api_key', { key: 'key_1', user: 'usr_1' }, { key: 'key_1', user: 'usr_1', peer: '192.0.2.2' }, false],
    ['api_key', { user: 'usr_1' }, { user: 'usr_2' }, false],
    ['user_id', { key: 'key_1', user: 'usr_1' }, { key: 'key_2', user: 'usr_1' }, false],
    ['user_id', { user: 'usr_1' }, { user: 'usr_2' }, true],
    ['ip', { key: 'key_1' }, { key: 'key_2' }, false],
    ['ip', { key: 'key_1' }, { key: 'key_1', peer: '192.0.2.2' }, true],
    ['ip', { peer: '2001:db8::1' }, { peer: '2001:db8:0:0:ffff::2' }, false],
    ['ip', { peer: '2001:db8::1' }, { peer: '2001:db8:0:1::1' }, true],
    ['ip', { peer: '192.0.2.1' }, { peer: '::ffff:192.0.2.1' }, false],
    ['correlation', { key: 'key_1' }, { key: 'key_2' }, true],
    ['correlation', { user: 'usr_1' }, { user: 'usr_2' }, true],
    ['correlation', { peer: '192.0.2.1' }, { peer: '192.0.2.2' }, true],
    ['api_key', { key: 'key_1' }, { key: 'key_1', tenant: 'org_b' }, true],
  ];
  for (const [keySource, first, second, apart] of cases)
    test(`${keySource}: ${JSON.stringify(first)} and ${JSON.stringify(second)} ${apart ? 'apart' : 'together'}`, () => {
      const { admits } = scene({ keySource, burst: 1 });
      expect(admits(first)).toBe(true);
      expect(admits(first)).toBe(false);
      expect(admits(second)).toBe(apart);
    });
});

test('answers carry what is left and when it is full again', () => {
  const { limits, time } = scene({});
  const call = callOf({ key: 'key_1' });
  expect(limits.admit(call)).toEqual({
    'x-ratelimit-limit': '2',
    'x-ratelimit-remaining': '1',
    'x-ratelimit-reset': String(START / 1000 + 1),
  });
  limits.admit(call);
  const error = (() => {
    try {
      return limits.admit(call);
    } catch (thrown) {
      return thrown as AppError;
    }
  })() as AppError;
  expect(error.http).toBe(429);
  expect(error.data).toMatchObject({
    retryAfterSeconds: 1,
    headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(START / 1000 + 2) },
  });
  time.now += 1000;
  expect(limits.admit(call)?.['x-ratelimit-remaining']).toBe('0');
});

test('the clock of the machine may be set back without harm', () => {
  const { admits, time } = scene({});
  expect([admits({ key: 'k' }), admits({ key: 'k' }), admits({ key: 'k' })]).toEqual([true, true, false]);
  time.wall -= 86_400_000;
  time.now += 1000;
  expect([admits({ key: 'k' }), admits({ key: 'k' })]).toEqual([true, false]);
});

test('a tenant without limits is not counted', () => {
  const { limits } = scene({ enabled: false });
  for (let i = 0; i < 10; i++) expect(limits.admit(callOf({ key: 'key_1' }))).toBeUndefined();
  expect(limits.size).toBe(0);
});

test('a smaller burst holds at once', () => {
  const { admits, rateLimit } = scene({ burst: 50 });
  expect(admits({ key: 'k' })).toBe(true);
  rateLimit.burst = 1;
  expect([admits({ key: 'k' }), admits({ key: 'k' })]).toEqual([true, false]);
});

test('idle buckets are dropped, but not before they are full: nobody wins tokens by waiting to be forgotten', () => {
  const { limits, time, admits, rateLimit } = scene({ requestsPerMinute: 1, burst: 20 });
  for (let i = 0; i < 20; i++) expect(admits({ key: 'slow' })).toBe(true);
  time.now += 11 * 60_000;
  admits({ key: 'other' });
  expect(limits.size).toBe(2);
  for (let i = 0; i < 11; i++) expect(admits({ key: 'slow' })).toBe(true);
  expect(admits({ key: 'slow' })).toBe(false);
  time.now += 21 * 60_000;
  rateLimit.requestsPerMinute = 60;
  admits({ key: 'third' });
  expect(limits.size).toBe(1);
});

test('no more callers are kept than there is room for', () => {
  const { limits, admits } = scene({}, 50);
  for (let i = 0; i < 1000; i++) admits({ key: `key_${i}` });
  expect(limits.size).toBeLessThanOrEqual(50);
});

test('a host of IPv6 is its /64', () => {
  expect(hostOf('fe80::1%eth0')).toBe(hostOf('fe80::2'));
  expect(hostOf('::1')).toBe('0:0:0:0::/64');
  expect(hostOf('198.51.100.7')).toBe('198.51.100.7');
});
