import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sandboxHistory } from '../src/api/sandbox/history.ts';
import { sandboxLifecycle } from '../src/api/sandbox/lifecycle.ts';
import { snapshots } from '../src/api/sandbox/snapshots.ts';
import type { Client } from '../src/client/client.ts';
import { type ChildServer, startChild } from './support/child-server.ts';
import { startDaemon, svcCommand, type TestDaemon } from './support/daemon.ts';
import { findProgram } from './support/debian-packages.ts';
import { driverCases } from './support/drivers.ts';
import { clientOf, newSandbox, run, until } from './support/scene.ts';

const lacks = ['rclone', 'fusermount3'].filter((name) => !findProgram(name));
const why = existsSync('/dev/fuse') ? lacks.join(', ') : '/dev/fuse';
const SERVER = join(import.meta.dir, 'support/s3-server.ts');
const KEYS = { AWS_ACCESS_KEY_ID: 'S3RVER', AWS_SECRET_ACCESS_KEY: 'S3RVER' };

setDefaultTimeout(90_000);

const refused = async (attempt: Promise<unknown>) => {
  const error = await attempt.then(
    () => undefined,
    (error: unknown) => error,
  );
  return error as { http: number; code?: string; message: string } | undefined;
};

describe.skipIf(why !== '').each(driverCases)(
  `object stores on the $name driver${why && ` (skipped: no ${why})`}`,
  ({ name: driver, env }) => {
    let store: ChildServer<never>;
    let folder: string;
    let endpoint: string;
    let bucket: Bun.S3Client;
    let daemon: TestDaemon;
    let client: Client;
    const daemonEnv = () => ({ ...env, SVC_OUTBOUND_ALLOW: `127.0.0.1:${store.port}` });
    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), 'svc-s3-'));
      store = await startChild(SERVER, [folder]);
      endpoint = `http://127.0.0.1:${store.port}`;
      bucket = new Bun.S3Client({
        endpoint,
        bucket: 'data',
        accessKeyId: 'S3RVER',
        secretAccessKey: 'S3RVER',
        region: 'us-east-1',
      });
      daemon = await startDaemon({ env: daemonEnv() });
      client = clientOf(daemon);
    });
    afterAll(async () => {
      for (const { id } of await list()) await terminate(id ?? '');
      await daemon.stop();
      await store.stop();
      rmSync(folder, { recursive: true, force: true });
    });

    const list = async () =>
      (await client.call(sandboxLifecycle.ListSandboxInstances, { query: { limit: 500 } })).instances ?? [];
    const terminate = (sandboxId: string) =>
      client.call(sandboxLifecycle.TerminateSandbox, { params: { sandboxId }, body: {} });
    const stop = (sandboxId: string) =>
      client.call(sandboxLifecycle.StopSandbox, { params: { sandboxId }, body: {} });
    const revive = (sandboxId: string) =>
      client.call(sandboxLifecycle.ReviveSandbox, { params: { sandboxId }, body: {} });
    const mount = (more: object = {}) => ({
      type: 's3',
      bucket: 'data',
      mountPath: '/data',
      endpoint,
      ...more,
    });
    const create = (mounts: object[] = [mount()], more: object = {}) =>
      newSandbox(client, { envVars: KEYS, mounts, ...more });
    const stored = (name: string) =>
      until(async () => {
        const file = bucket.file(name);
        return (await file.exists()) && file.text();
      });
    const eventsOf = async (sandboxId: string) =>
      (await client.call(sandboxHistory.ListSandboxEvents, { params: { sandboxId }, query: {} })).events ??
      [];

    test('what is written inside is in the store, and what is put into the store is inside', async () => {
      const id = await create();
      await bucket.write('from-outside/greeting', 'hello');
      const made = await run(
        client,
        id,
        'cat /data/from-outside/greeting; mkdir /data/new; echo inside >/data/new/file; rm /data/from-outside/greeting; stat -c %u:%a /data/new/file',
      );
      expect(made).toMatchObject({ stdout: 'hello1000:644\n', stderr: '', code: 0 });
      expect(await stored('new/file')).toBe('inside\n');
      await until(async () => !(await bucket.file('from-outside/greeting').exists()));
      await terminate(id);
      expect(left(daemon, id)).toEqual({ processes: [], mounts: [], folders: [] });
    });

    test('what was written just before the end has reached the store when the end is answered', async () => {
      const id = await create();
      await run(client, id, 'head -c 3000000 /dev/zero >/data/large; echo last >/data/last');
      await terminate(id);
      expect(await bucket.file('last').text()).toBe('last\n');
      expect(await bucket.size('large')).toBe(3_000_000);
      expect(left(daemon, id)).toEqual({ processes: [], mounts: [], folders: [] });
    });

    test('several buckets and a part of one are mounted side by side', async () => {
      await bucket.write('part/of/it', 'part');
      const id = await create([
        mount({ subpath: 'part/of', mountPath: '/part' }),
        mount({ bucket: 'other', mountPath: '/other' }),
      ]);
      expect((await run(client, id, 'cat /part/it; ls /other; echo x >/other/x')).stdout).toBe('part');
      await stop(id);
      expect(left(daemon, id)).toMatchObject({ processes: [], mounts: [] });
      expect(await new Bun.S3Client({ ...KEYS_OF(endpoint), bucket: 'other' }).file('x').text()).toBe('x\n');
      await terminate(id);
    });

    test('it is there again after sleep, in a fork and in a recreated sandbox, and is no part of their files', async () => {
      const id = await create();
      await run(client, id, 'echo kept >/data/kept; echo own >/workspace/own');
      await stored('kept');
      await stop(id);
      await revive(id);
      expect((await run(client, id, 'cat /data/kept')).stdout).toBe('kept\n');
      const { instances } = await client.call(snapshots.ForkSandbox, { params: { sandboxId: id }, body: {} });
      const fork = instances[0]?.id ?? '';
      expect((await run(client, fork, 'cat /data/kept /workspace/own')).stdout).toBe('kept\nown\n');
      const again = await client.call(sandboxLifecycle.RecreateSandbox, { body: { sandboxId: id } });
      expect((await run(client, again.id ?? '', 'cat /data/kept')).stdout).toBe('kept\n');
      const { id: snapshotId } = await client.call(snapshots.CreateSnapshot, {
        body: { name: `without-${driver}`, from_sandbox_id: id },
      });
      await until(async () => {
        const now = await client.call(snapshots.GetSnapshot, { params: { snapshotId } });
        return now.state === 'active';
      }, 30_000);
      const plain = await newSandbox(client, { snapshotId });
      expect((await run(client, plain, 'cat /workspace/own; ls /data')).stdout).toBe('own\n');
      for (const one of [id, fork, again.id ?? '', plain]) await terminate(one);
      await client.call(snapshots.DeleteSnapshot, { params: { snapshotId } });
    });

    test('a killed daemon leaves it mounted; what was written meanwhile arrives when the next one is there', async () => {
      const id = await create();
      await run(client, id, 'echo 1 >/data/before');
      await run(client, id, '(sleep 2; echo 2 >/data/meanwhile) >/dev/null 2>&1 &', { background: true });
      await daemon.kill9();
      await Bun.sleep(3_000);
      daemon = await startDaemon({ env: daemonEnv(), dataDir: daemon.dataDir, apiKey: daemon.apiKey });
      client = clientOf(daemon);
      expect((await run(client, id, 'cat /data/before /data/meanwhile; echo 3 >/data/after')).stdout).toBe(
        '1\n2\n',
      );
      expect(await stored('after')).toBe('3\n');
      await terminate(id);
      expect(await bucket.file('meanwhile').text()).toBe('2\n');
      expect(left(daemon, id)).toEqual({ processes: [], mounts: [], folders: [] });
    });

    test('a program that dies is told of, and is there again after sleep', async () => {
      const id = await create();
      for (const pid of left(daemon, id).processes) process.kill(pid, 'SIGKILL');
      await until(async () => (await eventsOf(id)).some(({ eventType }) => eventType === 'mount.lost'));
      expect((await run(client, id, 'ls /data')).code).not.toBe(0);
      await stop(id);
      await revive(id);
      expect((await run(client, id, 'ls /data')).code).toBe(0);
      await terminate(id);
    });

    test('a store that stops answering holds up neither the daemon nor the end of the sandbox', async () => {
      const stuckFolder = mkdtempSync(join(tmpdir(), 'svc-s3-stuck-'));
      const stuck = Bun.spawn([process.execPath, SERVER, stuckFolder], { stdout: 'pipe' });
      const { value } = await stuck.stdout.getReader().read();
      const { port } = JSON.parse(new TextDecoder().decode(value)) as { port: number };
      const other = await startDaemon({
        env: { ...env, SVC_OUTBOUND_ALLOW: `127.0.0.1:${port}` },
      });
      const asked = clientOf(other);
      const id = await newSandbox(asked, {
        envVars: KEYS,
        mounts: [mount({ endpoint: `http://127.0.0.1:${port}` })],
      });
      stuck.kill('SIGSTOP');
      await run(asked, id, 'ls /data/nowhere >/dev/null 2>&1 & sleep 0.5; true', { background: true });
      await Bun.sleep(1_000);
      expect((await run(asked, id, 'echo alive')).stdout).toBe('alive\n');
      await asked.call(sandboxLifecycle.TerminateSandbox, { params: { sandboxId: id }, body: {} });
      expect(left(other, id)).toEqual({ processes: [], mounts: [], folders: [] });
      await other.stop();
      stuck.kill('SIGKILL');
      await stuck.exited;
      rmSync(stuckFolder, { recursive: true, force: true });
    });

    test('secrets are in no argument, no file and no log', async () => {
      const secret = 'S3RVER-not-this-one-0123456789';
      const failed = await refused(
        create([mount()], { envVars: { AWS_ACCESS_KEY_ID: 'WRONG', AWS_SECRET_ACCESS_KEY: secret } }),
      );
      expect(failed?.http).toBe(502);
      expect(failed?.message).toContain('bucket data');
      expect(failed?.message).not.toContain(secret);
      const id = await create([mount()], { envVars: { ...KEYS, AWS_SESSION_TOKEN: secret } }).catch(() => '');
      for (const pid of id ? left(daemon, id).processes : [])
        expect(readFileSync(`/proc/${pid}/cmdline`, 'utf8')).not.toContain(secret);
      const dir = join(daemon.dataDir, 'object-stores');
      const found = Bun.spawnSync(['grep', '-rl', secret, dir]).stdout.toString();
      expect(found).toBe('');
      expect(daemon.log()).not.toContain(secret);
      if (id) await terminate(id);
    });

    test.each<[string, object, object, number, string]>([
      ['without credentials', {}, { envVars: {} }, 400, 'AWS_ACCESS_KEY_ID'],
      ['an inner address', { endpoint: 'http://10.0.0.1:9000' }, {}, 400, 'not public'],
      ['the metadata service', { endpoint: 'http://169.254.169.254' }, {}, 400, 'link-local'],
      ['this host, by another port', { endpoint: 'http://127.0.0.1:1' }, {}, 400, 'not public'],
      ['this host, by its name', { endpoint: 'http://localhost:1' }, {}, 400, 'not public'],
      ['an endpoint with a path', { endpoint: 'http://127.0.0.1:9000/x' }, {}, 400, 'endpoint'],
      ['a bucket that is none', { bucket: '../x' }, {}, 400, 'bucket'],
      ['a subpath that leads out', { subpath: '../x' }, {}, 400, 'subpath'],
      ['a place of the system', { mountPath: '/proc/x' }, {}, 400, 'mountPath'],
      ['r2 without an endpoint', { type: 'r2', endpoint: undefined }, {}, 400, 'endpoint'],
      ['azure without an account', { type: 'azure', endpoint: undefined }, {}, 400, 'AZURE_STORAGE_ACCOUNT'],
    ])('%s is refused, and nothing is made', async (_, wrong, more, http, words) => {
      const before = (await list()).length;
      const error = await refused(create([mount(wrong)], more));
      expect({ ...error, message: JSON.stringify(error) + error?.message }).toMatchObject({
        http,
        message: expect.stringContaining(words),
      });
      expect(await list()).toHaveLength(before);
    });

    test('a bucket that is not there leaves a failed sandbox with the reason, and nothing else', async () => {
      const error = await refused(create([mount({ bucket: 'nowhere' })]));
      expect(error).toMatchObject({ http: 502, message: expect.stringContaining('not found') });
      const failed = (await list()).find(({ lifecycleState }) => lifecycleState === 'failed');
      expect(left(daemon, failed?.id ?? '')).toEqual({ processes: [], mounts: [], folders: [] });
    });

    test('a host without the tool says what to install, and makes nothing', async () => {
      const place = mkdtempSync(join(tmpdir(), 'svc-no-rclone-'));
      const wrapper = join(place, 'svc');
      const hide = `mount --bind /dev/null ${findProgram('rclone')}`;
      const words = svcCommand()
        .map((word) => `'${word}'`)
        .join(' ');
      writeFileSync(
        wrapper,
        `#!/bin/sh\nexec unshare --mount sh -c '${hide} && exec "$@"' sh ${words} "$@"\n`,
        {
          mode: 0o755,
        },
      );
      const { SVC_TEST_BINARY: binary } = process.env;
      process.env.SVC_TEST_BINARY = wrapper;
      const bare = await startDaemon({ env: daemonEnv() });
      if (binary === undefined) delete process.env.SVC_TEST_BINARY;
      else process.env.SVC_TEST_BINARY = binary;
      const asked = clientOf(bare);
      const error = await refused(newSandbox(asked, { envVars: KEYS, mounts: [mount()] }));
      expect(error).toMatchObject({ http: 501, message: expect.stringContaining('apt-get install rclone') });
      expect(
        (await asked.call(sandboxLifecycle.ListSandboxInstances, { query: {} })).instances ?? [],
      ).toHaveLength(0);
      await bare.stop();
      rmSync(place, { recursive: true, force: true });
    });
  },
);

const KEYS_OF = (endpoint: string) => ({
  endpoint,
  accessKeyId: 'S3RVER',
  secretAccessKey: 'S3RVER',
  region: 'us-east-1',
});

/** What is left of the mounts of a sandbox on this host. */
function left(daemon: TestDaemon, id: string) {
  const processes = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(`/${id}/`);
      } catch {
        return false;
      }
    })
    .map(Number);
  const mounts = readFileSync('/proc/self/mounts', 'utf8')
    .split('\n')
    .filter((line) => line.includes(`/stores/${id}/`));
  const folder = join(daemon.dataDir, 'object-stores', id);
  return { processes, mounts, folders: existsSync(folder) ? [folder] : [] };
}
