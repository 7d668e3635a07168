import { describe, expect, test } from 'bun:test';
import { newId } from '../../../../../src/kit/id.ts';
import { finish, run, type Scene, sh, withBox } from './scene.ts';

const MIB = 1024 * 1024;

/** What a box may use, and what it says it uses. */
export function limitRules(scene: Scene): void {
  describe('limits', () => {
    test('of processes hold', async () => {
      await withBox(scene, { limits: { cpu: 1, memoryMb: 256, pids: 20 } }, async (id) => {
        const script = 'i=0; while [ $i -lt 40 ]; do sleep 2 & i=$((i+1)); done; wait';
        const { stderr, exit } = await run(scene, script, {}, id);
        expect(stderr).toMatch(/fork|resource/i);
        expect(exit.code).not.toBe(0);
      });
    });

    test('of memory hold: the command is taken, the box stays', async () => {
      await withBox(scene, { limits: { cpu: 1, memoryMb: 64, pids: 64 } }, async (id) => {
        const hog = { id: newId('cmd'), argv: ['tail', '/dev/zero'] as [string, string] };
        const { exit } = await finish(await scene.driver.exec(id, hog));
        expect(exit).toMatchObject({ code: 137, signal: 'SIGKILL' });
        if (scene.options.detectsOutOfMemory !== false) expect(exit.outOfMemory).toBe(true);
        expect((await scene.driver.inspect(id)).state).toBe('running');
        expect((await run(scene, 'echo alive', {}, id)).stdout).toBe('alive\n');
      });
    });

    test('of the processor hold', async () => {
      await withBox(scene, { limits: { cpu: 0.2, memoryMb: 128, pids: 64 } }, async (id) => {
        const execution = await scene.driver.exec(id, sh('while :; do :; done'));
        await Bun.sleep(300);
        const before = (await scene.driver.stats(id)).cpuUsageUs;
        const start = performance.now();
        await Bun.sleep(1_500);
        const used = (await scene.driver.stats(id)).cpuUsageUs - before;
        const share = used / ((performance.now() - start) * 1_000);
        await execution.kill('SIGKILL');
        expect(share).toBeLessThan(0.35);
      });
    });

    test('change while the box runs', async () => {
      await withBox(scene, {}, async (id) => {
        await scene.driver.update(id, { cpu: 0.5, memoryMb: 96, pids: 12 });
        expect((await scene.driver.stats(id)).memoryLimitBytes).toBe(96 * MIB);
        const script = 'i=0; while [ $i -lt 40 ]; do sleep 1 & i=$((i+1)); done; wait';
        expect((await run(scene, script, {}, id)).stderr).toMatch(/fork|resource/i);
        await scene.driver.update(id, { cpu: 1, memoryMb: 192, pids: 256 });
        expect((await scene.driver.stats(id)).memoryLimitBytes).toBe(192 * MIB);
        expect((await run(scene, script, {}, id)).stderr).toBe('');
      });
    });
  });

  describe('stats', () => {
    test('are of this box', async () => {
      await withBox(scene, { limits: { cpu: 1, memoryMb: 200, pids: 64 } }, async (id) => {
        const before = await scene.driver.stats(id);
        await run(scene, 'i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done', {}, id);
        const execution = await scene.driver.exec(id, sh('sleep 1000 & sleep 1000'));
        await Bun.sleep(300);
        const after = await scene.driver.stats(id);
        await execution.kill('SIGKILL');
        expect(after.memoryLimitBytes).toBe(200 * MIB);
        expect(after.memoryBytes).toBeGreaterThan(0);
        expect(after.memoryBytes).toBeLessThan(200 * MIB);
        expect(after.cpuUsageUs).toBeGreaterThan(before.cpuUsageUs);
        expect(after.pids).toBeGreaterThanOrEqual(before.pids + 2);
        expect(after.pids).toBeLessThan(64);
        for (const value of Object.values(after)) expect(value).toBeGreaterThanOrEqual(0);
      });
    });
  });

  test('what it has on the disk is what it has changed', async () => {
    await withBox(scene, {}, async (id) => {
      const before = await scene.driver.diskUsage(id);
      await run(scene, 'dd if=/dev/urandom of=/tmp/big bs=1024 count=20000 2>/dev/null; sync', {}, id);
      await run(scene, 'cp /tmp/big /workspace/big; rm -f /tmp/big', {}, id);
      const grown = (await scene.driver.diskUsage(id)) - before;
      expect(grown).toBeGreaterThan(19 * MIB);
      expect(grown).toBeLessThan(42 * MIB);
    });
  });
}
