import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DAY_MS } from '../../../../src/kit/time.ts';
import { silentLog } from '../../../log/log.ts';
import { Archiving } from './archiving.ts';
import { Expiry } from './expiry.ts';
import { reconcile } from './reconcile.ts';
import { caller, openScene } from './testing/scene.ts';

let scene: ReturnType<typeof openScene>;
let archiving: Archiving;
beforeEach(() => {
  scene = openScene();
  archiving = new Archiving(scene.service, scene.host.driver);
});
afterEach(() => rmSync(scene.dataDir, { recursive: true, force: true }));

const rowOf = (id: string) => scene.service.get('org_a', id);
const archives = () => readdirSync(join(scene.dataDir, 'archives'));

async function asleep(request: Parameters<typeof scene.service.create>[1] = {}): Promise<string> {
  const { id } = await scene.service.create(caller, request);
  await scene.service.stop('org_a', id);
  return id;
}

async function archived(): Promise<string> {
  const id = await asleep();
  await archiving.archive('org_a', id);
  return id;
}

describe('archiving', () => {
  test('leaves the archive and no box', async () => {
    const id = await archived();
    expect(rowOf(id).state).toBe('archived');
    expect(scene.host.boxes.has(id)).toBe(false);
    expect(archives()).toEqual([`${id}.tar.zst`]);
  });

  test('is refused while it runs, and nothing changes', async () => {
    const { id } = await scene.service.create(caller, {});
    await expect(archiving.archive('org_a', id)).rejects.toMatchObject({ http: 409 });
    expect(rowOf(id).state).toBe('running');
  });

  test('that fails lets it sleep on, with the reason and without a half archive, and is not tried at once', async () => {
    const id = await asleep();
    scene.host.broken = 'archive';
    await expect(archiving.archive('org_a', id)).rejects.toThrow('could not archive');
    expect(rowOf(id)).toMatchObject({
      state: 'sleeping',
      failure: 'The host could not archive.',
      archiveAt: scene.clock.at + 7 * DAY_MS,
    });
    expect(archives()).toEqual([]);
    expect(scene.host.boxes.has(id)).toBe(true);
  });

  test('and restoring brings it back; the archive goes', async () => {
    const id = await archived();
    expect(await archiving.restore('org_a', id)).toMatchObject({ state: 'running', archiveAt: null });
    expect(archives()).toEqual([]);
  });

  test('then a restore that fails keeps the archive', async () => {
    const id = await archived();
    scene.host.broken = 'start';
    await expect(archiving.restore('org_a', id)).rejects.toThrow('could not start');
    expect(rowOf(id)).toMatchObject({ state: 'archived', failure: 'The host could not start.' });
    expect(archives()).toHaveLength(1);
    scene.host.broken = undefined;
    expect(await archiving.restore('org_a', id)).toMatchObject({ state: 'running', failure: null });
  });

  test('then terminating removes the archive', async () => {
    const id = await archived();
    await scene.service.terminate('org_a', id);
    expect(archives()).toEqual([]);
  });

  test('is not seen by another tenant', async () => {
    const id = await archived();
    await expect(async () => archiving.restore('org_b', id)).toThrow('There is no sandbox');
  });
});

describe('time', () => {
  const sweep = async () => {
    await new Expiry(scene.app, scene.service, archiving, () => false).sweep();
    const isPacked = () => scene.service.store.living().some(({ state }) => state === 'archiving');
    for (let i = 0; i < 500 && isPacked(); i++) await Bun.sleep(10);
  };

  test.each([
    [{}, 6, 'sleeping'],
    [{}, 8, 'archived'],
    [{ autoArchiveAfterDays: 0 }, 400, 'sleeping'],
    [{ autoArchiveAfterDays: 2 }, 3, 'archived'],
    [{ autoDeleteAfterDays: 3 }, 4, 'terminated'],
    [{ autoDeleteAfterDays: 9 }, 8, 'archived'],
    [{ autoDeleteAfterDays: -1, autoArchiveAfterDays: 0 }, 4000, 'sleeping'],
  ])('with %j a sandbox that slept %d days is %s', async (request, days, state) => {
    const id = await asleep(request);
    scene.clock.at += days * DAY_MS;
    await sweep();
    expect(rowOf(id).state).toBe(state as never);
  });

  test('deletes what was archived, counted from when it fell asleep', async () => {
    const id = await asleep({ autoDeleteAfterDays: 9, autoArchiveAfterDays: 2 });
    scene.clock.at += 3 * DAY_MS;
    await sweep();
    expect(rowOf(id).state).toBe('archived');
    scene.clock.at += 7 * DAY_MS;
    await sweep();
    expect(rowOf(id).state).toBe('terminated');
    expect(archives()).toEqual([]);
  });

  test('with autoDeleteAfterDays 0 stopping is the end', async () => {
    const { id } = await scene.service.create(caller, { autoDeleteAfterDays: 0 });
    expect(await scene.service.stop('org_a', id)).toMatchObject({ state: 'terminated' });
  });
});

describe('after a crash', () => {
  const restart = () => reconcile(scene.service, scene.host.driver, silentLog);
  const cut = (id: string, state: 'archiving' | 'reviving') =>
    scene.service.store.change('org_a', id, ['sleeping', 'archived'], { state });

  test('while it was packed it sleeps on, and the half archive is gone', async () => {
    const id = await asleep();
    cut(id, 'archiving');
    mkdirSync(join(scene.dataDir, 'archives'), { recursive: true });
    writeFileSync(join(scene.dataDir, 'archives', `${id}.tar.zst`), 'half');
    await restart();
    expect(rowOf(id).state).toBe('sleeping');
    expect(archives()).toEqual([]);
  });

  test('before its box was removed it is archived, and the box goes', async () => {
    const id = await archived();
    scene.host.boxes.set(id, 'stopped');
    await restart();
    expect(rowOf(id).state).toBe('archived');
    expect(scene.host.boxes.has(id)).toBe(false);
  });

  test('while it was unpacked it is archived again, and what came out goes', async () => {
    const id = await archived();
    cut(id, 'reviving');
    scene.host.boxes.set(id, 'stopped');
    await restart();
    expect(rowOf(id).state).toBe('archived');
    expect(scene.host.boxes.has(id)).toBe(false);
  });

  test('after it was started it runs, and its archive goes', async () => {
    const id = await archived();
    cut(id, 'reviving');
    scene.host.boxes.set(id, 'running');
    await restart();
    expect(rowOf(id).state).toBe('running');
    expect(archives()).toEqual([]);
  });

  test('an archive that somebody removed makes it failed, not archived for ever', async () => {
    const id = await archived();
    rmSync(join(scene.dataDir, 'archives'), { recursive: true });
    await restart();
    expect(rowOf(id)).toMatchObject({ state: 'failed' });
  });

  test('archives of nobody are removed', async () => {
    const id = await archived();
    writeFileSync(join(scene.dataDir, 'archives', 'sbx_gone.tar.zst'), 'x');
    await restart();
    expect(archives()).toEqual([`${id}.tar.zst`]);
  });
});
