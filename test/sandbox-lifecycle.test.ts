import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { sandboxLifecycle } from '../src/api/sandbox/lifecycle.ts';
import { snapshots } from '../src/api/sandbox/snapshots.ts';
import type { Client } from '../src/client/client.ts';
import { startDaemon, type TestDaemon } from './support/daemon.ts';
import { driverCases } from './support/drivers.ts';
import { clientOf, newSandbox, run, until } from './support/scene.ts';

const FILES = `mkdir -p deep/er && head -c 300000 /dev/urandom > deep/er/blob && ln -s deep/er/blob link &&
  ln deep/er/blob hard && chmod 640 hard && printf x > 'odd name' && : > empty`;
const LISTING =
  'cat deep/er/blob link hard "odd name" | md5sum; ls -lR . | md5sum; stat -c %h,%a hard; readlink link';

/** Many of these run at once on a busy machine; none is about speed. */
setDefaultTimeout(60_000);

describe.each(driverCases)('the life of a sandbox on the $name driver', ({ name, env }) => {
  let daemon: TestDaemon;
  let client: Client;
  beforeAll(async () => {
    daemon = await startDaemon({ env });
    client = clientOf(daemon);
  });
  afterAll(async () => {
    const { instances = [] } = await client.call(sandboxLifecycle.ListSandboxInstances, {
      query: { limit: 500 },
    });
    for (const { id = '' } of instances) await call('TerminateSandbox', id);
    await daemon.stop();
  });

  const call = (
    what: 'StopSandbox' | 'ReviveSandbox' | 'ArchiveSandbox' | 'RestoreSandbox' | 'TerminateSandbox',
    sandboxId: string,
  ) => client.call(sandboxLifecycle[what], { params: { sandboxId }, body: {} });
  const get = async (sandboxId: string) =>
    (await client.call(sandboxLifecycle.GetSandboxInstance, { params: { sandboxId } })).instance;
  const resize = (sandboxId: string, body: { cpuLimit?: number; memoryMb?: string }) =>
    client.call(sandboxLifecycle.ResizeSandbox, { params: { sandboxId }, body });
  const refusal = async (attempt: Promise<unknown>) =>
    (await attempt.then(
      () => ({}),
      (error: unknown) => error,
    )) as { http?: number; message?: string };

  test('archived and restored it has exactly the files that it had', async () => {
    const id = await newSandbox(client, { envVars: { COLOR: 'red' } });
    await run(client, id, FILES);
    const before = await run(client, id, LISTING);
    expect(before.code).toBe(0);
    expect((await refusal(call('ArchiveSandbox', id))).http).toBe(409);
    await call('StopSandbox', id);
    await call('ArchiveSandbox', id);
    expect(await get(id)).toMatchObject({ lifecycleState: 'archived', status: 'SANDBOX_STATUS_STOPPED' });
    const file = join(daemon.dataDir, 'archives', `${id}.tar.zst`);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const refused = await refusal(call('ReviveSandbox', id));
    expect(refused).toMatchObject({ http: 409, message: expect.stringContaining('archived') });
    await call('RestoreSandbox', id);
    expect(existsSync(file)).toBe(false);
    expect((await run(client, id, LISTING)).stdout).toBe(before.stdout);
    expect((await run(client, id, 'echo $COLOR; id -u; touch new && echo ok')).stdout).toBe(
      'red\n1000\nok\n',
    );
  });

  test('what was deleted stays deleted through archive and restore', async () => {
    const id = await newSandbox(client);
    const victim = (
      await run(client, id, 'ls -d /bin/busybox /usr/bin/tac /bin/ls 2>/dev/null | tail -1')
    ).stdout.trim();
    const removed = await run(client, id, `rm -f ${victim}; test -e ${victim} || echo gone`, { uid: 0 });
    if (removed.stdout !== 'gone\n') return expect(name).toBe('namespace');
    await call('StopSandbox', id);
    await call('ArchiveSandbox', id);
    await call('RestoreSandbox', id);
    expect((await run(client, id, `test -e ${victim} || echo gone`)).stdout).toBe('gone\n');
    return undefined;
  });

  test('an archived one outlives the daemon, and is removed with all that was kept', async () => {
    const id = await newSandbox(client);
    await call('StopSandbox', id);
    await call('ArchiveSandbox', id);
    await daemon.kill9();
    daemon = await startDaemon({ env, dataDir: daemon.dataDir, apiKey: daemon.apiKey });
    client = clientOf(daemon);
    expect(await get(id)).toMatchObject({ lifecycleState: 'archived' });
    await call('TerminateSandbox', id);
    expect(existsSync(join(daemon.dataDir, 'archives', `${id}.tar.zst`))).toBe(false);
  });

  test('a resize of a running one is felt inside at once, and kept through sleep', async () => {
    const id = await newSandbox(client, { cpuLimit: 1, memoryMb: '256' });
    const eat = 'head -c 150m /dev/zero | tail | wc -c';
    expect((await run(client, id, eat)).code).toBe(0);
    expect((await resize(id, { memoryMb: '64', cpuLimit: 0.5 })).instance?.config).toMatchObject({
      cpu: 0.5,
      memoryMb: 64,
    });
    expect((await run(client, id, eat)).stdout.trim()).not.toBe(String(150 * 1024 * 1024));
    await call('StopSandbox', id);
    await call('ReviveSandbox', id);
    expect((await run(client, id, eat)).stdout.trim()).not.toBe(String(150 * 1024 * 1024));
    await resize(id, { memoryMb: '512' });
    expect((await run(client, id, eat)).stdout.trim()).toBe(String(150 * 1024 * 1024));
  });

  test.each([
    [{}, 'cpuLimit'],
    [{ cpuLimit: 4096 }, 'cpuLimit'],
    [{ memoryMb: '1' }, 'memoryMb'],
  ])('a resize to %j is 400 and names %s', async (body, field) => {
    const id = await newSandbox(client);
    const refused = await refusal(resize(id, body));
    expect(refused.http).toBe(400);
    expect(JSON.stringify(refused)).toContain(field);
    expect((await get(id))?.config).toMatchObject({ cpu: 1 });
  });

  test('a repository that cannot be cloned makes no sandbox, and says why', async () => {
    const refused = await refusal(newSandbox(client, { name: 'cloned', gitRepoUrl: 'file:///nowhere/repo' }));
    expect(refused).toMatchObject({
      http: 409,
      message: expect.stringMatching(/could not be cloned: .*(git|exist)/s),
    });
    expect(await get('cloned')).toMatchObject({ lifecycleState: 'failed' });
  });

  test('a repository is cloned where commands start, and its commit is recorded', async () => {
    const origin = await newSandbox(client);
    const make = `command -v git || exit 99; cd ~ && git init -q -b main repo.git && cd repo.git && echo hello > readme &&
      git -c user.name=a -c user.email=a@b add . && git -c user.name=a -c user.email=a@b commit -qm one && git rev-parse HEAD`;
    const made = await run(client, origin, make);
    if (made.code === 99) return expect(name).toBe('docker');
    const snapshot = await client.call(snapshots.CreateSnapshot, {
      body: { name: 'with-repository', from_sandbox_id: origin },
    });
    await until(
      async () =>
        (await client.call(snapshots.GetSnapshot, { params: { snapshotId: snapshot.id } })).state ===
        'active',
    );
    const request = { snapshotId: snapshot.id, gitRepoUrl: 'file:///home/svc/repo.git', gitBranch: 'main' };
    const id = await newSandbox(client, request);
    const commit = made.stdout.trim().split('\n').at(-1);
    expect(await get(id)).toMatchObject({
      gitRepoUrl: request.gitRepoUrl,
      gitBranch: 'main',
      gitCommitSha: commit,
    });
    expect((await run(client, id, 'cat readme; git rev-parse HEAD')).stdout).toBe(`hello\n${commit}\n`);
    return undefined;
  });

  test.each([
    [{ gitRepoUrl: 'ext::sh -c id' }, 'gitRepoUrl'],
    [{ gitRepoUrl: 'https://me:secret@example.com/a' }, 'gitRepoUrl'],
    [{ gitRepoUrl: 'https://example.com/a', gitBranch: '--upload-pack=x' }, 'gitBranch'],
    [{ gitBranch: 'main' }, 'gitRepoUrl'],
  ])('%j is 400 and names %s', async (body, field) => {
    const refused = await refusal(newSandbox(client, body));
    expect(refused.http).toBe(400);
    expect(JSON.stringify(refused)).toContain(field);
    expect(JSON.stringify(refused)).not.toContain('secret');
  });
});
