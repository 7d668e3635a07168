import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import Docker from 'dockerode';
import { dockerdMissing, startDockerd } from '../../../../../test/support/dockerd.ts';
import { runCommand, tryCommand } from '../../../../../test/support/run-command.ts';
import { boxSpec, finish, settle, sh } from '../conformance/scene.ts';
import { guardRules, missingMeans } from './egress-guard.ts';
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

const INTERNET = '203.0.113.9';
const NEIGHBOUR = '10.99.0.2';
const HOST = '10.99.0.1';
const METADATA = '169.254.169.254';
const PORT = 8089;

test('the rules name the bridge, the resolvers and the networks of the host', () => {
  const rules = guardRules(namesOf('x'), ['192.0.2.53'], ['198.51.100.0/24']);
  expect(rules).toContain('elements = { 192.0.2.53 }');
  expect(rules).toContain('198.51.100.0/24');
  expect(rules.match(new RegExp(namesOf('x').bridge, 'g'))).toHaveLength(2);
});

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

  beforeAll(async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'svc-docker-net-'));
    dataDirs.push(dataDir);
    driver = createDockerDriver({ socketPath: engine?.socket, dataDir, instance, log: () => {} });
    await connectOutside(engine?.netns ?? '', outside);
    servers.push(await serve(outside, 'outside'), await serve(engine?.netns ?? '', 'host'));
    for (const spec of specs) await driver.create(spec);
  });

  afterAll(async () => {
    for (const server of servers) server.kill();
    for (const { id } of (await driver?.list()) ?? []) await driver.remove(id);
    await driver?.close();
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
    expect(await hear(first.id, HOST, PORT)).toBe('host');
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

  test('is refused where nothing would guard it, unless that is allowed', async () => {
    const names = namesOf(instance);
    const guard = { raise: async () => ({ guarded: false, reason: 'no root' }) };
    const client = connectEngine(engine?.socket);
    const strict = new InstanceNetwork(client, names, guard, false);
    await expect(strict.ready()).rejects.toMatchObject({ code: 'runtime_missing' });
    expect(await new InstanceNetwork(client, names, guard, true).ready()).toBe(names.network);
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
  for (const address of [INTERNET, METADATA])
    await runCommand(['ip', '-n', outside, 'addr', 'add', `${address}/32`, 'dev', 'lo']);
  await runCommand(['ip', '-n', netns, 'route', 'add', 'default', 'via', NEIGHBOUR]);
}

/** A server that says its words to whoever connects. */
async function serve(netns: string, words: string): Promise<Bun.Subprocess> {
  const socket = `{ open: (peer) => peer.end('${words}'), data() {} }`;
  const program = `Bun.listen({ port: ${PORT}, hostname: '0.0.0.0', socket: ${socket} }); console.log('up')`;
  const child = Bun.spawn([...inside(netns), 'bun', '-e', program], { stdout: 'pipe', stderr: 'inherit' });
  const reader = child.stdout.getReader();
  await reader.read();
  reader.releaseLock();
  return child;
}
