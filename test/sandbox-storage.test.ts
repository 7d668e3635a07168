import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sandboxLifecycle } from '../src/api/sandbox/lifecycle.ts';
import { snapshots } from '../src/api/sandbox/snapshots.ts';
import { volumes } from '../src/api/sandbox/volumes.ts';
import type { Client } from '../src/client/client.ts';
import { startDaemon, svcCommand, type TestDaemon } from './support/daemon.ts';
import { driverCases } from './support/drivers.ts';
import { clientOf, newSandbox, run, until } from './support/scene.ts';

const refused = async (attempt: Promise<unknown>) => {
  const error = await attempt.then(
    () => undefined,
    (error: unknown) => error,
  );
  return error as { http: number; rpc: number; message: string } | undefined;
};

setDefaultTimeout(60_000);

describe.each(driverCases)('storage on the $name driver', ({ name: driver, env }) => {
  let daemon: TestDaemon;
  let client: Client;
  beforeAll(async () => {
    daemon = await startDaemon({ env });
    client = clientOf(daemon);
  });
  afterAll(async () => {
    await clear();
    await daemon.stop();
  });

  const list = async () =>
    (await client.call(sandboxLifecycle.ListSandboxInstances, { query: { limit: 500 } })).instances ?? [];
  const terminate = (sandboxId: string) =>
    client.call(sandboxLifecycle.TerminateSandbox, { params: { sandboxId }, body: {} });
  const clear = async () => {
    for (const { id } of await list()) await terminate(id ?? '');
    const found = await client.call(snapshots.ListSnapshots, { query: { limit: 500 } });
    for (const { id } of found.snapshots)
      await client.call(snapshots.DeleteSnapshot, { params: { snapshotId: id } });
  };
  const snapshot = async (body: { name: string; image?: string; from_sandbox_id?: string }) => {
    const { id } = await client.call(snapshots.CreateSnapshot, { body });
    return until(async () => {
      const now = await client.call(snapshots.GetSnapshot, { params: { snapshotId: id } });
      return now.state !== 'pending' && now;
    });
  };
  const fork = (sandboxId: string, body: Record<string, unknown> = {}) =>
    client.call(snapshots.ForkSandbox, { params: { sandboxId }, body });
  const volume = (name: string) => client.call(volumes.CreateVolume, { body: { name } });

  describe('a snapshot', () => {
    test('of a running sandbox starts others with its files', async () => {
      const id = await newSandbox(client, { cpuLimit: 0.5, memoryMb: '256' });
      await run(client, id, 'mkdir -p project/src; echo code >project/src/main; ln -s src project/link');
      const made = await snapshot({ name: 'base', from_sandbox_id: id });
      expect(made).toMatchObject({
        name: 'base',
        state: 'active',
        cpu: 0.5,
        mem: '256',
        sourceSandboxId: id,
        size: expect.stringMatching(/^\d+$/),
      });
      expect(made.imageName).not.toContain('snapshot:');
      await run(client, id, 'rm -r project');
      for (const snapshotId of [made.id, 'base']) {
        const copy = await newSandbox(client, { snapshotId });
        expect((await run(client, copy, 'cat project/link/main')).stdout).toBe('code\n');
      }
      expect(
        (await client.call(snapshots.GetSnapshot, { params: { snapshotId: 'base' } })).lastUsedAt,
      ).toBeString();
    });

    test('of a sleeping sandbox, deleted, leaves the sandboxes that were made of it', async () => {
      const id = await newSandbox(client);
      await run(client, id, 'echo asleep >note');
      await client.call(sandboxLifecycle.StopSandbox, { params: { sandboxId: id }, body: {} });
      const { id: snapshotId } = await snapshot({ name: 'asleep', from_sandbox_id: id });
      const copy = await newSandbox(client, { snapshotId });
      await client.call(snapshots.DeleteSnapshot, { params: { snapshotId } });
      expect(await refused(newSandbox(client, { snapshotId }))).toMatchObject({ http: 404 });
      await client.call(sandboxLifecycle.StopSandbox, { params: { sandboxId: copy }, body: {} });
      await client.call(sandboxLifecycle.ReviveSandbox, { params: { sandboxId: copy }, body: {} });
      expect((await run(client, copy, 'cat note')).stdout).toBe('asleep\n');
      expect(
        await refused(client.call(sandboxLifecycle.RecreateSandbox, { body: { sandboxId: copy } })),
      ).toMatchObject({ http: 404, message: expect.stringContaining(snapshotId) });
    });

    test('of an image starts sandboxes of it', async () => {
      const image = driver === 'docker' ? (env.SVC_SANDBOX_DOCKER_IMAGE ?? '') : 'host';
      expect(await snapshot({ name: 'of-an-image', image })).toMatchObject({
        state: 'active',
        imageName: image,
      });
      const id = await newSandbox(client, { snapshotId: 'of-an-image' });
      expect((await run(client, id, 'pwd')).stdout).toBe('/workspace\n');
    });

    test('that cannot be made says why, and makes no sandboxes', async () => {
      const made = await snapshot({ name: 'broken', image: '/nonexistent/image.tar' });
      expect(made).toMatchObject({ state: 'error', errorReason: expect.stringContaining('/nonexistent') });
      expect(await refused(newSandbox(client, { snapshotId: 'broken' }))).toMatchObject({
        http: 409,
        rpc: 9,
      });
    });

    test('is refused without a source, with two, twice under a name, and of a sandbox that is gone', async () => {
      const id = await newSandbox(client);
      const create = (body: { name: string; image?: string; from_sandbox_id?: string }) =>
        refused(client.call(snapshots.CreateSnapshot, { body }));
      expect(await create({ name: 'none' })).toMatchObject({
        http: 400,
        message: expect.stringContaining('image'),
      });
      expect(await create({ name: 'two', image: 'host', from_sandbox_id: id })).toMatchObject({ http: 400 });
      expect(await create({ name: '../x', image: 'host' })).toMatchObject({ http: 400 });
      expect(await create({ name: 'x', image: 'snapshot:base' })).toMatchObject({ http: 400 });
      expect(await create({ name: 'of-an-image', image: 'host' })).toMatchObject({ http: 409, rpc: 6 });
      expect(await create({ name: 'x', from_sandbox_id: 'nobody' })).toMatchObject({ http: 404 });
      await terminate(id);
      expect(await create({ name: 'x', from_sandbox_id: id })).toMatchObject({ http: 409, rpc: 9 });
      expect(await refused(newSandbox(client, { image: 'snapshot:base' }))).toMatchObject({ http: 400 });
      expect(await refused(newSandbox(client, { image: 'host', snapshotId: 'base' }))).toMatchObject({
        http: 400,
      });
    });
  });

  describe('a fork', () => {
    test('has files, environment and labels of a running sandbox, each with its own changes', async () => {
      const id = await newSandbox(client, { envVars: { COLOR: 'blue' }, labels: { team: 'web' } });
      await run(client, id, 'echo shared >file');
      const { instances } = await fork(id, { count: 3, name: 'copy' });
      expect(instances.map(({ name }) => name)).toEqual(['copy-1', 'copy-2', 'copy-3']);
      expect(new Set(instances.map(({ id }) => id)).size).toBe(3);
      for (const { id: copy = '', config } of instances) {
        expect(config).toMatchObject({ labels: { team: 'web' } });
        expect((await run(client, copy, 'cat file; echo $COLOR; echo mine >>file')).stdout).toBe(
          'shared\nblue\n',
        );
      }
      expect((await run(client, id, 'cat file')).stdout).toBe('shared\n');
      const again = await client.call(sandboxLifecycle.RecreateSandbox, { body: { sandboxId: 'copy-1' } });
      expect((await run(client, again.id ?? '', 'ls')).stdout).toBe('');
    });

    test('of a fork of a sleeping sandbox keeps what both have changed', async () => {
      const id = await newSandbox(client);
      await run(client, id, 'echo 1 >one');
      await client.call(sandboxLifecycle.StopSandbox, { params: { sandboxId: id }, body: {} });
      const [child] = (await fork(id)).instances;
      await run(client, child?.id ?? '', 'echo 2 >two');
      const [grandchild] = (await fork(child?.id ?? '')).instances;
      expect((await run(client, grandchild?.id ?? '', 'cat one two')).stdout).toBe('1\n2\n');
    });

    test('is all or nothing', async () => {
      const id = await newSandbox(client);
      await newSandbox(client, { name: 'taken-2' });
      const before = (await list()).length;
      expect(await refused(fork(id, { count: 3, name: 'taken' }))).toMatchObject({ http: 409, rpc: 6 });
      const left = (await list()).filter(({ lifecycleState }) => lifecycleState !== 'failed');
      expect(left.length).toBe(before);
      expect(await refused(fork(id, { count: 0 }))).toMatchObject({ http: 400 });
      expect(await refused(fork(id, { name: '../x' }))).toMatchObject({ http: 400 });
      expect(await refused(fork(id, { labels: { '': 'x' } }))).toMatchObject({ http: 400 });
      expect(await refused(fork('nobody'))).toMatchObject({ http: 404 });
    });
  });

  describe('a volume', () => {
    test('is shared by sandboxes, outlives them, and is not deleted while one has it', async () => {
      const { id: volumeId, state } = await volume('data');
      expect(state).toBe('ready');
      const mounts = [{ type: 'svc-volume', bucket: 'data', mountPath: '/data' }];
      const first = await newSandbox(client, { name: 'writer', mounts });
      const second = await newSandbox(client, {
        mounts: [{ type: 'svc-volume', bucket: volumeId, mountPath: '/workspace/d', subpath: 'a/b' }],
      });
      await run(client, first, 'echo hello >/data/greeting; id -u >/data/owner');
      await run(client, second, 'echo below >d/file');
      expect((await run(client, first, 'cat /data/a/b/file /data/owner')).stdout).toBe('below\n1000\n');
      const remove = () => client.call(volumes.DeleteVolume, { params: { volumeId: 'data' } });
      expect(await refused(remove())).toMatchObject({ http: 409 });
      await terminate(second);
      await client.call(sandboxLifecycle.StopSandbox, { params: { sandboxId: first }, body: {} });
      expect(await refused(remove())).toMatchObject({
        http: 409,
        message: expect.stringContaining('writer'),
      });
      await client.call(sandboxLifecycle.ReviveSandbox, { params: { sandboxId: first }, body: {} });
      expect((await run(client, first, 'cat /data/greeting')).stdout).toBe('hello\n');
      await terminate(first);
      const third = await newSandbox(client, { mounts });
      expect((await run(client, third, 'cat /data/greeting')).stdout).toBe('hello\n');
      await terminate(third);
      await remove();
      await until(async () => !existsSync(join(daemon.dataDir, 'volumes', volumeId)));
      await until(async () => (await client.call(volumes.ListVolumes, {})).total === 0);
    });

    test('is refused under a taken name', async () => {
      await volume('taken');
      expect(await refused(volume('taken'))).toMatchObject({ http: 409, rpc: 6 });
      expect(await refused(volume('a/b'))).toMatchObject({ http: 400 });
    });

    test.each<[string, Record<string, unknown>, number, string]>([
      ['an unknown one', { bucket: 'nobody' }, 404, 'nobody'],
      ['a relative path', { mountPath: 'data' }, 400, 'mounts.0.mountPath'],
      ['the root', { mountPath: '/' }, 400, 'mounts.0.mountPath'],
      ['/proc', { mountPath: '/proc/self' }, 400, 'mounts.0.mountPath'],
      ['a way out', { subpath: '../..' }, 400, 'mounts.0.subpath'],
      ['no bucket', { bucket: undefined }, 400, 'mounts.0.bucket'],
      ['an endpoint', { endpoint: 'https://example.com' }, 400, 'mounts.0.endpoint'],
      ['an object store without its keys', { type: 's3' }, 400, 'AWS_ACCESS_KEY_ID'],
    ])('with %s is refused and makes no sandbox', async (_, change, http, words) => {
      await volume('one').catch(() => {});
      const before = (await list()).length;
      const mounts = [{ type: 'svc-volume', bucket: 'one', mountPath: '/data', ...change }];
      const error = await refused(newSandbox(client, { mounts }));
      expect(error?.http).toBe(http);
      expect(error?.message).toContain(words);
      expect((await list()).length).toBe(before);
    });

    test('twice in one place is refused', async () => {
      const mount = { type: 'svc-volume', bucket: 'one' };
      const mounts = [
        { ...mount, mountPath: '/data' },
        { ...mount, mountPath: '/data/inner' },
      ];
      expect(await refused(newSandbox(client, { mounts }))).toMatchObject({ http: 400 });
    });
  });

  test('the commands make, list, use and remove snapshots, forks and volumes', async () => {
    const svc = async (...argv: string[]) => {
      const child = Bun.spawn([...svcCommand(), ...argv], {
        env: {
          PATH: process.env.PATH,
          SVC_API_URL: daemon.url,
          SVC_API_KEY: daemon.apiKey,
          HOME: daemon.dataDir,
        },
        stdin: 'ignore',
        stdout: 'pipe',
        stderr: 'pipe',
      });
      const [stdout, stderr] = await Promise.all([
        new Response(child.stdout).text(),
        new Response(child.stderr).text(),
      ]);
      return { code: await child.exited, stdout: stdout.trim(), stderr };
    };
    const ok = async (...argv: string[]) => {
      const { code, stdout, stderr } = await svc(...argv);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      return stdout;
    };
    await ok('volume', 'create', 'cli-data');
    await ok('sandbox', 'create', '--name', 'cli', '--volume', 'cli-data/part:/data');
    await ok('sandbox', 'exec', 'cli', '--', 'sh', '-c', 'echo v >/data/v; echo s >s');
    const snapshotId = await ok('snapshot', 'create', 'cli-base', '--sandbox', 'cli');
    expect(snapshotId).toStartWith('snp_');
    await ok('sandbox', 'create', '--name', 'cli-copy', '--snapshot', 'cli-base');
    expect(await ok('sandbox', 'exec', 'cli-copy', '--', 'cat', 's')).toBe('s');
    const forks = (await ok('sandbox', 'fork', 'cli', '-n', '2')).split('\n');
    expect(forks).toEqual([expect.stringMatching(/^sbx_/), expect.stringMatching(/^sbx_/)]);
    expect(await ok('sandbox', 'exec', forks[1] ?? '', '--', 'cat', '/data/v', 's')).toBe('v\ns');
    expect(await ok('snapshot', 'list')).toContain('cli-base');
    expect(await ok('snapshot', 'get', 'cli-base')).toContain(snapshotId);
    expect(await ok('volume', 'list')).toContain('cli-data');
    expect(await svc('volume', 'rm', 'cli-data')).toMatchObject({ code: 6 });
    expect(await svc('sandbox', 'create', '--volume', 'data')).toMatchObject({ code: 2 });
    expect(await svc('snapshot', 'create', 'bad', '--image', '/nonexistent.tar')).toMatchObject({
      code: 6,
      stderr: expect.stringContaining('/nonexistent.tar'),
    });
    await ok('snapshot', 'rm', 'cli-base', 'bad');
    await ok('sandbox', 'rm', 'cli', 'cli-copy', ...forks);
    await ok('volume', 'rm', 'cli-data');
    expect(await svc('snapshot', 'get', 'cli-base')).toMatchObject({ code: 5 });
  });

  test('an end without warning leaves no half-made snapshot, and the sandboxes go on', async () => {
    await clear();
    const id = await newSandbox(client, { name: 'survivor' });
    await run(client, id, 'head -c 200000000 /dev/urandom >big');
    await client.call(snapshots.CreateSnapshot, { body: { name: 'cut-off', from_sandbox_id: id } });
    const forking = fork(id, { count: 2 }).catch(() => undefined);
    await Bun.sleep(60);
    await daemon.kill9();
    await forking;
    daemon = await startDaemon({ env, dataDir: daemon.dataDir, apiKey: daemon.apiKey });
    client = clientOf(daemon);
    const cutOff = await client.call(snapshots.GetSnapshot, { params: { snapshotId: 'cut-off' } });
    expect(['error', 'active']).toContain(cutOff.state);
    expect((await run(client, 'survivor', 'stat -c %s big')).stdout).toBe('200000000\n');
    await clear();
    const left = join(daemon.dataDir, 'images/snapshots');
    await until(() => !existsSync(left) || readdirSync(left).length === 0);
    expect(readFileSync('/proc/self/mountinfo', 'utf8')).not.toContain(`${daemon.dataDir}/boxes`);
  });
});
