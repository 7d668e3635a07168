import { describe, expect, test } from 'bun:test';
import { finish, run, type Scene, sh, within } from './scene.ts';

const MIB = 1024 * 1024;

/** What comes out of a command, and how fast it may. */
export function outputRules(scene: Scene): void {
  describe('output', () => {
    test('keeps stdout and stderr apart', async () => {
      const { stdout, stderr } = await run(scene, 'echo out; echo err >&2; printf more; printf less >&2');
      expect({ stdout, stderr }).toEqual({ stdout: 'out\nmore', stderr: 'err\nless' });
    });

    test('passes every byte unchanged, in and out', async () => {
      const bytes = crypto.getRandomValues(new Uint8Array(48 * 1024));
      bytes.set(Array.from({ length: 256 }, (_, i) => i));
      const execution = await scene.driver.exec(scene.box, sh('cat', { stdin: true }));
      const parts: Uint8Array[] = [];
      const reader = (async () => {
        for await (const { bytes: part } of execution.output) parts.push(part.slice());
      })();
      await execution.write(bytes);
      await execution.endInput();
      await reader;
      expect(Buffer.concat(parts).equals(Buffer.from(bytes))).toBe(true);
    });

    test('arrives while the command runs', async () => {
      const execution = await scene.driver.exec(scene.box, sh('echo first; sleep 1000'));
      const first = await within(execution.output[Symbol.asyncIterator]().next(), 10_000);
      expect(first).not.toBe('late');
      if (first !== 'late') expect(new TextDecoder().decode(first.value?.bytes)).toBe('first\n');
      await execution.kill('SIGKILL');
    });

    test('of any size flows with bounded memory', async () => {
      const size = Number(process.env.CONFORMANCE_OUTPUT_MB ?? 8) * MIB;
      const execution = await scene.driver.exec(scene.box, sh(`head -c ${size} /dev/zero`));
      Bun.gc(true);
      const before = process.memoryUsage.rss();
      let total = 0;
      let peak = before;
      for await (const { bytes } of execution.output) {
        total += bytes.length;
        if (total % (16 * MIB) < bytes.length) peak = Math.max(peak, process.memoryUsage.rss());
      }
      expect(total).toBe(size);
      expect((await execution.exited).code).toBe(0);
      expect(peak - before).toBeLessThan(64 * MIB);
    });

    test('that nobody reads holds the command back', async () => {
      const script = 'rm -f /workspace/written; head -c 67108864 /dev/zero; : >/workspace/written';
      const execution = await scene.driver.exec(scene.box, sh(script));
      const reader = execution.output[Symbol.asyncIterator]();
      await reader.next();
      await Bun.sleep(500);
      expect((await run(scene, 'ls /workspace')).stdout).not.toContain('written');
      await execution.kill('SIGKILL');
      expect(await within(execution.exited, 10_000)).toMatchObject({ signal: 'SIGKILL' });
    });

    test('that is left alone does not keep the end of its command from being known', async () => {
      const execution = await scene.driver.exec(scene.box, sh('echo unread; exit 5'));
      expect(await within(execution.exited, 10_000)).toEqual({ code: 5 });
      expect(await finish(execution)).toEqual({ stdout: 'unread\n', stderr: '', exit: { code: 5 } });
    });
  });
}
