import { afterEach, expect, test } from 'bun:test';
import { silentLog } from '../log/log.ts';
import type { OutboundRequest } from '../outbound/outbound.ts';
import type { Destination } from './destination.ts';
import { Exports, type Pace } from './exports.ts';

const TO: Destination = { endpoint: 'http://here', headers: {}, labels: {}, trust: 'tenant' };
const PACE: Pace = { gatherMs: 5, most: 8, atOnce: 3 };

let open: Exports<number> | undefined;
afterEach(() => open?.stop());

/** Exports of numbers; a request tells of them as bytes. */
function scene(pace: Partial<Pace> = {}, make = (items: readonly number[]) => Uint8Array.from(items)) {
  const got: Array<{ url: string; items: number[]; trust: string }> = [];
  const outbound = {
    async fetch({ url, body, trust }: OutboundRequest) {
      got.push({ url, items: [...(body as Uint8Array)], trust });
      return new Response(null, { status: 200 });
    },
    connect: () => Promise.reject(new Error('never')),
  };
  const exports = new Exports<number>(
    { outbound, log: silentLog },
    async (_tenant, items) => ({ signal: 'traces', body: make(items), items: items.length }),
    { ...PACE, ...pace },
  );
  open = exports;
  return { exports, got };
}

const told = async (count: number, got: readonly { items: number[] }[]) => {
  while (got.flatMap(({ items }) => items).length < count) await Bun.sleep(1);
};

test('items travel together, in order, some at a time', async () => {
  const { exports, got } = scene();
  exports.point('t', TO);
  for (let i = 1; i <= 7; i++) exports.note('t', i);
  await told(7, got);
  expect(got.map(({ items }) => items)).toEqual([[1, 2, 3], [4], [5, 6, 7]]);
  expect(got[0]).toMatchObject({ url: 'http://here/v1/traces', trust: 'tenant' });
  expect(exports.tally).toEqual({ sent: 7, dropped: 0 });
});

test('without a destination nothing waits and nothing is counted', async () => {
  const { exports, got } = scene();
  exports.note('t', 1);
  await exports.stop();
  expect([got, exports.tally]).toEqual([[], { sent: 0, dropped: 0 }]);
});

test('of too many the oldest are dropped and counted', async () => {
  const { exports, got } = scene({ gatherMs: 60_000 });
  exports.point('t', TO);
  for (let i = 1; i <= 100; i++) exports.note('t', i);
  await exports.stop();
  const items = got.flatMap((one) => one.items);
  expect(items.length + exports.tally.dropped).toBe(100);
  expect(exports.tally.dropped).toBeGreaterThan(80);
  expect(items.at(-1)).toBe(100);
});

test('half of the room does not wait for the clock', async () => {
  const { exports, got } = scene({ gatherMs: 60_000 });
  exports.point('t', TO);
  for (let i = 1; i <= 4; i++) exports.note('t', i);
  await told(4, got);
  expect(got.length).toBeGreaterThan(0);
});

test('a stop tells what waits; a destination that is taken away drops it', async () => {
  const { exports, got } = scene({ gatherMs: 60_000 });
  exports.point('a', TO);
  exports.point('b', TO);
  exports.note('a', 1);
  exports.note('b', 2);
  exports.point('b', undefined);
  await exports.stop();
  expect(got.flatMap(({ items }) => items)).toEqual([1]);
  expect(exports.tally).toEqual({ sent: 1, dropped: 1 });
});

test('items of which no request can be made are counted, and others are told', async () => {
  const { exports, got } = scene({ gatherMs: 60_000 }, (items) => {
    if (items.includes(1)) throw new Error('no');
    return Uint8Array.from(items);
  });
  exports.point('t', TO);
  for (let i = 1; i <= 3; i++) exports.note('t', i);
  exports.point('u', TO);
  exports.note('u', 9);
  await exports.stop();
  expect(got.flatMap(({ items }) => items)).toEqual([9]);
  expect(exports.tally).toEqual({ sent: 1, dropped: 3 });
});
