import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { boxSpec, run, settle, sh } from '../conformance/scene.ts';
import { readMounts } from '../host/mounts.ts';
import { readRecord } from './box/record.ts';
import { whyUnusable } from './probe.ts';
import { openPlace, type Place } from './testing/place.ts';
import { tracesOf } from './testing/traces.ts';

const CYCLES = Number(process.env.LEAK_CYCLES ?? 3);
const AT_ONCE = Number(process.env.LEAK_AT_ONCE ?? 8);

describe.skipIf(whyUnusable('t') !== undefined)('making and removing boxes', () => {
  let place: Place;
  beforeAll(async () => {
    place = await openPlace();
  });
  afterAll(() => place.close());

  test('leaves no mount, process, namespace, control group, device or file', async () => {
    // Its first process, and the one that waits for a command.
    const processes = async () => tracesOf(place.instance, place.dataDir).processes;
    expect(await settle(processes, 2)).toBe(2);
    const before = tracesOf(place.instance, place.dataDir);
    const descriptors = () =>
      Bun.spawnSync(['ls', `/proc/${process.pid}/fd`])
        .stdout.toString()
        .split('\n').length;
    const open = descriptors();
    for (let cycle = 0; cycle < CYCLES; cycle++) {
      const specs = Array.from({ length: AT_ONCE }, () => boxSpec('host'));
      await Promise.all(specs.map((spec) => place.driver.create(spec)));
      await Promise.all(
        specs.map(async ({ id }, i) => {
          await run(
            place,
            '(setsid sleep 1000 >/dev/null 2>&1 &); echo x >/workspace/x; mkdir -p /tmp/a/b',
            {},
            id,
          ).catch(() => {});
          if (i % 2 === 0) await place.driver.spawn(id, sh('sleep 1000'), join(place.dataDir, 'log'));
          if (i % 3 === 0) await place.driver.exec(id, sh('sleep 1000'));
          if (i % 4 === 0) await place.driver.stop(id);
        }),
      );
      await Promise.all(specs.map(({ id }) => place.driver.remove(id)));
    }
    const left = async () => JSON.stringify({ ...tracesOf(place.instance, place.dataDir), groups: 0 });
    expect(await settle(left, JSON.stringify({ ...before, groups: 0 }))).toBe(
      JSON.stringify({ ...before, groups: 0 }),
    );
    // The group of the keepers of background commands stays until the driver is closed: one in each tree.
    const trees = readMounts().filter(({ type }) => type.startsWith('cgroup')).length;
    expect(tracesOf(place.instance, place.dataDir).groups).toBeLessThanOrEqual(before.groups + trees);
    expect(await settle(async () => descriptors() <= open + 2, true)).toBe(true);
  }, 120_000);

  test('keeps two processes in an idle box at most, the first of which is tiny', async () => {
    const pid = readRecord(join(place.dataDir, 'boxes', place.box))?.init?.pid;
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    expect(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1])).toBeLessThan(64);
    expect(tracesOf(place.instance, place.dataDir).processes).toBeLessThanOrEqual(2);
  });

  test('has no mount of a box in the table of the host', () => {
    const { mounts } = tracesOf(place.instance, place.dataDir);
    // The shifted folders of the image are shared by all boxes.
    expect(mounts).toBeLessThanOrEqual(7);
  });
});
