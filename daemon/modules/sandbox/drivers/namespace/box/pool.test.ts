import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { boxSpec, run, settle, sh } from '../../conformance/scene.ts';
import { isAlive, killMarked } from '../../host/process.ts';
import { whyUnusable } from '../probe.ts';
import { openPlace, type Place } from '../testing/place.ts';
import { readRecord, writeRecord } from './record.ts';

describe.skipIf(whyUnusable('t') !== undefined)('the pool', () => {
  let place: Place;
  beforeAll(async () => {
    place = await openPlace({ warm: 2 });
  }, 60_000);
  afterAll(() => place.close(), 60_000);

  const dirOf = (name: string) => join(place.dataDir, 'boxes', name);
  const waiting = () =>
    readdirSync(join(place.dataDir, 'boxes')).filter((name) => readRecord(dirOf(name))?.phase === 'warm');
  const isFull = async () => waiting().length === 2;
  const pidOf = (name: string) => readRecord(dirOf(name))?.init?.pid ?? 0;

  test('hands a box out with the limits, environment and directory that were asked for, and fills up again', async () => {
    expect(await settle(isFull, true)).toBe(true);
    const pids = waiting().map(pidOf);
    const spec = boxSpec('host', {
      network: 'allow',
      env: { A: 'b' },
      workDir: '/usr',
      limits: { cpu: 0.5, memoryMb: 99, pids: 33 },
    });
    const box = await place.driver.create(spec);
    expect(pids).toContain(pidOf(spec.id));
    expect((await run(place, 'echo $A; pwd', {}, spec.id)).stdout).toBe('b\n/usr\n');
    expect((await place.driver.stats(spec.id)).memoryLimitBytes).toBe(99 * 1024 * 1024);
    expect(await place.driver.inspect(spec.id)).toEqual({
      id: spec.id,
      containerId: box.containerId,
      state: 'running',
    });
    await place.driver.stop(spec.id);
    await place.driver.start(spec.id, spec);
    expect((await run(place, 'echo $A', {}, spec.id)).stdout).toBe('b\n');
    await place.driver.remove(spec.id);
    expect(await settle(isFull, true)).toBe(true);
  });

  test('is not among the boxes, and cannot be used by name', async () => {
    expect(await settle(isFull, true)).toBe(true);
    const [name = ''] = waiting();
    expect((await place.driver.list()).map(({ id }) => id)).not.toContain(name);
    expect((await place.driver.inspect(name)).state).toBe('missing');
    expect(place.driver.exec(name, sh('true'))).rejects.toMatchObject({ code: 'not_found' });
  });

  test('replaces what waits for an image that is no more, or has died', async () => {
    expect(await settle(isFull, true)).toBe(true);
    const [stale = '', dead = ''] = waiting();
    const record = readRecord(dirOf(stale));
    if (!record) throw new Error('no record');
    writeRecord(dirOf(stale), { ...record, image: { ...record.image, id: 'host:older' } });
    const { init } = readRecord(dirOf(dead)) ?? {};
    killMarked(init);
    expect(await settle(async () => isAlive(init), false)).toBe(false);
    const spec = boxSpec('host', { network: 'allow' });
    await place.driver.create(spec);
    expect((await run(place, 'echo yes', {}, spec.id)).stdout).toBe('yes\n');
    await place.driver.remove(spec.id);
    const isReplaced = async () =>
      waiting().length === 2 && !waiting().includes(stale) && !waiting().includes(dead);
    expect(await settle(isReplaced, true)).toBe(true);
  });

  test('gives each of twenty requests at once a box of its own', async () => {
    const specs = Array.from({ length: 20 }, () => boxSpec('host', { network: 'allow' }));
    await Promise.all(specs.map((spec) => place.driver.create(spec)));
    expect(new Set(specs.map(({ id }) => pidOf(id))).size).toBe(20);
    await Promise.all(specs.map(({ id }) => place.driver.remove(id)));
  }, 60_000);
});
