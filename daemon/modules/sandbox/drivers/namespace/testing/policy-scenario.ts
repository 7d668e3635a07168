import { newId } from '../../../../../../src/kit/id.ts';
import { boxSpec, finish } from '../../conformance/scene.ts';
import type { Lookup, NetworkPolicy, SandboxDriver } from '../../driver.ts';
import { policyOf } from '../../network/policy.ts';
import { createNamespaceDriver } from '../index.ts';
import { LAB } from './network-lab.ts';

/** What boxes with policies reach in the lab. A connection gives what the other side said, or `refused`. */
export interface PolicyReport {
  /** By policy: each destination, and each name with the addresses that it led to. */
  readonly reached: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly lookups: readonly Lookup[];
  /** Lines of a connection that is open all the time: more of them while it was allowed, denied, allowed again. */
  readonly stream: Readonly<Record<'allowed' | 'denied' | 'allowedAgain', number>>;
  readonly sealedAtFirst: Readonly<Record<string, string>>;
  readonly withAnothersAddress: string;
  readonly withItsOwn: string;
  readonly afterFlood: string;
  readonly withoutDaemon: Readonly<Record<string, string>>;
  readonly wipedOut: Readonly<Record<string, string>>;
  readonly afterRestart: Readonly<Record<string, string>>;
}

const { dataDir, instance } = JSON.parse(process.argv[2] ?? '{}') as { dataDir: string; instance: string };
const open = () => createNamespaceDriver({ dataDir, instance, warm: 1, log: () => {} });

Bun.listen({
  hostname: '0.0.0.0',
  port: LAB.hostPort,
  socket: { open: (socket) => void socket.end('daemon\n'), data: () => {} },
});

const whitelist = (...allowHosts: string[]): NetworkPolicy => ({ ...policyOf('whitelist'), allowHosts });
const withCidrs = (mode: NetworkPolicy['mode'], ...allowCidrs: string[]): NetworkPolicy => ({
  ...policyOf(mode),
  allowCidrs,
});

/** Each is set on one box that runs, in this order. */
const POLICIES: Readonly<Record<string, NetworkPolicy>> = {
  allow: policyOf('allow'),
  'whitelist of a name': whitelist('internet.test', 'rebind.test', 'stray.test', 'large.test'),
  'whitelist of an alias': whitelist('alias.test'),
  'whitelist of all below a name': whitelist('*.test'),
  'whitelist of nothing': whitelist(),
  deny: policyOf('deny'),
  'deny with a network': withCidrs('deny', `${LAB.otherInternet}/32`),
  'allow with a network of the host': withCidrs('allow', '192.168.77.0/24'),
  'whitelist of an address of credentials': withCidrs('whitelist', `${LAB.metadata}/32`),
};

let driver: SandboxDriver = await open();
const [box, other, late] = [
  boxSpec('host', { network: 'allow' }),
  boxSpec('host', { network: 'allow' }),
  boxSpec('host', { network: 'deny' }),
] as const;
for (const spec of [box, other, late]) await driver.create(spec);

const sealed = { before: await say(late.id, 'tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d " "') };
await driver.setNetwork(late.id, policyOf('allow'));
const sealedAtFirst = {
  ...sealed,
  internet: await reach(late.id, LAB.internet),
  name: await look(late.id, 'internet.test'),
};
await driver.remove(late.id);

const reached: Record<string, Record<string, string>> = {};
for (const [name, policy] of Object.entries(POLICIES)) {
  await driver.setNetwork(box.id, policy);
  reached[name] = await destinations();
}
const lookups = driver.lookups(box.id);
const stream = await holdOpen();
await driver.setNetwork(box.id, policyOf('deny'));
await driver.setNetwork(other.id, whitelist('internet.test'));
await driver.setNetwork(box.id, whitelist('other.test'));
const withItsOwn = await fromAddress(await addressOf(box.id), await addressOf(box.id));
const withAnothersAddress = await fromAddress(await addressOf(box.id), await addressOf(other.id));
const afterFlood = await flood();
const { withoutDaemon, wipedOut } = await alone();
driver = await open();
const afterRestart = {
  name: await look(other.id, 'internet.test'),
  internet: await reach(other.id, LAB.internet),
  host: await reach(other.id, LAB.uplink, LAB.hostPort),
};
for (const { id } of await driver.list()) await driver.remove(id);
await driver.close();

const report: PolicyReport = {
  reached,
  lookups,
  stream,
  sealedAtFirst,
  withAnothersAddress,
  withItsOwn,
  afterFlood,
  withoutDaemon,
  wipedOut,
  afterRestart,
};
console.log(JSON.stringify(report));
process.exit(0);

async function destinations(): Promise<Record<string, string>> {
  const names = ['internet', 'alias', 'rebind', 'stray', 'nowhere'];
  const found: Record<string, string> = {};
  for (const name of names) found[name] = await look(box.id, `${name}.test`);
  found.localhost = await look(box.id, 'a.localhost');
  const [internet, elsewhere, lan, metadata, host, resolver] = await Promise.all([
    reach(box.id, LAB.internet),
    reach(box.id, LAB.otherInternet),
    reach(box.id, LAB.lan),
    reach(box.id, LAB.metadata),
    reach(box.id, LAB.uplink, LAB.hostPort),
    reach(box.id, LAB.resolver),
  ]);
  return { ...found, internetAddress: internet, elsewhere, lan, metadata, host, resolver };
}

/** A connection that never ends, under a policy that changes: from the new one on not a line comes through. */
async function holdOpen(): Promise<PolicyReport['stream']> {
  await driver.setNetwork(box.id, policyOf('allow'));
  const script = `exec 3<>/dev/tcp/${LAB.internet}/81; while read -r line <&3; do echo "$line"; echo >&3; done`;
  const execution = await driver.exec(box.id, { id: newId('cmd'), argv: ['bash', '-c', script] });
  let lines = 0;
  void (async () => {
    for await (const { bytes } of execution.output) lines += bytes.length;
  })();
  const during = async () => {
    const before = lines;
    await Bun.sleep(500);
    return lines - before;
  };
  const allowed = await during();
  await driver.setNetwork(box.id, policyOf('deny'));
  // What had come through before is read to its end; a line more, and the connection is told that it is over.
  await Promise.race([execution.exited, Bun.sleep(3_000)]);
  const denied = await during();
  await driver.setNetwork(box.id, policyOf('allow'));
  const allowedAgain = (await reach(box.id, LAB.internet)) === 'hello' ? 1 : 0;
  await execution.kill('SIGKILL');
  return { allowed, denied, allowedAgain };
}

/** From the network of the first box, as somebody who may do everything there, with an address of somebody's. */
async function fromAddress(own: string, address: string): Promise<string> {
  const enter = await enterBox(box.id);
  if (address !== own) Bun.spawnSync([...enter, 'ip', 'addr', 'add', `${address}/20`, 'dev', 'eth0']);
  const connect = `my $s = IO::Socket::INET->new(LocalAddr => "${address}", PeerAddr => "${LAB.internet}", PeerPort => 80, Timeout => 2); print $s ? <$s> : "refused\\n"`;
  const answer = await output([...enter, 'perl', '-MIO::Socket::INET', '-e', connect]);
  if (address !== own) Bun.spawnSync([...enter, 'ip', 'addr', 'del', `${address}/20`, 'dev', 'eth0']);
  return answer;
}

/** While one box asks for more names than anybody could answer, another one has its answer. */
async function flood(): Promise<string> {
  const send = `use IO::Socket::INET; my $s = IO::Socket::INET->new(Proto => "udp", PeerAddr => "192.0.2.53", PeerPort => 53); for my $i (1..30000) { $s->send(pack("nnnnnn", $i & 65535, 256, 1, 0, 0, 0) . "\\x05other\\x04test\\x00" . pack("nn", 1, 1)) }`;
  const flooding = driver.exec(box.id, { id: newId('cmd'), argv: ['perl', '-e', send] }).then(finish);
  await Bun.sleep(50);
  const answer = await look(other.id, 'internet.test');
  await flooding;
  return answer;
}

/** What boxes reach while no daemon runs, and when somebody has wiped the rules out then. */
async function alone() {
  await driver.setNetwork(box.id, policyOf('allow'));
  const [listed, free] = [await enterBox(other.id), await enterBox(box.id)];
  await driver.close();
  const get = (enter: string[], address: string, port = 80) =>
    output([...enter, 'bash', '-c', connectScript(address, port)]);
  const withoutDaemon = {
    learnt: await get(listed, LAB.internet),
    notLearnt: await get(listed, LAB.otherInternet),
    free: await get(free, LAB.otherInternet),
    names: await output([...free, 'bash', '-c', connectScript('192.0.2.53', 53)]),
  };
  Bun.spawnSync(['nft', 'flush', 'ruleset']);
  const wipedOut = {
    internet: await get(free, LAB.internet),
    host: await get(free, LAB.uplink, LAB.hostPort),
    lan: await get(free, LAB.lan),
  };
  return { withoutDaemon, wipedOut };
}

async function enterBox(id: string): Promise<string[]> {
  return ['nsenter', `--net=/proc/${await driver.hostProcess(id)}/ns/net`];
}

async function addressOf(id: string): Promise<string> {
  return say(id, "awk '/32 host/ {print f} {f=$2}' /proc/net/fib_trie | grep -v ^127 | sort -u | head -n 1");
}

function connectScript(address: string, port: number): string {
  return `timeout 2 bash -c 'exec 3<>/dev/tcp/${address}/${port} && cat <&3' 2>/dev/null || echo refused`;
}

function reach(id: string, address: string, port = 80): Promise<string> {
  return say(id, connectScript(address, port));
}

function look(id: string, name: string): Promise<string> {
  return say(id, `timeout 5 getent ahostsv4 ${name} | cut -d' ' -f1 | sort -u | xargs`);
}

async function say(id: string, script: string): Promise<string> {
  const { stdout } = await finish(
    await driver.exec(id, { id: newId('cmd'), argv: ['/bin/sh', '-c', script] }),
  );
  return stdout.trim();
}

async function output(argv: string[]): Promise<string> {
  const child = Bun.spawn(argv, { stdout: 'pipe', stderr: 'ignore' });
  return (await new Response(child.stdout).text()).trim();
}
