import { expect, test } from 'bun:test';
import { Outbox } from './outbox.ts';

const settled = (promise: Promise<void>) =>
  Promise.race([promise.then(() => true), Bun.sleep(5).then(() => false)]);

test('whoever brings more than there is room for waits until the reader has taken some', async () => {
  const box = new Outbox<number>();
  for (let i = 0; i < 15; i++) expect(await settled(box.push(i))).toBe(true);
  const full = box.push(15);
  expect(await settled(full)).toBe(false);
  const reader = box[Symbol.asyncIterator]();
  expect((await reader.next()).value).toBe(0);
  expect(await settled(full)).toBe(true);
  box.end();
  const rest: number[] = [];
  for (let next = await reader.next(); !next.done; next = await reader.next()) rest.push(next.value);
  expect(rest).toEqual(Array.from({ length: 15 }, (_, i) => i + 1));
});

test('a reader that leaves lets everybody go', async () => {
  const box = new Outbox<number>();
  const pushes = Array.from({ length: 40 }, (_, i) => box.push(i));
  for await (const _ of box) break;
  await Promise.all(pushes);
  expect(await settled(box.push(1))).toBe(true);
});

test('one that was abandoned ends for its reader', async () => {
  const box = new Outbox<number>();
  const reading = (async () => {
    for await (const _ of box);
  })();
  await Bun.sleep(1);
  box.abandon();
  await reading;
});
