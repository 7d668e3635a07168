import { Database } from 'bun:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import {
  a,
  serveNames,
  type TestNameServer,
} from '../daemon/modules/sandbox/drivers/network/testing/name-server.ts';
import { sandboxHistory } from '../src/api/sandbox/history.ts';
import { sandboxLifecycle } from '../src/api/sandbox/lifecycle.ts';
import { sandboxNetwork } from '../src/api/sandbox/network.ts';
import { type Client, createClient } from '../src/client/client.ts';
import { startDaemon, type TestDaemon } from './support/daemon.ts';
import { driverCases } from './support/drivers.ts';
import { clientOf, newSandbox, run } from './support/scene.ts';

const ADDRESS = '8.9.10.11';

describe.each(driverCases)('what sandboxes reach on the $name driver', ({ env }) => {
  let names: TestNameServer;
  let daemon: TestDaemon;
  let client: Client;
  let start: (dataDir?: string, apiKey?: string) => Promise<void>;
  beforeAll(async () => {
    names = await serveNames('127.0.0.1', 0, {
      'one.test': a('one.test', ADDRESS),
      'two.test': a('two.test', ADDRESS),
    });
    start = async (dataDir, apiKey) => {
      daemon = await startDaemon({
        dataDir,
        apiKey,
        env: { ...env, SVC_SANDBOX_NAME_SERVERS: `127.0.0.1:${names.port}`, SVC_SANDBOX_WARM: '1' },
      });
      client = clientOf(daemon);
    };
    await start();
  }, 60_000);
  afterAll(async () => {
    const { instances = [] } = await client.call(sandboxLifecycle.ListSandboxInstances, { query: {} });
    for (const { id = '' } of instances)
      await client.call(sandboxLifecycle.TerminateSandbox, { params: { sandboxId: id }, body: {} });
    await daemon.stop();
    names.stop();
  }, 60_000);

  const show = async (sandboxId: string) =>
    (await client.call(sandboxNetwork.GetSandboxNetwork, { params: { sandboxId } })).network;
  const set = (sandboxId: string, body: object) =>
    client.call(sandboxNetwork.SetSandboxNetwork, { params: { sandboxId }, body });
  const look = async (id: string, name: string) => {
    const script = `if command -v getent >/dev/null; then timeout 5 getent ahostsv4 ${name} | cut -d' ' -f1 | sort -u; else nslookup -type=a ${name} | sed -n '/^Name:/,$ s/^Address.*: *//p'; fi`;
    return (await run(client, id, script)).stdout.trim();
  };
  const refused = async (attempt: Promise<unknown>) => {
    const error = await attempt.then(
      () => undefined,
      (error: unknown) => error,
    );
    return error as { http: number; message: string };
  };
  const restart = async () => {
    const { dataDir, apiKey } = daemon;
    await daemon.kill9();
    await start(dataDir, apiKey);
  };

  test('follows what was asked for when it was made', async () => {
    const id = await newSandbox(client, { networkAllowHosts: ['one.test'] });
    expect(await show(id)).toEqual({
      networkMode: 'whitelist',
      networkBlockAll: false,
      networkAllowCidrs: [],
      networkAllowHosts: ['one.test'],
    });
    expect([await look(id, 'one.test'), await look(id, 'two.test')]).toEqual([ADDRESS, '']);
    expect(names.asked).not.toContain('two.test');
    const { lookups = [] } = await client.call(sandboxNetwork.ListSandboxLookups, {
      params: { sandboxId: id },
      query: { verdict: 'allowed' },
    });
    expect(lookups.at(-1)).toMatchObject({
      domain: 'one.test',
      queryType: 'A',
      verdict: 'allowed',
      addresses: [ADDRESS],
      time: expect.any(String),
    });
  }, 60_000);

  test('changes at once, is told as an event, and stays after the daemon was killed', async () => {
    const id = await newSandbox(client, {});
    expect([await look(id, 'one.test'), await look(id, 'two.test')]).toEqual([ADDRESS, ADDRESS]);
    await set(id, { networkAllowHosts: ['two.test'] });
    expect([await look(id, 'one.test'), await look(id, 'two.test')]).toEqual(['', ADDRESS]);
    const { events = [] } = await client.call(sandboxHistory.ListSandboxEvents, {
      params: { sandboxId: id },
      query: { eventType: 'network.changed' },
    });
    expect(events).toMatchObject([
      { metadata: { networkMode: 'whitelist', networkAllowHosts: ['two.test'] } },
    ]);
    await restart();
    expect([await look(id, 'one.test'), await look(id, 'two.test')]).toEqual(['', ADDRESS]);
    await set(id, { networkMode: 'deny' });
    expect(await look(id, 'two.test')).toBe('');
  }, 60_000);

  test('is what is written down, also when the daemon was killed before it held', async () => {
    const id = await newSandbox(client, { networkAllowHosts: ['one.test'] });
    const { dataDir, apiKey } = daemon;
    await daemon.kill9();
    writeDown(dataDir, id, { mode: 'whitelist', allowCidrs: [], allowHosts: ['two.test'] });
    await start(dataDir, apiKey);
    expect(await show(id)).toMatchObject({ networkAllowHosts: ['two.test'] });
    expect([await look(id, 'one.test'), await look(id, 'two.test')]).toEqual(['', ADDRESS]);
  }, 60_000);

  test('of a sleeping sandbox is what it wakes with', async () => {
    const id = await newSandbox(client, { networkMode: 'deny' });
    expect(await look(id, 'one.test')).toBe('');
    await client.call(sandboxLifecycle.StopSandbox, { params: { sandboxId: id }, body: {} });
    await set(id, { networkMode: 'allow' });
    await client.call(sandboxLifecycle.ReviveSandbox, { params: { sandboxId: id }, body: {} });
    expect(await look(id, 'one.test')).toBe(ADDRESS);
  }, 60_000);

  test.each<[string, object, string]>([
    ['eleven networks', { networkAllowCidrs: Array(11).fill('8.8.8.0/24') }, 'networkAllowCidrs'],
    ['a bad network', { networkAllowCidrs: ['8.8.8.0/24', '8.8.8.0/33'] }, 'networkAllowCidrs[1]'],
    ['a private network', { networkAllowCidrs: ['10.0.0.0/8'] }, 'networkAllowCidrs[0]'],
    ['a bad name', { networkAllowHosts: ['a b'] }, 'networkAllowHosts[0]'],
    ['a mode that there is not', { networkMode: 'open' }, 'networkMode'],
  ])(
    'with %s is refused and nothing is made or changed',
    async (_, body, field) => {
      const id = await newSandbox(client, {});
      const before = (await client.call(sandboxLifecycle.ListSandboxInstances, { query: {} })).total;
      for (const attempt of [
        newSandbox(client, body as Record<string, unknown>),
        set(id, { networkMode: 'allow', ...body }),
      ]) {
        const error = await refused(attempt);
        expect(error.http).toBe(400);
        expect(error.message).toContain(field);
      }
      expect((await client.call(sandboxLifecycle.ListSandboxInstances, { query: {} })).total).toBe(before);
      expect(await show(id)).toMatchObject({ networkMode: 'allow' });
      await client.call(sandboxLifecycle.TerminateSandbox, { params: { sandboxId: id }, body: {} });
    },
    60_000,
  );

  test('of a sandbox that is not there, or gone, cannot be changed', async () => {
    expect((await refused(set('sbx_none', { networkMode: 'deny' }))).http).toBe(404);
    const id = await newSandbox(client, { networkMode: 'deny' });
    expect((await refused(set(id, {}))).message).toContain('networkMode');
    await client.call(sandboxLifecycle.TerminateSandbox, { params: { sandboxId: id }, body: {} });
    expect((await refused(set(id, { networkMode: 'allow' }))).http).toBe(409);
  }, 60_000);

  test('is not for strangers', async () => {
    const stranger = createClient({ url: daemon.url, apiKey: `s_${'a'.repeat(43)}` });
    const { id = '' } =
      (await client.call(sandboxLifecycle.ListSandboxInstances, { query: {} })).instances?.[0] ?? {};
    const attempt = stranger.call(sandboxNetwork.SetSandboxNetwork, {
      params: { sandboxId: id },
      body: { networkMode: 'allow' },
    });
    expect((await refused(attempt)).http).toBe(401);
  });
});

/** Writes a policy into the database of a daemon that does not run. */
function writeDown(dataDir: string, id: string, policy: object): void {
  const db = new Database(join(dataDir, 'svc.db'), { create: false, readwrite: true });
  db.run("UPDATE sandboxes SET config = json_set(config, '$.network', json(?)) WHERE id = ?", [
    JSON.stringify(policy),
    id,
  ]);
  db.close();
}
