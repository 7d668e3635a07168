import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sandboxLifecycle } from '../src/api/sandbox/lifecycle.ts';
import { snapshots } from '../src/api/sandbox/snapshots.ts';
import type { Client } from '../src/client/client.ts';
import { startDaemon, type TestDaemon } from './support/daemon.ts';
import { driverCases } from './support/drivers.ts';
import { clientOf, newSandbox, run, until } from './support/scene.ts';

setDefaultTimeout(300_000);

/** How often the daemon is killed at each kind of work. */
const KILLS = Number(process.env.SVC_TEST_STORAGE_KILLS ?? 2);
const BYTES = 30_000_000;
const HASH = 'cat files/* | md5sum';

describe.each(driverCases)('the daemon is killed on the $name driver', ({ name: driver, env }) => {
  let daemon: TestDaemon;
  let client: Client;
  let id: string;
  let hash: string;
  beforeAll(async () => {
    daemon = await startDaemon({ env });
    client = clientOf(daemon);
    id = await newSandbox(client);
    await run(client, id, `mkdir files && cd files && head -c ${BYTES} /dev/urandom | split -b 100k -a 3`);
    hash = (await run(client, id, HASH)).stdout;
  });
  afterAll(async () => {
    for (const one of await all()) await terminate(one.id ?? '');
    await daemon.stop();
  });

  const all = async () =>
    (await client.call(sandboxLifecycle.ListSandboxInstances, { query: { limit: 500 } })).instances ?? [];
  const stateOf = async () =>
    (await client.call(sandboxLifecycle.GetSandboxInstance, { params: { sandboxId: id } })).instance
      ?.lifecycleState;
  const terminate = (sandboxId: string) =>
    client.call(sandboxLifecycle.TerminateSandbox, { params: { sandboxId }, body: {} });
  const at = () => ({ params: { sandboxId: id }, body: {} });
  const restart = async () => {
    await daemon.kill9();
    daemon = await startDaemon({ env, dataDir: daemon.dataDir, apiKey: daemon.apiKey });
    client = clientOf(daemon);
  };

  /** Brings the sandbox to a state in which the work can be asked for. */
  const wake = async () => {
    const state = await stateOf();
    if (state === 'archived') await client.call(sandboxLifecycle.RestoreSandbox, at());
    if (state === 'sleeping') await client.call(sandboxLifecycle.ReviveSandbox, at());
  };
  const sleep = async () => {
    await wake();
    await client.call(sandboxLifecycle.StopSandbox, at());
  };
  const archived = async () => {
    await sleep();
    await client.call(sandboxLifecycle.ArchiveSandbox, at());
  };

  /** What half-done work could leave in the data directory. */
  const waste = () => {
    const names = (folder: string) => {
      try {
        return readdirSync(join(daemon.dataDir, folder)).map((name) => `${folder}/${name}`);
      } catch {
        return [];
      }
    };
    const found = ['boxes', 'images/snapshots', 'archives', 'volumes'].flatMap(names);
    return found.filter((path) => /\/\.(trash|part)|\.part$/.test(path));
  };

  test.each<[string, () => Promise<unknown>, () => Promise<unknown>]>([
    [
      'a snapshot',
      wake,
      () => client.call(snapshots.CreateSnapshot, { body: { name: `s${Date.now()}`, from_sandbox_id: id } }),
    ],
    [
      'a fork',
      wake,
      () => client.call(snapshots.ForkSandbox, { params: { sandboxId: id }, body: { count: 2 } }),
    ],
    ['an archive', sleep, () => client.call(sandboxLifecycle.ArchiveSandbox, at())],
    ['its return', archived, () => client.call(sandboxLifecycle.RestoreSandbox, at())],
  ])('while it makes %s, and every file is there after it, and nothing else', async (_, prepare, work) => {
    for (let i = 0; i < KILLS; i++) {
      await prepare();
      const working = work().catch(() => undefined);
      await Bun.sleep(20 + Math.random() * 300);
      await restart();
      await working;
      await until(() => waste().length === 0 || waste().join());
      expect(waste()).toEqual([]);
      await wake();
      expect((await run(client, id, HASH)).stdout).toBe(hash);
      for (const one of await all()) if (one.id !== id) await terminate(one.id ?? '');
      const made = await client.call(snapshots.ListSnapshots, { query: { limit: 500 } });
      for (const { id: snapshotId, state } of made.snapshots) {
        expect(['active', 'error']).toContain(state);
        await client.call(snapshots.DeleteSnapshot, { params: { snapshotId } });
      }
    }
    if (driver === 'namespace') expect(readdirSync(join(daemon.dataDir, 'images/snapshots'))).toEqual([]);
    expect(readFileSync('/proc/self/mountinfo', 'utf8')).not.toContain(`${daemon.dataDir}/boxes/sbx`);
  });
});
