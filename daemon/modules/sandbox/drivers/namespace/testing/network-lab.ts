import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from '../../host/run.ts';

/** Addresses of the lab. The box's host has one uplink; everything else is behind the router. */
export const LAB = {
  uplink: '198.18.0.2',
  router: '198.18.0.1',
  internet: '8.9.10.11',
  otherInternet: '8.9.10.12',
  lan: '192.168.77.7',
  metadata: '169.254.169.254',
  resolver: '10.53.53.53',
  /** A port of the host on which something listens. */
  hostPort: 9_999,
} as const;

/** A host and its internet, as network namespaces of this machine: nothing of the real network is touched. */
export interface NetworkLab {
  /** Runs a program of this repository on the lab's host and gives what it printed. */
  readonly runOnHost: (script: string, argument: unknown) => Promise<string>;
  readonly close: () => Promise<void>;
}

/** Builds the lab: a host that forwards, a router with the addresses of the internet, and servers on them. */
export async function openNetworkLab(): Promise<NetworkLab> {
  const mark = crypto.randomUUID().slice(0, 6);
  const host = `svclab-${mark}-h`;
  const router = `svclab-${mark}-r`;
  const dir = await mkdtemp(join(tmpdir(), 'svc-lab-'));
  for (const name of [host, router]) await run(['ip', 'netns', 'add', name]);
  await configure(host, [`link add uplink type veth peer name uplink netns ${router}`]);
  const outside = [LAB.internet, LAB.otherInternet, LAB.lan, LAB.metadata, LAB.resolver];
  await configure(router, [
    'link set lo up',
    `addr add ${LAB.router}/30 dev uplink`,
    'link set uplink up',
    ...outside.map((address) => `addr add ${address}/32 dev lo`),
  ]);
  await configure(host, [
    'link set lo up',
    `addr add ${LAB.uplink}/30 dev uplink`,
    'link set uplink up',
    `route add default via ${LAB.router}`,
  ]);
  await run(['nsenter', `--net=/run/netns/${host}`, 'sh', '-c', 'echo 1 >/proc/sys/net/ipv4/ip_forward']);
  await writeFile(join(dir, 'resolv.conf'), `nameserver 127.0.0.53\nnameserver ${LAB.resolver}\n`);
  const server = Bun.spawn(
    ['nsenter', `--net=/run/netns/${router}`, process.execPath, join(import.meta.dir, 'lab-server.ts')],
    { stdout: 'pipe', stderr: 'inherit' },
  );
  await server.stdout.getReader().read();
  return {
    runOnHost: (script, argument) => runIn(host, dir, script, argument),
    async close() {
      server.kill();
      await server.exited;
      for (const name of [host, router]) await run(['ip', 'netns', 'del', name]);
      await rm(dir, { recursive: true, force: true });
    },
  };
}

async function configure(namespace: string, lines: readonly string[]): Promise<void> {
  await run(['ip', '-n', namespace, '-batch', '-'], { input: `${lines.join('\n')}\n` });
}

const ENTER = 'mount --bind "$1" /etc/resolv.conf && shift && exec "$@"';

/** In the lab host's network, with its name servers, and in a mount namespace that is thrown away. */
async function runIn(namespace: string, dir: string, script: string, argument: unknown): Promise<string> {
  const program = [process.execPath, script, JSON.stringify(argument)];
  const enter = ['unshare', '--mount', '--propagation', 'private', '/bin/sh', '-c', ENTER, 'sh'];
  return run(['nsenter', `--net=/run/netns/${namespace}`, ...enter, join(dir, 'resolv.conf'), ...program], {
    timeoutMs: 120_000,
    cwd: join(import.meta.dir, '../../../../../..'),
  });
}
