import { newId } from '../../../../../../src/kit/id.ts';
import { boxSpec } from '../../conformance/scene.ts';
import type { SandboxDriver } from '../../driver.ts';
import { createNamespaceDriver } from '../index.ts';
import { LAB } from './network-lab.ts';

/** What was seen from boxes in the lab. A connection gives what the other side said, or `refused`. */
export interface NetworkReport {
  readonly findings: Readonly<Record<string, string>>;
  readonly resolvConf: string;
  readonly fromBox: Readonly<Record<string, string>>;
  readonly gateway: string;
  readonly fromHostToBox: string;
  readonly interfacesOfDenied: string;
  readonly ipv6: string;
  /** What the first box reaches when others have come and gone, and the bridge's address before and after. */
  readonly afterChanges: Readonly<Record<string, string>>;
  readonly afterFlush: Readonly<Record<string, string>>;
  readonly rxBytes: number;
  readonly left: { readonly links: string; readonly tables: string };
}

const { dataDir, instance } = JSON.parse(process.argv[2] ?? '{}') as { dataDir: string; instance: string };

Bun.listen({
  hostname: '0.0.0.0',
  port: LAB.hostPort,
  socket: { open: (socket) => void socket.end('daemon\n'), data: () => {} },
});
const driver = await createNamespaceDriver({ dataDir, instance, warm: 1, log: () => {} });
const boxes = [boxSpec('host', { network: 'allow' }), boxSpec('host', { network: 'allow' })] as const;
const denied = boxSpec('host', { network: 'deny' });
for (const spec of [...boxes, denied]) await driver.create(spec);
const [first, second] = boxes.map(({ id }) => id) as [string, string];
const listener = await driver.exec(second, {
  id: newId('cmd'),
  argv: ['perl', '-MIO::Socket::INET', '-e', listenProgram()],
});
await listener.output[Symbol.asyncIterator]().next();
const other = await addresses(second);

const probe = async (box: string, address: string, port = 80) =>
  text(
    driver,
    box,
    `timeout 2 bash -c 'exec 3<>/dev/tcp/${address}/${port} && cat <&3' 2>/dev/null || echo refused`,
  );
const gateway = await text(
  driver,
  first,
  `awk '$2 == "00000000" {print $3}' /proc/net/route | sed 's/\\(..\\)\\(..\\)\\(..\\)\\(..\\)/0x\\4 0x\\3 0x\\2 0x\\1/' | xargs printf '%d.%d.%d.%d'`,
);

const report: NetworkReport = {
  gateway,
  findings: Object.fromEntries((await driver.probe()).findings.map(({ check, status }) => [check, status])),
  resolvConf: await text(driver, first, 'cat /etc/resolv.conf'),
  fromBox: await all({
    internet: probe(first, LAB.internet),
    nameServer: probe(first, LAB.resolver),
    name: text(driver, first, 'getent ahostsv4 internet.test | cut -d" " -f1 | sort -u'),
    lan: probe(first, LAB.lan),
    metadata: probe(first, LAB.metadata),
    routerInOwnNetwork: probe(first, LAB.router),
    hostUplink: probe(first, LAB.uplink, LAB.hostPort),
    hostBridge: probe(first, gateway, LAB.hostPort),
    otherBox: probe(first, other, 7_000),
    otherBoxOnItself: probe(second, '127.0.0.1', 7_000),
    loopback: probe(first, '127.0.0.1', LAB.hostPort),
  }),
  fromHostToBox: await connect(other, 7_000),
  interfacesOfDenied: await text(driver, denied.id, 'tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d " "'),
  ipv6: await text(driver, first, 'grep -c eth0 /proc/net/if_inet6 || true'),
  rxBytes: (await driver.stats(first)).networkRxBytes,
  afterChanges: await changeAndLook(),
  afterFlush: await flushAndLook(),
  left: await clean(),
};
console.log(JSON.stringify(report));
process.exit(0);

async function all(questions: Record<string, Promise<string>>): Promise<Record<string, string>> {
  const answers = await Promise.all(Object.values(questions));
  return Object.fromEntries(Object.keys(questions).map((name, i) => [name, answers[i] ?? '']));
}

function listenProgram(): string {
  return '$| = 1; my $s = IO::Socket::INET->new(LocalAddr => "0.0.0.0", LocalPort => 7000, Listen => 5, ReuseAddr => 1) or die; print "up\\n"; while (my $c = $s->accept) { print $c "box\\n"; close $c }';
}

async function changeAndLook(): Promise<Record<string, string>> {
  const address = () =>
    Bun.spawnSync(['sh', '-c', "ip -o link show type bridge | grep -o 'link/ether [^ ]*'"])
      .stdout.toString()
      .trim();
  const before = address();
  const others = Array.from({ length: 6 }, () => boxSpec('host', { network: 'allow' }));
  for (const spec of others) await driver.create(spec);
  const between = address();
  for (const { id } of others) await driver.remove(id);
  return { internet: await probe(first, LAB.internet), before, between, after: address() };
}

async function flushAndLook(): Promise<Record<string, string>> {
  Bun.spawnSync(['nft', 'flush', 'ruleset']);
  const spec = boxSpec('host', { network: 'allow', limits: { cpu: 1, memoryMb: 128, pids: 64 } });
  await driver.create(spec);
  // A box of the pool was connected before; the driver looks at its rules when it connects one, and by itself.
  await driver.create({ ...spec, id: newId('sbx') });
  return {
    hostUplink: await probe(spec.id, LAB.uplink, LAB.hostPort),
    internet: await probe(spec.id, LAB.internet),
  };
}

async function clean(): Promise<{ links: string; tables: string }> {
  for (const { id } of await driver.list()) await driver.remove(id);
  await driver.close();
  let links = '';
  for (let i = 0; i < 100; i++) {
    links = Bun.spawnSync(['ip', '-o', 'link', 'show', 'type', 'veth'])
      .stdout.toString()
      .replace(/^.* uplink@.*\n/m, '');
    links += Bun.spawnSync(['ip', '-o', 'link', 'show', 'type', 'bridge']).stdout.toString();
    if (links === '') break;
    await Bun.sleep(50);
  }
  return { links, tables: Bun.spawnSync(['nft', 'list', 'tables']).stdout.toString() };
}

async function addresses(box: string): Promise<string> {
  return await text(
    driver,
    box,
    "awk '/32 host/ {print f} {f=$2}' /proc/net/fib_trie | grep -v ^127 | sort -u | head -n 1",
  );
}

async function text(from: SandboxDriver, box: string, script: string): Promise<string> {
  const execution = await from.exec(box, { id: newId('cmd'), argv: ['/bin/sh', '-c', script] });
  let out = '';
  for await (const { channel, bytes } of execution.output)
    if (channel === 'stdout') out += new TextDecoder().decode(bytes);
  return out.trim();
}

async function connect(address: string, port: number): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const socket = {
    data: (_: Bun.Socket, bytes: Buffer) => resolve(bytes.toString().trim()),
    error: () => resolve('refused'),
    connectError: () => resolve('refused'),
  };
  Bun.connect({ hostname: address, port, socket }).catch(() => resolve('refused'));
  return Promise.race([promise, Bun.sleep(3_000).then(() => 'refused')]);
}
