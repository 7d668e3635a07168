import { describe, expect, test } from 'bun:test';
import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { BODY_LIMIT, deliveryIdOf, isSigned, readBody, safeHeaders } from './incoming.ts';
import { RateLimit } from './rate-limit.ts';

const sign = (body: Uint8Array | string, secret: string) =>
  `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;

describe('a signature', () => {
  test('that was made with the secret over the very bytes is right, and no other is', () => {
    const bytes = fc.uint8Array({ maxLength: 200 });
    const secret = fc.string({ minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(bytes, secret, fc.nat(), (body, key, at) => {
        const right = sign(body, key);
        expect(isSigned(body, key, right)).toBe(true);
        expect(isSigned(body, `${key}x`, right)).toBe(false);
        const altered = Uint8Array.from([...body, 0]);
        altered[at % altered.length] = (altered[at % altered.length] ?? 0) ^ 1;
        expect(isSigned(altered, key, right)).toBe(false);
      }),
    );
  });

  test.each([
    null,
    '',
    'sha256=',
    'sha256=00',
    `sha256=${'0'.repeat(64)}`,
    `sha256=${'g'.repeat(64)}`,
    `sha1=${'0'.repeat(40)}`,
    sign('other', 'secret'),
    `${sign('body', 'secret')}0`,
    sign('body', 'secret').slice(7),
    ` ${sign('body', 'secret')}`,
  ])('%j is wrong', (signature) => {
    expect(isSigned(Buffer.from('body'), 'secret', signature)).toBe(false);
  });
});

test('a body is taken up to 256 KiB, byte for byte, whether its length is declared or not', async () => {
  const stream = (size: number) =>
    new Request('http://x', { method: 'POST', body: new Blob([new Uint8Array(size)]).stream() });
  expect((await readBody(stream(BODY_LIMIT))).length).toBe(BODY_LIMIT);
  expect((await readBody(new Request('http://x', { method: 'POST' }))).length).toBe(0);
  await expect(readBody(stream(BODY_LIMIT + 1))).rejects.toMatchObject({ http: 413 });
});

test('a body that trickles is not waited for', async () => {
  const body = new ReadableStream({
    pull: (controller) => Bun.sleep(10).then(() => controller.enqueue(new Uint8Array(1))),
  });
  const started = Date.now();
  await expect(readBody(new Request('http://x', { method: 'POST', body }), 200)).rejects.toMatchObject({
    http: 400,
  });
  expect(Date.now() - started).toBeLessThan(5_000);
});

test('headers that may bear a credential, or belong to the connection, are left out', () => {
  const headers = new Headers({
    'content-type': 'application/json',
    'x-github-event': 'push',
    'x-github-delivery': 'd',
    'user-agent': 'curl',
    authorization: 'Bearer x',
    'proxy-authorization': 'x',
    cookie: 'a=b',
    'x-hub-signature': 'x',
    'x-hub-signature-256': 'x',
    'x-gitlab-token': 'x',
    'x-svc-api-key': 'x',
    'x-s-api-key': 'x',
    'x-api-key': 'x',
    apikey: 'x',
    'x-amz-security-token': 'x',
    'x-client-secret': 'x',
    'x-forwarded-authorization': 'x',
    'webhook-signature': 'x',
    host: 'h',
    connection: 'close',
    'sec-fetch-site': 'none',
  });
  expect(Object.keys(safeHeaders(headers)).sort()).toEqual([
    'content-type',
    'user-agent',
    'x-github-delivery',
    'x-github-event',
  ]);
  const many = new Headers(
    Array.from({ length: 500 }, (_, i) => [`x-h-${i}`, 'v'.repeat(1000)] as [string, string]),
  );
  expect(JSON.stringify(safeHeaders(many)).length).toBeLessThan(20_000);
});

test('a delivery is named by the first header that names one; a long name by its hash', () => {
  expect(deliveryIdOf(new Headers({ 'x-request-id': 'r', 'idempotency-key': 'i' }))).toBe('i');
  expect(deliveryIdOf(new Headers({ 'x-github-delivery': 'g', 'webhook-id': 'w' }))).toBe('g');
  expect(deliveryIdOf(new Headers())).toBeNull();
  expect(deliveryIdOf(new Headers({ 'webhook-id': 'x'.repeat(5000) }))).toHaveLength(64);
});

test('in any minute no more than so many calls pass, and Retry-After says when the next one may', () => {
  const steps = fc.array(fc.integer({ min: 0, max: 30_000 }), { maxLength: 60 });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 8 }), steps, (perMinute, waits) => {
      let now = 0;
      const limit = new RateLimit({ now: () => now });
      const passed: number[] = [];
      for (const wait of waits) {
        now += wait;
        const seconds = limit.take(1, perMinute);
        const recent = passed.filter((at) => at > now - 60_000).length;
        expect(seconds === 0).toBe(recent < perMinute);
        if (seconds === 0) passed.push(now);
        else {
          const later = now + seconds * 1000;
          expect(passed.filter((at) => at > later - 60_000).length).toBeLessThan(perMinute);
        }
      }
    }),
  );
});
