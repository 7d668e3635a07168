import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { rmSync } from 'node:fs';
import { DiskLimits } from './disk-limits.ts';
import { caller, openScene } from './testing/scene.ts';

let scene: ReturnType<typeof openScene>;
let limits: DiskLimits;
beforeEach(() => {
  scene = openScene();
  limits = new DiskLimits(scene.app, scene.service, scene.host.driver);
});
afterEach(() => rmSync(scene.dataDir, { recursive: true, force: true }));

const rowOf = (id: string) => scene.service.get('org_a', id);
const made = async (diskMb?: string) => (await scene.service.create(caller, { diskMb })).id;

describe('a sandbox with a disk limit', () => {
  test('sleeps with the reason when it has more than that', async () => {
    const id = await made('100');
    scene.host.diskMb = 130;
    await limits.sweep();
    expect(rowOf(id)).toMatchObject({ state: 'sleeping', reason: 'error' });
    expect(rowOf(id).failure).toMatch(/130 MB.*100 MB/);
  });

  test('goes on when it has less', async () => {
    const id = await made('100');
    scene.host.diskMb = 99;
    await limits.sweep();
    expect(rowOf(id).state).toBe('running');
  });

  test('that was woken may clean up, but not grow', async () => {
    const id = await made('100');
    scene.host.diskMb = 130;
    await limits.sweep();
    await scene.service.revive('org_a', id);
    await limits.sweep();
    expect(rowOf(id)).toMatchObject({ state: 'running', failure: null });
    scene.host.diskMb = 131;
    await limits.sweep();
    expect(rowOf(id).state).toBe('sleeping');
    await scene.service.revive('org_a', id);
    scene.host.diskMb = 10;
    await limits.sweep();
    scene.host.diskMb = 120;
    await limits.sweep();
    expect(rowOf(id).state).toBe('sleeping');
  });

  test('that cannot be counted harms no other', async () => {
    const [lost, full] = [await made('100'), await made('100')];
    scene.host.diskMb = 130;
    scene.host.boxes.delete(lost);
    await limits.sweep();
    expect([rowOf(lost).state, rowOf(full).state]).toEqual(['running', 'sleeping']);
  });
});

test('one without a limit is not counted', async () => {
  const id = await made();
  scene.host.diskMb = 1_000_000;
  await limits.sweep();
  expect(rowOf(id).state).toBe('running');
});
