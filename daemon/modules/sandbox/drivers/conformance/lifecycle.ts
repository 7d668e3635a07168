import { describe, expect, test } from 'bun:test';
import { boxSpec, countProcesses, run, type Scene, sh, withBox } from './scene.ts';

/** Making, stopping, starting, finding and removing boxes. */
export function lifecycleRules(scene: Scene): void {
  describe('a host', () => {
    test('is described by findings that a person can read', async () => {
      const probe = await scene.driver.probe();
      expect(probe.usable).toBe(true);
      expect(probe.findings.length).toBeGreaterThan(0);
      for (const { check, message } of probe.findings) {
        expect(check).toMatch(/^[a-z][a-z0-9_-]*$/);
        expect(message.length).toBeGreaterThan(3);
      }
    });
  });

  describe('an image', () => {
    test('is prepared again at once, with the same identity', async () => {
      const first = await scene.driver.prepareImage(scene.options.image);
      const second = await scene.driver.prepareImage(scene.options.image);
      expect(first.reference).toBe(scene.options.image);
      expect(first.id).not.toBe('');
      expect(second).toEqual(first);
    });

    test('that is missing is an error of its own, and a box of it leaves nothing', async () => {
      const image = scene.options.missingImage ?? '/nonexistent/image.tar';
      expect(scene.driver.prepareImage(image)).rejects.toMatchObject({ code: 'image_not_found' });
      const spec = boxSpec(image);
      const made = scene.driver.create(spec);
      expect(made).rejects.toMatchObject({ code: 'image_not_found' });
      await made.catch(() => {});
      expect((await scene.driver.inspect(spec.id)).state).toBe('missing');
      expect((await scene.driver.list()).map(({ id }) => id)).not.toContain(spec.id);
    });
  });

  describe('a box', () => {
    test('runs when create returns, and is listed', async () => {
      expect(await scene.driver.inspect(scene.box)).toMatchObject({ id: scene.box, state: 'running' });
      expect(await scene.driver.list()).toContainEqual(await scene.driver.inspect(scene.box));
    });

    test('that was never made is missing', async () => {
      const { id } = boxSpec(scene.options.image);
      expect((await scene.driver.inspect(id)).state).toBe('missing');
      expect(scene.driver.exec(id, sh('true'))).rejects.toThrow();
      expect(scene.driver.stats(id)).rejects.toMatchObject({ code: 'not_found' });
      await scene.driver.remove(id);
    });

    test('keeps its files and loses its processes when it is stopped, and starts again on them', async () => {
      await withBox(scene, {}, async (id, spec) => {
        await run(scene, 'echo kept >/workspace/a; mkdir -p ~/d; echo too >~/d/b', {}, id);
        await run(scene, 'sleep 81234 >/dev/null 2>&1 &', {}, id);
        await scene.driver.stop(id);
        expect((await scene.driver.inspect(id)).state).toBe('stopped');
        expect((await scene.driver.list()).find((box) => box.id === id)?.state).toBe('stopped');
        expect(scene.driver.exec(id, sh('true'))).rejects.toThrow();
        await scene.driver.stop(id);
        expect((await scene.driver.start(id, spec)).id).toBe(id);
        expect((await scene.driver.inspect(id)).state).toBe('running');
        expect((await run(scene, 'cat /workspace/a ~/d/b', {}, id)).stdout).toBe('kept\ntoo\n');
        expect(await countProcesses(scene, 'sleep 81234', id)).toBe(0);
      });
    });

    test('takes another environment and other limits when it starts again', async () => {
      await withBox(scene, { env: { A: '1' } }, async (id, spec) => {
        expect((await run(scene, 'echo $A', {}, id)).stdout).toBe('1\n');
        await scene.driver.stop(id);
        const limits = { ...spec.limits, memoryMb: 128 };
        await scene.driver.start(id, { ...spec, env: { A: '2' }, limits });
        expect((await run(scene, 'echo $A', {}, id)).stdout).toBe('2\n');
        expect((await scene.driver.stats(id)).memoryLimitBytes).toBe(128 * 1024 * 1024);
      });
    });

    test('is gone after remove, which may be repeated', async () => {
      await withBox(scene, {}, async (id) => {
        await scene.driver.remove(id);
        expect((await scene.driver.inspect(id)).state).toBe('missing');
        expect((await scene.driver.list()).map((box) => box.id)).not.toContain(id);
        await scene.driver.remove(id);
        const spec = boxSpec(scene.options.image, { id });
        expect(scene.driver.start(id, spec)).rejects.toMatchObject({ code: 'not_found' });
      });
    });

    test('is removed while a command runs in it, and the command ends', async () => {
      await withBox(scene, {}, async (id) => {
        const execution = await scene.driver.exec(id, sh('sleep 1000'));
        await scene.driver.remove(id);
        expect((await execution.exited).code).not.toBe(0);
      });
    });

    test('is found by a new driver and serves it', async () => {
      const next = await scene.restart();
      try {
        expect(await next.list()).toContainEqual(await scene.driver.inspect(scene.box));
        const again: Scene = { ...scene, driver: next };
        expect((await run(again, 'echo hi')).stdout).toBe('hi\n');
      } finally {
        await next.close();
      }
      expect((await run(scene, 'echo still here')).stdout).toBe('still here\n');
    });

    test('does not see the files of another one', async () => {
      await withBox(scene, {}, async (id) => {
        await run(scene, 'echo mine >/workspace/only-here', {}, id);
        expect((await run(scene, 'ls /workspace')).stdout).not.toContain('only-here');
      });
    });

    test('is made ten times at once', async () => {
      const specs = Array.from({ length: 10 }, () => boxSpec(scene.options.image));
      try {
        await Promise.all(specs.map((spec) => scene.driver.create(spec)));
        const said = await Promise.all(specs.map(({ id }) => run(scene, `echo ${id}`, {}, id)));
        expect(said.map(({ stdout }) => stdout.trim())).toEqual(specs.map(({ id }) => id));
      } finally {
        await Promise.all(specs.map(({ id }) => scene.driver.remove(id)));
      }
      const left = new Set((await scene.driver.list()).map(({ id }) => id));
      expect(specs.filter(({ id }) => left.has(id))).toEqual([]);
    });
  });
}
