import { expect, test } from 'bun:test';
import { silentLog } from '../log/log.ts';
import { type Batch, Lane, type Tally } from './lane.ts';
import type { Outcome } from './sender.ts';

const batch = (items: number, bytes = 10): Batch => ({
  signal: 'metrics',
  body: new Uint8Array(bytes),
  items,
  madeAt: performance.now(),
});

/** A lane to a receiver that answers what it is told, and what it got. */
function scene(answer: (batch: Batch) => Promise<Outcome> | Outcome) {
  const tally: Tally = { sent: 0, dropped: 0 };
  const got: number[] = [];
  const deliver = async (one: Batch) => {
    got.push(one.items);
    return answer(one);
  };
  return { tally, got, lane: new Lane('t', deliver, tally, silentLog) };
}

const sent: Outcome = { kind: 'sent', message: '' };

test('what is added leaves in order, and is counted', async () => {
  const { lane, got, tally } = scene(() => sent);
  for (const items of [1, 2, 3]) lane.add(batch(items));
  await lane.close(1_000);
  expect(got).toEqual([1, 2, 3]);
  expect(tally).toEqual({ sent: 6, dropped: 0 });
});

test('what is refused is dropped, and what comes after it leaves', async () => {
  const { lane, got, tally } = scene(({ items }) => (items === 1 ? { kind: 'refused', message: '' } : sent));
  for (const items of [1, 2]) lane.add(batch(items));
  await lane.close(1_000);
  expect(got).toEqual([1, 2]);
  expect(tally).toEqual({ sent: 2, dropped: 1 });
});

test('what is to come later stays first, and is tried again after the pause', async () => {
  let failures = 2;
  const { lane, got } = scene(() => (failures-- > 0 ? { kind: 'later', message: '', pauseMs: 5 } : sent));
  for (const items of [1, 2]) lane.add(batch(items));
  while (got.length < 4) await Bun.sleep(1);
  await lane.close(1_000);
  expect(got).toEqual([1, 1, 1, 2]);
});

test.each([
  ['batches', 10, 64],
  ['bytes', 1024 * 1024, 8],
])('no more than so many %s wait: the oldest is dropped and counted', async (_, bytes, most) => {
  const { lane, tally } = scene(() => ({ kind: 'later', message: '', pauseMs: 60_000 }));
  for (let i = 0; i < 100; i++) lane.add(batch(1, bytes));
  await Bun.sleep(1);
  expect(tally).toEqual({ sent: 0, dropped: 100 - most });
  await lane.close(1_000);
  expect(tally).toEqual({ sent: 0, dropped: 100 });
});

test('an end does not wait for a receiver that hangs', async () => {
  const never = Promise.withResolvers<Outcome>();
  const tally: Tally = { sent: 0, dropped: 0 };
  const deliver = (_: Batch, stop: AbortSignal) => {
    stop.addEventListener('abort', () => never.resolve({ kind: 'later', message: 'stopped' }));
    return never.promise;
  };
  const lane = new Lane('t', deliver, tally, silentLog);
  lane.add(batch(5));
  await lane.close(30);
  expect(tally).toEqual({ sent: 0, dropped: 5 });
});

test('a changed receiver is tried at once', async () => {
  let isFixed = false;
  const { lane, got } = scene(() => (isFixed ? sent : { kind: 'later', message: '', pauseMs: 60_000 }));
  lane.add(batch(1));
  while (got.length < 1) await Bun.sleep(1);
  isFixed = true;
  await Bun.sleep(1);
  lane.retry();
  while (got.length < 2) await Bun.sleep(1);
  await lane.close(1_000);
});
