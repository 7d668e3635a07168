import { existsSync } from 'node:fs';
import { mkdtemp, open, readdir, readFile, rm, rmdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Docker from 'dockerode';
import { ensurePrograms, findProgram } from './debian-packages.ts';
import { busyboxRootfs, debianRootfs } from './rootfs.ts';
import { runCommand, tryCommand } from './run-command.ts';

/** A Docker engine for tests. */
export interface TestDockerd {
  /** Path of the engine's socket. */
  readonly socket: string;
  /** An image that is in it: BusyBox and nothing else. */
  readonly image: string;
  /** Name of the network namespace that the engine and its boxes live in; '' when someone else started it. */
  readonly netns: string;
  /** Brings a Debian image (dash, bash, coreutils) into the engine; answers its reference. */
  debianImage(): Promise<string>;
  /** Ends the engine, everything in it and everything of it. */
  stop(): Promise<void>;
}

const IMAGE = 'svc-test/busybox:1';
const DEBIAN_IMAGE = 'svc-test/debian:1';
const PREFIX = 'svc-test-dockerd-';
const START_MS = 30_000;

/** Why no engine can be had here; undefined when it can. */
export function dockerdMissing(): string | undefined {
  if (process.env.SVC_TEST_DOCKER_SOCKET) return undefined;
  if (process.platform !== 'linux') return 'a Docker engine of our own needs Linux';
  if (process.getuid?.() !== 0) return 'a Docker engine of our own needs root';
  if (!findProgram('dockerd') && !findProgram('apt-get')) return 'no dockerd, and no apt-get to install it';
  return undefined;
}

/**
 * A Docker engine: the one that `SVC_TEST_DOCKER_SOCKET` and `SVC_TEST_DOCKER_IMAGE` name, else a private one
 * in a network namespace of its own, so that the host's firewall stays as it is. Installs what is missing.
 */
export async function startDockerd(): Promise<TestDockerd> {
  const { SVC_TEST_DOCKER_SOCKET: socket, SVC_TEST_DOCKER_IMAGE: image } = process.env;
  if (socket)
    return {
      socket,
      image: image || IMAGE,
      netns: process.env.SVC_TEST_DOCKER_NETNS ?? '',
      debianImage: debianIn(socket),
      stop: async () => {},
    };
  await ensurePrograms({
    dockerd: 'docker.io',
    iptables: 'iptables',
    nft: 'nftables',
    ip: 'iproute2',
    nsenter: 'util-linux',
  });
  const rootfs = busyboxRootfs();
  await sweepAbandoned();
  const dir = await mkdtemp(join(tmpdir(), PREFIX));
  const engine = new PrivateEngine(dir);
  try {
    await engine.start();
    await importImage(engine.socket, await rootfs, IMAGE);
  } catch (error) {
    await engine.stop();
    throw error;
  }
  const { netns } = engine;
  return {
    socket: engine.socket,
    image: IMAGE,
    netns,
    debianImage: debianIn(engine.socket),
    stop: () => engine.stop(),
  };
}

class PrivateEngine {
  readonly socket: string;
  readonly netns: string;

  constructor(private readonly dir: string) {
    this.socket = join(dir, 'docker.sock');
    this.netns = netnsOf(dir);
  }

  async start(): Promise<void> {
    await writeFile(join(this.dir, 'owner'), String(process.pid));
    await runCommand(['ip', 'netns', 'add', this.netns]);
    await runCommand(['ip', '-n', this.netns, 'link', 'set', 'lo', 'up']);
    const log = await open(join(this.dir, 'log'), 'a');
    const child = Bun.spawn(this.command(), {
      stdin: 'ignore',
      stdout: log.fd,
      stderr: log.fd,
      detached: true,
    });
    child.unref();
    await log.close();
    await this.untilItAnswers(child);
  }

  async stop(): Promise<void> {
    await removeContainers(this.socket);
    await cleanUp(this.dir);
  }

  private command(): string[] {
    const at = (name: string) => join(this.dir, name);
    const dirs = ['--data-root', at('data'), '--exec-root', at('exec'), '--pidfile', at('pid')];
    const cgroup = ['--cgroup-parent', cgroupOf(this.dir)];
    const program = findProgram('dockerd') ?? 'dockerd';
    return [
      'nsenter',
      `--net=/run/netns/${this.netns}`,
      program,
      ...dirs,
      ...cgroup,
      '-H',
      `unix://${this.socket}`,
    ];
  }

  private async untilItAnswers(child: Bun.Subprocess): Promise<void> {
    const client = new Docker({ socketPath: this.socket });
    for (const end = Date.now() + START_MS; Date.now() < end; await Bun.sleep(50)) {
      if (child.exitCode !== null) break;
      if (existsSync(this.socket) && (await client.ping().catch(() => undefined))) return;
    }
    const log = await readFile(join(this.dir, 'log'), 'utf8');
    throw new Error(`dockerd does not answer:\n${log.slice(-2000)}`);
  }
}

function netnsOf(dir: string): string {
  return `svct-${dir.slice(-6)}`;
}

function cgroupOf(dir: string): string {
  return `/svc-test-${dir.slice(-6)}`;
}

function debianIn(socket: string): () => Promise<string> {
  return async () => {
    const client = new Docker({ socketPath: socket });
    const there = await client
      .getImage(DEBIAN_IMAGE)
      .inspect()
      .catch(() => undefined);
    if (!there) await importImage(socket, await debianRootfs(), DEBIAN_IMAGE);
    return DEBIAN_IMAGE;
  };
}

async function importImage(socket: string, tar: string, reference: string): Promise<void> {
  const [repo, tag] = reference.split(':');
  const answer = await new Docker({ socketPath: socket }).importImage(tar, { repo, tag });
  let text = '';
  for await (const part of answer) text += part.toString();
  if (text.includes('"error"')) throw new Error(`The image ${reference} was not imported: ${text}`);
}

async function removeContainers(socket: string): Promise<void> {
  const client = new Docker({ socketPath: socket });
  const all = await client.listContainers({ all: true }).catch(() => []);
  await Promise.all(
    all.map(({ Id }) =>
      client
        .getContainer(Id)
        .remove({ force: true, v: true })
        .catch(() => {}),
    ),
  );
}

/** Ends what runs of an engine and takes its folder, mounts, cgroups and network namespace away. */
async function cleanUp(dir: string): Promise<void> {
  for (const file of ['pid', 'exec/containerd/containerd.pid'])
    await endProcess(Number(await readFile(join(dir, file), 'utf8').catch(() => '0')), dir);
  const mounts = (await readFile('/proc/self/mountinfo', 'utf8'))
    .split('\n')
    .map((line) => line.split(' ')[4] ?? '');
  for (const mount of mounts.filter((path) => path.startsWith(`${dir}/`)).reverse())
    await tryCommand(['umount', '-l', mount]);
  await tryCommand(['ip', 'netns', 'delete', netnsOf(dir)]);
  for (const controller of ['', ...(await readdir('/sys/fs/cgroup').catch(() => []))])
    await rmdir(join('/sys/fs/cgroup', controller, cgroupOf(dir))).catch(() => {});
  await rm(dir, { recursive: true, force: true });
}

/** Ends a process of this engine by its id: asked first, then forced. */
async function endProcess(pid: number, dir: string): Promise<void> {
  const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  if (!command.includes(dir)) return;
  process.kill(pid, 'SIGTERM');
  for (const end = Date.now() + 10_000; Date.now() < end; await Bun.sleep(20)) if (!isAlive(pid)) return;
  process.kill(pid, 'SIGKILL');
}

function isAlive(pid: number): boolean {
  return pid > 1 && existsSync(`/proc/${pid}`);
}

/** Takes away what a run that was killed left: engines whose owner is gone. */
async function sweepAbandoned(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    if (!name.startsWith(PREFIX)) continue;
    const dir = join(tmpdir(), name);
    const owner = Number(await readFile(join(dir, 'owner'), 'utf8').catch(() => '1'));
    if (owner === 1 || isAlive(owner)) continue;
    await removeContainers(join(dir, 'docker.sock'));
    await cleanUp(dir);
  }
}
