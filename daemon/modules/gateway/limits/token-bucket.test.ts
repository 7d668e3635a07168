import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { TokenBucket } from './token-bucket.ts';

const refills = fc.record({
  burst: fc.integer({ min: 1, max: 200 }),
  perMs: fc.integer({ min: 1, max: 100_000 }).map((perMinute) => perMinute / 60_000),
});

test('never gives more than burst + rate * time, however time is cut', () => {
  fc.assert(
    fc.property(refills, fc.array(fc.nat(500), { maxLength: 200 }), (refill, gaps) => {
      const bucket = new TokenBucket(refill.burst, 0);
      let now = 0;
      let given = 0;
      for (const gap of gaps) {
        now += gap;
        if (bucket.take(now, refill)) given++;
        expect(given).toBeLessThanOrEqual(refill.burst + refill.perMs * now + 1e-6);
      }
    }),
  );
});

test('a clock that steps back gives nothing and takes nothing', () => {
  fc.assert(
    fc.property(
      refills,
      fc.array(fc.integer({ min: -5000, max: 5000 }), { maxLength: 200 }),
      (refill, steps) => {
        const bucket = new TokenBucket(refill.burst, 0);
        let now = 0;
        let forward = 0;
        let given = 0;
        for (const step of steps) {
          const before = bucket.remaining;
          now += step;
          forward += Math.max(0, step);
          const isGiven = bucket.take(now, refill);
          if (isGiven) given++;
          if (before > 0) expect(isGiven).toBe(true);
          expect(given).toBeLessThanOrEqual(refill.burst + refill.perMs * forward + 1e-6);
        }
      },
    ),
  );
});

test('what was asked for later is never refused when it was granted sooner', () => {
  fc.assert(
    fc.property(refills, fc.nat(300), fc.nat(10_000), fc.nat(10_000), (refill, taken, wait, longer) => {
      const drained = () => {
        const bucket = new TokenBucket(refill.burst, 0);
        for (let i = 0; i < taken; i++) bucket.take(0, refill);
        return bucket;
      };
      const sooner = drained().take(wait, refill);
      const later = drained().take(wait + longer, refill);
      expect(later || !sooner).toBe(true);
    }),
  );
});

test('says when there is a token, and when it is full', () => {
  const refill = { burst: 2, perMs: 0.001 };
  const bucket = new TokenBucket(2, 0);
  expect([bucket.take(0, refill), bucket.take(0, refill), bucket.take(0, refill)]).toEqual([
    true,
    true,
    false,
  ]);
  expect(bucket.untilToken(refill)).toBe(1000);
  expect(bucket.untilFull(refill)).toBe(2000);
  expect(bucket.take(999, refill)).toBe(false);
  expect(bucket.take(1000, refill)).toBe(true);
});
