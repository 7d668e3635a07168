import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import Docker from 'dockerode';
import { dockerdMissing, startDockerd } from '../../../../../test/support/dockerd.ts';
import { runCommand, tryCommand } from '../../../../../test/support/run-command.ts';
import { boxSpec, finish, settle, sh } from '../conformance/scene.ts';
import type { NetworkPolicy } from '../driver.ts';
import { policyOf } from '../network/policy.ts';
import { a, serveNames, type TestNameServer } from '../network/testing/name-server.ts';
import { missingMeans } from './egress-guard.ts';
import { connectEngine } from './engine.ts';
import { createDockerDriver } from './index.ts';
import { namesOf } from './names.ts';
import { InstanceNetwork } from './network.ts';

const noNetns = process.env.SVC_TEST_DOCKER_SOCKET && !process.env.SVC_TEST_DOCKER_NETNS;
const skip =
  dockerdMissing() ??
  missingMeans() ??
  (noNetns ? 'the network namespace of the engine is unknown' : undefined);
const engine = skip ? undefined : await startDockerd();
const instance = `n${crypto.randomUUID().slice(0, 6)}`;

const INTERNET = '8.9.10.11';
const ELSEWHERE = '8.9.10.12';
const NEIGHBOUR = '10.99.0.2';
const HOST = '10.99.0.1';
const METADATA = '169.254.169.254';
const PORT = 8089;

describe.skipIf(skip !== undefined)('a box with a network', () => {
  setDefaultTimeout(60_000);
  const dataDirs: string[] = [];
  const servers: Bun.Subprocess[] = [];
  const outside = `${engine?.netns}-i`;
  const specs = [
    boxSpec(engine?.image ?? '', { network: 'allow' }),
    boxSpec(engine?.image ?? '', { network: 'allow' }),
  ];
  const [first, second] = specs as [(typeof specs)[0], (typeof specs)[0]];
  let driver: ReturnType<typeof createDockerDriver>;
  let names: TestNameServer;
  let open: () => typeof driver;

  beforeAll(async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'svc-docker-net-'));
    dataDirs.push(dataDir);
    names = await serveNames('127.0.0.1', 0, {
      'internet.test': a('internet.test', INTERNET),
      'rebind.test': a('rebind.test', NEIGHBOUR, METADATA, ELSEWHERE),
    });
    open = () =>
      createDockerDriver({
        socketPath: engine?.socket,
        dataDir,
        instance,
        nameServers: [`127.0.0.1:${names.port}`],
        log: () => {},
      });
    driver = open();
    await connectOutside(engine?.netns ?? '', outside);
    servers.push(await serve(outside, 'outside'), await serve(engine?.netns ?? '', 'host'));
    for (const spec of specs) await driver.create(spec);
  });

  afterAll(async () => {
    for (const server of servers) server.kill();
    for (const { id } of (await driver?.list()) ?? []) await driver.remove(id);
    await driver?.close();
    names?.stop();
    await tryCommand(['ip', 'netns', 'delete', outside]);
    for (const dir of dataDirs) await rm(dir, { recursive: true, force: true });
    await engine?.stop();
  });

  const hear = async (id: string, address: string, port: number) =>
    (await finish(await driver.exec(id, sh(hearScript(address, port))))).stdout;
  const addressOf = async (id: string) =>
    (
      await finish(
        await driver.exec(id, sh("ip -4 addr show eth0 | sed -n 's/.*inet \\([0-9.]*\\).*/\\1/p'")),
      )
    ).stdout.trim();
  const gateway = async () => (await addressOf(first.id)).replace(/\d+$/, '1');

  test('reaches the internet', async () => {
    expect(await hear(first.id, INTERNET, PORT)).toBe('outside');
  });

  test('of another kind would reach what is refused below', async () => {
    for (const address of [HOST, NEIGHBOUR, METADATA])
      expect([address, await hearFromPlain(address)]).toEqual([
        address,
        expect.stringMatching(/host|outside/),
      ]);
  });

  test('reaches no address of its host, no private network and no metadata service', async () => {
    for (const address of [await gateway(), HOST, NEIGHBOUR, METADATA])
      expect([address, await hear(first.id, address, PORT)]).toEqual([address, 'refused']);
  });

  test('reaches itself and is reached from its host, but reaches no other box', async () => {
    await driver.exec(first.id, sh(`while :; do nc -l -p ${PORT} -e echo mine; done`));
    const own = await addressOf(first.id);
    const itself = () => hear(first.id, own, PORT);
    expect(await settle(itself, 'mine\n')).toBe('mine\n');
    expect(await runCommand([...inside(engine?.netns ?? ''), 'bun', '-e', hearProgram(own)])).toBe('mine\n');
    expect(await hear(second.id, own, PORT)).toBe('refused');
  });

  test('is guarded again when its firewall was flushed', async () => {
    await runCommand([
      ...inside(engine?.netns ?? ''),
      'nft',
      'delete',
      'table',
      'inet',
      namesOf(instance).table,
    ]);
    await driver.stop(second.id);
    await driver.start(second.id, second);
    expect(await hear(first.id, HOST, PORT)).toBe('refused');
  });

  test('has no IPv6', async () => {
    const { stdout } = await finish(
      await driver.exec(first.id, sh('cat /proc/net/if_inet6 | grep -v " lo$"; true')),
    );
    expect(stdout).toBe('');
  });

  const look = async (id: string, name: string) => {
    const script = `nslookup -type=a ${name} | sed -n '/^Name:/,$ s/^Address.*: *//p' | sort | xargs`;
    return (await finish(await driver.exec(id, sh(script)))).stdout.trim();
  };
  const whitelist = (...allowHosts: string[]): NetworkPolicy => ({ ...policyOf('whitelist'), allowHosts });
  const reached = async (id: string) => ({
    internet: await look(id, 'internet.test'),
    rebind: await look(id, 'rebind.test'),
    byAddress: await hear(id, INTERNET, PORT),
    elsewhere: await hear(id, ELSEWHERE, PORT),
    neighbour: await hear(id, NEIGHBOUR, PORT),
    host: await hear(id, HOST, PORT),
  });
  const nothing = {
    internet: '',
    rebind: '',
    byAddress: 'refused',
    elsewhere: 'refused',
    neighbour: 'refused',
    host: 'refused',
  };

  test.each<[string, NetworkPolicy, Partial<typeof nothing>]>([
    [
      'allow',
      policyOf('allow'),
      { internet: INTERNET, rebind: ELSEWHERE, byAddress: 'outside', elsewhere: 'outside' },
    ],
    ['a whitelist', whitelist('internet.test'), { internet: INTERNET, byAddress: 'outside' }],
    ['a whitelist that rebinds', whitelist('rebind.test'), { rebind: ELSEWHERE, elsewhere: 'outside' }],
    ['deny', policyOf('deny'), {}],
    [
      'deny with a network',
      { ...policyOf('deny'), allowCidrs: [`${ELSEWHERE}/32`] },
      { elsewhere: 'outside' },
    ],
  ])('that runs is held to %s at once', async (_, policy, expected) => {
    await driver.setNetwork(second.id, policy);
    expect(await reached(second.id)).toEqual({ ...nothing, ...expected });
  });

  test('has its open connections ended by a policy that forbids them', async () => {
    await driver.setNetwork(second.id, policyOf('allow'));
    const script = `{ while sleep 0.1; do echo; done; } | nc ${INTERNET} ${PORT + 1}`;
    const execution = await driver.exec(second.id, sh(script));
    let bytes = 0;
    void (async () => {
      for await (const chunk of execution.output) bytes += chunk.bytes.length;
    })();
    await settle(async () => bytes > 0, true);
    await driver.setNetwork(second.id, policyOf('deny'));
    await Promise.race([execution.exited, Bun.sleep(2_000)]);
    const before = bytes;
    await Bun.sleep(500);
    expect(bytes - before).toBe(0);
    expect(await hear(second.id, INTERNET, PORT)).toBe('refused');
    await execution.kill('SIGKILL');
  });

  test('is held to its policy by the next daemon, and names are answered again', async () => {
    await driver.setNetwork(second.id, whitelist('internet.test'));
    await driver.close();
    expect(await look(second.id, 'internet.test')).toBe('');
    driver = open();
    await driver.setNetwork(second.id, whitelist('internet.test'));
    expect(await look(second.id, 'internet.test')).toBe(INTERNET);
    expect(await hear(second.id, INTERNET, PORT)).toBe('outside');
    expect(await hear(second.id, ELSEWHERE, PORT)).toBe('refused');
    expect(driver.lookups(second.id)[0]).toMatchObject({ name: 'internet.test', verdict: 'allowed' });
  });

  test('that was made without a network gets one, and is cut off again', async () => {
    const spec = boxSpec(engine?.image ?? '');
    await driver.create(spec);
    expect(await hear(spec.id, INTERNET, PORT)).toBe('refused');
    await driver.setNetwork(spec.id, policyOf('allow'));
    expect(await hear(spec.id, INTERNET, PORT)).toBe('outside');
    expect(await look(spec.id, 'internet.test')).toBe(INTERNET);
    await driver.setNetwork(spec.id, policyOf('deny'));
    expect(await hear(spec.id, INTERNET, PORT)).toBe('refused');
    await driver.remove(spec.id);
  });

  test('leaves nothing in the engine and its network when the last one has gone', async () => {
    const instance = `n${crypto.randomUUID().slice(0, 6)}`;
    const [dataDir = ''] = dataDirs;
    const other = createDockerDriver({ socketPath: engine?.socket, dataDir, instance, log: () => {} });
    const spec = boxSpec(engine?.image ?? '', { network: 'allow' });
    const left = async () => {
      const docker = new Docker({ socketPath: engine?.socket });
      const networks = await docker.listNetworks({ filters: { name: [namesOf(instance).network] } });
      const tables = await runCommand([...inside(engine?.netns ?? ''), 'nft', 'list', 'tables']);
      return { networks: networks.length, tables: tables.includes(namesOf(instance).table) };
    };
    await other.create(spec);
    expect(await left()).toEqual({ networks: 1, tables: true });
    await other.remove(spec.id);
    await other.close();
    expect(await left()).toEqual({ networks: 0, tables: false });
  });

  test('is refused where nothing would guard it, unless that is allowed', async () => {
    const network = (allowUnguarded: boolean) =>
      new InstanceNetwork({
        engine: connectEngine(engine?.socket),
        names: namesOf(instance),
        guard: {
          raise: async () => ({ guarded: false, reason: 'no root' }),
          adopt: async () => {},
          put: async () => {},
          drop: async () => {},
          size: 0,
          lookupsOf: () => [],
          forget: () => {},
          close: async () => {},
        },
        allowUnguarded,
        policyOf: async () => policyOf('deny'),
      });
    const [strict, lax] = [network(false), network(true)];
    await expect(strict.ready(policyOf('allow'))).rejects.toMatchObject({ code: 'runtime_missing' });
    expect(await lax.ready(policyOf('allow'))).toMatchObject({ guarded: false });
    for (const policy of [whitelist('a.test'), { ...policyOf('deny'), allowCidrs: ['8.8.8.0/24'] }])
      await expect(lax.ready(policy)).rejects.toMatchObject({ code: 'not_configured' });
    await strict.close();
    await lax.close();
  });

  async function hearFromPlain(address: string): Promise<string> {
    const docker = new Docker({ socketPath: engine?.socket });
    const Cmd = ['/bin/sh', '-c', hearScript(address, PORT)];
    const container = await docker.createContainer({ Image: engine?.image, Cmd, Tty: true });
    const output = (await container.attach({ stream: true, stdout: true })) as unknown as Readable;
    await container.start();
    let text = '';
    for await (const part of output) text += part;
    await container.remove({ force: true });
    return text;
  }
});

function inside(netns: string): string[] {
  return ['nsenter', `--net=/run/netns/${netns}`];
}

function hearScript(address: string, port: number): string {
  return `nc -w 2 ${address} ${port} </dev/null || printf refused`;
}

function hearProgram(address: string): string {
  const socket = '{ data: (_, bytes) => process.stdout.write(bytes), close: () => process.exit(0) }';
  return `await Bun.connect({ hostname: '${address}', port: ${PORT}, socket: ${socket} })`;
}

/** Joins the engine's network to one that plays a private neighbour, the internet and a metadata service. */
async function connectOutside(netns: string, outside: string): Promise<void> {
  const link = ['link', 'add', 'uplink', 'type', 'veth', 'peer', 'name', 'uplink', 'netns', outside];
  await runCommand(['ip', 'netns', 'add', outside]);
  await runCommand(['ip', '-n', netns, ...link]);
  for (const [where, address] of [
    [netns, `${HOST}/30`],
    [outside, `${NEIGHBOUR}/30`],
  ] as const) {
    await runCommand(['ip', '-n', where, 'addr', 'add', address, 'dev', 'uplink']);
    for (const device of ['lo', 'uplink']) await runCommand(['ip', '-n', where, 'link', 'set', device, 'up']);
  }
  for (const address of [INTERNET, ELSEWHERE, METADATA])
    await runCommand(['ip', '-n', outside, 'addr', 'add', `${address}/32`, 'dev', 'lo']);
  await runCommand(['ip', '-n', netns, 'route', 'add', 'default', 'via', NEIGHBOUR]);
}

/** A server that says its words to whoever connects. */
async function serve(netns: string, words: string): Promise<Bun.Subprocess> {
  const socket = `{ open: (peer) => peer.end('${words}'), data() {} }`;
  const ticker = `{ open(peer) { setInterval(() => peer.write('tick\\n'), 50) }, data() {}, error() {} }`;
  const listeners = [
    [PORT, socket],
    [PORT + 1, ticker],
  ].map(([port, handlers]) => `Bun.listen({ port: ${port}, hostname: '0.0.0.0', socket: ${handlers} });`);
  const program = `${listeners.join(' ')} console.log('up')`;
  const child = Bun.spawn([...inside(netns), 'bun', '-e', program], { stdout: 'pipe', stderr: 'inherit' });
  const reader = child.stdout.getReader();
  await reader.read();
  reader.releaseLock();
  return child;
}
