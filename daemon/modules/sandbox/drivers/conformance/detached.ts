import { describe, expect, test } from 'bun:test';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { newId } from '../../../../../src/kit/id.ts';
import { countProcesses, type Scene, settle, sh, withBox, within } from './scene.ts';

/** Commands that belong to their box and outlive the daemon. */
export function detachedRules(scene: Scene): void {
  const log = () => join(scene.dataDir, `${newId('cmd')}.log`);
  const text = (path: string) => readFile(path, 'utf8').catch(() => '');

  describe('a background command', () => {
    test('appends both outputs to its log and ends with its code', async () => {
      const path = log();
      await Bun.write(path, 'before\n');
      const detached = await scene.driver.spawn(scene.box, sh('echo out; echo err >&2; exit 6'), path);
      expect(await within(detached.exited, 10_000)).toEqual({ code: 6 });
      expect(await text(path)).toBe('before\nout\nerr\n');
    });

    test('cannot cut its log off', async () => {
      const path = log();
      const detached = await scene.driver.spawn(scene.box, sh('echo first; echo second >/dev/stdout'), path);
      expect(await within(detached.exited, 10_000)).toEqual({ code: 0 });
      expect(await text(path)).toBe('first\nsecond\n');
    });

    test('has an empty stdin', async () => {
      const path = log();
      const detached = await scene.driver.spawn(scene.box, sh('cat; echo end'), path);
      expect(await within(detached.exited, 10_000)).toEqual({ code: 0 });
      expect(await text(path)).toBe('end\n');
    });

    test('is found by a new driver while it runs, and its true code arrives there', async () => {
      const path = log();
      const script =
        'echo start; while [ ! -e /workspace/go ]; do sleep 0.05; done; rm /workspace/go; exit 7';
      const detached = await scene.driver.spawn(scene.box, sh(script), path);
      const next = await scene.restart();
      try {
        const found = await next.attach(scene.box, detached.ref);
        expect(found?.ref).toBe(detached.ref);
        if (!found) throw new Error('not attached');
        expect(await within(found.exited, 300)).toBe('late');
        const touch = await next.exec(scene.box, sh('touch /workspace/go'));
        expect((await touch.exited).code).toBe(0);
        expect(await within(found.exited, 10_000)).toEqual({ code: 7 });
        expect(await text(path)).toBe('start\n');
      } finally {
        await next.close();
      }
      expect(await detached.exited).toEqual({ code: 7 });
    });

    test('is found after its end', async () => {
      const detached = await scene.driver.spawn(scene.box, sh('exit 8'), log());
      await detached.exited;
      const found = await scene.driver.attach(scene.box, detached.ref);
      expect(await found?.exited).toEqual({ code: 8 });
    });

    test('that never was is not found', async () => {
      expect(await scene.driver.attach(scene.box, newId('cmd'))).toBeUndefined();
      expect(await scene.driver.attach(newId('sbx'), newId('cmd'))).toBeUndefined();
    });

    test('is killed with its tree, also by a driver that only attached', async () => {
      const script = '(setsid sleep 75757 &); sleep 75757 & echo up; sleep 75757';
      const detached = await scene.driver.spawn(scene.box, sh(script), log());
      await settle(async () => (await countProcesses(scene, 'sleep 75757')) >= 3, true);
      const found = await scene.driver.attach(scene.box, detached.ref);
      await found?.kill('SIGKILL');
      expect(await within(detached.exited, 10_000)).toMatchObject({ code: 137, signal: 'SIGKILL' });
      expect(await settle(() => countProcesses(scene, '75757'), 0)).toBe(0);
    });

    test('is killed though it has hardly begun', async () => {
      const detached = await scene.driver.spawn(scene.box, sh('sleep 1000'), log());
      await detached.kill('SIGKILL');
      expect(await within(detached.exited, 20_000)).toMatchObject({ code: 137, signal: 'SIGKILL' });
    });

    test('that cannot start says so', async () => {
      const detached = await scene.driver.spawn(scene.box, { id: newId('cmd'), argv: ['/no/such'] }, log());
      const exit = await within(detached.exited, 10_000);
      expect(exit).toMatchObject({ code: 127 });
      expect(exit === 'late' ? '' : exit.startError).toBeString();
    });

    test('ends when its box is stopped, and is never said to have succeeded', async () => {
      await withBox(scene, {}, async (id) => {
        const detached = await scene.driver.spawn(id, sh('sleep 1000'), log());
        await scene.driver.stop(id);
        const exit = await within(detached.exited, 10_000);
        expect(exit).not.toBe('late');
        expect(exit).not.toMatchObject({ code: 0 });
      });
    });
  });
}
