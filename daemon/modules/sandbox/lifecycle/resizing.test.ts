import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { rmSync } from 'node:fs';
import { Resizing } from './resizing.ts';
import { caller, openScene } from './testing/scene.ts';

let scene: ReturnType<typeof openScene>;
let resizing: Resizing;
let id: string;
beforeEach(async () => {
  scene = openScene();
  resizing = new Resizing(scene.service, scene.host.driver, scene.app.config);
  ({ id } = await scene.service.create(caller, { cpuLimit: 1, memoryMb: '512' }));
});
afterEach(() => rmSync(scene.dataDir, { recursive: true, force: true }));

const configOf = () => scene.service.get('org_a', id).config;

describe('resizing', () => {
  test('a running sandbox gives its box the limits at once; what is not named stays', async () => {
    await resizing.resize('org_a', id, { cpu: 0.5 });
    expect(scene.host.limits.get(id)).toMatchObject({ cpu: 0.5, memoryMb: 512 });
    expect(configOf()).toMatchObject({ cpu: 0.5, memoryMb: 512 });
  });

  test('a sleeping one keeps them for when it wakes', async () => {
    await scene.service.stop('org_a', id);
    await resizing.resize('org_a', id, { memoryMb: 1024 });
    expect(scene.host.limits.has(id)).toBe(false);
    expect(configOf()).toMatchObject({ memoryMb: 1024 });
  });

  test('below what it uses is refused with both figures', async () => {
    scene.host.usedMb = 300;
    const attempt = resizing.resize('org_a', id, { memoryMb: 200 });
    await expect(attempt).rejects.toMatchObject({
      http: 409,
      message: expect.stringMatching(/300 MB.*200 MB/),
    });
    expect(configOf().memoryMb).toBe(512);
  });

  test('that the host refuses changes nothing', async () => {
    scene.host.broken = 'update';
    await expect(resizing.resize('org_a', id, { cpu: 2 })).rejects.toThrow('could not update');
    expect(configOf().cpu).toBe(1);
  });

  test.each([
    [{}, 'cpuLimit'],
    [{ cpu: 0.001 }, 'cpuLimit'],
    [{ memoryMb: 1 }, 'memoryMb'],
    [{ memoryMb: Number.NaN }, 'memoryMb'],
  ])('to %j is 400 naming %s', async (limits, field) => {
    const error = await resizing.resize('org_a', id, limits).catch((error) => error);
    expect(error).toMatchObject({ http: 400 });
    expect(JSON.stringify(error.violations ?? error)).toContain(field);
  });

  test('a terminated one is 409', async () => {
    await scene.service.terminate('org_a', id);
    await expect(resizing.resize('org_a', id, { cpu: 2 })).rejects.toMatchObject({ http: 409 });
  });
});
