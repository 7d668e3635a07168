import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { sandboxLifecycle } from '../../src/api/sandbox/lifecycle.ts';
import type { Client } from '../../src/client/client.ts';
import { startDaemon } from '../support/daemon.ts';
import { startDockerd } from '../support/dockerd.ts';
import { clientOf, newSandbox, run } from '../support/scene.ts';
import { median, quantile } from './kit/quantile.ts';
import { atLeast, atMost, digits, type Goal, type Line, Report } from './kit/report.ts';
import { sizeFromEnv } from './kit/setting.ts';

const ROUNDS = sizeFromEnv('BENCH_ROUNDS', 15);
const CROWD = sizeFromEnv('BENCH_CROWD', 100);
const REFILL_MS = 400;

/** Milliseconds of each round, by step. */
type Times = Readonly<Record<'create' | 'command' | 'stop' | 'revive', number[]>>;

/** Sandboxes over HTTP on both drivers in one run, and a crowd of them. Needs root. */
export async function benchSandboxes(report: Report): Promise<void> {
  const cold = await onDaemon({ SVC_SANDBOX_DRIVER: 'namespace', SVC_SANDBOX_WARM: '0' }, (client) =>
    rounds(client, 0),
  );
  const warm = await onDaemon({ SVC_SANDBOX_DRIVER: 'namespace', SVC_SANDBOX_WARM: '4' }, (client) =>
    rounds(client, REFILL_MS),
  );
  const engine = await startDockerd();
  const env = {
    SVC_SANDBOX_DRIVER: 'docker',
    SVC_DOCKER_SOCKET: engine.socket,
    SVC_SANDBOX_DOCKER_IMAGE: engine.image,
  };
  const docker = await onDaemon(env, (client) => rounds(client, 0)).finally(() => engine.stop());
  report.table({
    title: 'sandboxes over HTTP',
    columns: ['p50 ms', 'p95 ms', 'docker', 'ratio'],
    lines: [
      line('create to first command, cold', cold.create, docker.create, (p50, ratio) => [
        atMost(p50, 90, 'ms'),
        atLeast(ratio, 4, 'x'),
      ]),
      line('create to first command, warm', warm.create, docker.create, (p50, ratio) => [
        atMost(p50, 20, 'ms'),
        atLeast(ratio, 15, 'x'),
      ]),
      line('a command', cold.command, docker.command, (p50) => [atMost(p50, 15, 'ms')]),
      line('stop', cold.stop, docker.stop),
      line('revive to first command', cold.revive, docker.revive),
    ],
  });
  await onDaemon({ SVC_SANDBOX_DRIVER: 'namespace', SVC_SANDBOX_WARM: '0' }, (client, pid) =>
    crowd(client, pid, report),
  );
}

async function onDaemon<T>(
  env: Record<string, string>,
  work: (client: Client, pid: number) => Promise<T>,
): Promise<T> {
  const daemon = await startDaemon({ env: { ...env, SVC_LOG_LEVEL: 'warn' } });
  try {
    return await work(clientOf(daemon), daemon.pid);
  } finally {
    await daemon.stop();
  }
}

async function rounds(client: Client, pauseMs: number): Promise<Times> {
  const times: Times = { create: [], command: [], stop: [], revive: [] };
  for (let i = -2; i < ROUNDS; i++) {
    await Bun.sleep(pauseMs);
    const one = await round(client);
    if (i >= 0) for (const step of Object.keys(times) as Array<keyof Times>) times[step].push(one[step]);
  }
  return times;
}

async function round(client: Client): Promise<Record<keyof Times, number>> {
  const start = performance.now();
  const sandboxId = await newSandbox(client);
  await run(client, sandboxId, 'true');
  const create = performance.now() - start;
  const command = await timed(() => run(client, sandboxId, 'true'));
  const stop = await timed(() =>
    client.call(sandboxLifecycle.StopSandbox, { params: { sandboxId }, body: {} }),
  );
  const revive = await timed(async () => {
    await client.call(sandboxLifecycle.ReviveSandbox, { params: { sandboxId }, body: {} });
    await run(client, sandboxId, 'true');
  });
  await client.call(sandboxLifecycle.TerminateSandbox, { params: { sandboxId }, body: {} });
  return { create, command, stop, revive };
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

function line(
  what: string,
  times: readonly number[],
  peer: readonly number[],
  goals?: (p50: number, ratio: number) => Goal[],
): Line {
  const p50 = median(times);
  const ratio = median(peer) / p50;
  return {
    what,
    cells: [p50, quantile(times, 0.95), median(peer), ratio].map(digits),
    goals: goals?.(p50, ratio),
  };
}

/** Many sandboxes at once, and what is left of them. */
async function crowd(client: Client, pid: number, report: Report): Promise<void> {
  const before = traces();
  const memoryBefore = availableMb();
  const rssBefore = rssMb(pid);
  const start = performance.now();
  const ids = await Promise.all(Array.from({ length: CROWD }, () => newSandbox(client)));
  const madeMs = performance.now() - start;
  const results = await Promise.all(ids.map((id) => run(client, id, 'echo here')));
  if (results.some(({ stdout }) => stdout !== 'here\n'))
    throw new Error('a sandbox of the crowd did not answer');
  const eachMb = (memoryBefore - availableMb()) / CROWD;
  const daemonMb = rssMb(pid) - rssBefore;
  await Promise.all(
    ids.map((sandboxId) =>
      client.call(sandboxLifecycle.TerminateSandbox, { params: { sandboxId }, body: {} }),
    ),
  );
  const left = Object.entries(traces()).filter(
    ([kind, count]) => count > (before[kind as keyof typeof before] ?? 0),
  );
  report.table({
    title: `${CROWD} sandboxes at once`,
    columns: ['figure'],
    lines: [
      { what: 'ms until all run', cells: [digits(madeMs)] },
      { what: 'MB of memory each, all in all', cells: [digits(eachMb)], goals: [atMost(eachMb, 6, 'MB')] },
      { what: 'MB that the daemon grew', cells: [digits(daemonMb)] },
      {
        what: 'kinds of traces left after removal',
        cells: [String(left.length)],
        goals: [atMost(left.length, 0, '')],
      },
    ],
    notes: left.map(([kind, count]) => `${kind}: ${count}`),
  });
  if (left.length > 0) throw new Error('sandboxes left traces');
}

/** Mounts, network devices, control groups and processes of sandboxes on this host. */
function traces() {
  const lines = (path: string, pattern: RegExp) =>
    readFileSync(path, 'utf8')
      .split('\n')
      .filter((text) => pattern.test(text)).length;
  const inits = readdirSync('/proc').filter(
    (name) => /^\d+$/.test(name) && commandOf(name).includes('/.svc/init'),
  );
  return {
    mounts: lines('/proc/mounts', /boxes\//),
    ports: readdirSync('/sys/class/net').filter((name) => existsSync(`/sys/class/net/${name}/brport`)).length,
    inits: inits.length,
  };
}

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}

function availableMb(): number {
  return Number(/MemAvailable:\s+(\d+)/.exec(readFileSync('/proc/meminfo', 'utf8'))?.[1]) / 1024;
}

function rssMb(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}

if (import.meta.main) {
  const report = new Report();
  await benchSandboxes(report);
  report.close();
}
