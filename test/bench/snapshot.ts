import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sandboxLifecycle } from '../../src/api/sandbox/lifecycle.ts';
import { snapshots } from '../../src/api/sandbox/snapshots.ts';
import type { Client } from '../../src/client/client.ts';
import { startDaemon, type TestDaemon } from '../support/daemon.ts';
import { dockerdMissing, startDockerd } from '../support/dockerd.ts';
import { clientOf, newSandbox, run } from '../support/scene.ts';
import { namespaceMissing } from './kit/host.ts';
import { median, quantile, timed } from './kit/quantile.ts';
import { atMost, digits, type Goal, type Line, Report } from './kit/report.ts';
import { sizeFromEnv } from './kit/setting.ts';

const ROUNDS = sizeFromEnv('BENCH_ROUNDS', 5);
const SIZE_MB = sizeFromEnv('BENCH_CHANGE_MB', 100);
const FILL = `mkdir files && cd files && head -c ${SIZE_MB}M /dev/urandom | split -b 100k -a 4`;
const POLL_MS = 2;
/** What a box prepares after it answered, for its next command: nothing is measured meanwhile. */
const SETTLE_MS = 150;

const STEPS = ['snapshot', 'create', 'fork', 'fork5', 'revive', 'archive', 'restore', 'copy'] as const;
type Step = (typeof STEPS)[number];
type Times = Readonly<Record<Step, number[]>>;

/**
 * Snapshots, forks and archives of a sandbox with 100 MB of changes in 1,000 files, over HTTP: the namespace driver
 * beside `cp -a` of the same files, and beside the docker driver, whose snapshots are those of the engine.
 */
export async function benchSnapshots(report: Report): Promise<void> {
  const missing = namespaceMissing();
  if (missing) return console.log(`not measured: ${missing}`);
  const engine = dockerdMissing() ? undefined : await startDockerd();
  const daemons: TestDaemon[] = [];
  try {
    const open = async (env: Record<string, string>) => {
      const daemon = await startDaemon({ env: { SVC_LOG_LEVEL: 'info', ...env } });
      daemons.push(daemon);
      return measure(daemon);
    };
    const own = await open({ SVC_SANDBOX_DRIVER: 'namespace', SVC_SANDBOX_WARM: '0' });
    const docker =
      engine &&
      (await open({
        SVC_SANDBOX_DRIVER: 'docker',
        SVC_DOCKER_SOCKET: engine.socket,
        SVC_SANDBOX_DOCKER_IMAGE: await engine.debianImage(),
      }));
    print(report, own, docker);
  } finally {
    for (const daemon of daemons) await daemon.stop();
    await engine?.stop();
  }
}

async function measure(daemon: TestDaemon): Promise<Times> {
  const times = Object.fromEntries(STEPS.map((step) => [step, []])) as unknown as Times;
  const client = clientOf(daemon);
  for (let i = -1; i < ROUNDS; i++) {
    const sandboxId = await newSandbox(client);
    await run(client, sandboxId, FILL);
    await Bun.spawn(['sync', '-f', daemon.dataDir]).exited;
    await round(client, sandboxId, i < 0 ? undefined : times);
    await terminate(client, sandboxId);
  }
  return times;
}

async function round(client: Client, sandboxId: string, times: Times | undefined): Promise<void> {
  const params = { sandboxId };
  const step = async <T>(name: Step, work: () => Promise<T>): Promise<T> => {
    let result: T | undefined;
    const ms = await timed(async () => {
      result = await work();
    });
    times?.[name].push(ms);
    await Bun.sleep(SETTLE_MS);
    return result as T;
  };
  const snapshotId = await step('snapshot', () => snapshot(client, sandboxId));
  const made = await step('create', async () => {
    const id = await newSandbox(client, { snapshotId });
    await run(client, id, 'true');
    return id;
  });
  await terminate(client, made);
  await client.call(snapshots.DeleteSnapshot, { params: { snapshotId } });
  for (const [name, count] of [
    ['fork', 1],
    ['fork5', 5],
  ] as const) {
    const { instances } = await step(name, () =>
      client.call(snapshots.ForkSandbox, { params, body: { count } }),
    );
    for (const { id } of instances) await terminate(client, id ?? '');
  }
  await client.call(sandboxLifecycle.StopSandbox, { params, body: {} });
  await step('revive', async () => {
    await client.call(sandboxLifecycle.ReviveSandbox, { params, body: {} });
    await run(client, sandboxId, 'true');
  });
  await client.call(sandboxLifecycle.StopSandbox, { params, body: {} });
  await step('archive', () => client.call(sandboxLifecycle.ArchiveSandbox, { params, body: {} }));
  await step('restore', () => client.call(sandboxLifecycle.RestoreSandbox, { params, body: {} }));
  await step('copy', () => copyOnHost());
}

async function snapshot(client: Client, sandboxId: string): Promise<string> {
  const body = { name: `s${crypto.randomUUID()}`, from_sandbox_id: sandboxId };
  const { id } = await client.call(snapshots.CreateSnapshot, { body });
  for (;;) {
    const { state, errorReason } = await client.call(snapshots.GetSnapshot, { params: { snapshotId: id } });
    if (state === 'active') return id;
    if (state === 'error') throw new Error(errorReason);
    await Bun.sleep(POLL_MS);
  }
}

let files: string | undefined;

/** What copying as many files takes on this disk, without anything else. */
async function copyOnHost(): Promise<void> {
  if (!files) {
    files = mkdtempSync(join(tmpdir(), 'svc-bench-files-'));
    await Bun.spawn(['sh', '-c', FILL], { cwd: files }).exited;
    process.on('exit', () => rmSync(files ?? '', { recursive: true, force: true }));
  }
  await Bun.spawn(['cp', '-a', 'files', `copy-${crypto.randomUUID()}`], { cwd: files }).exited;
}

async function terminate(client: Client, sandboxId: string): Promise<void> {
  await client.call(sandboxLifecycle.TerminateSandbox, { params: { sandboxId }, body: {} });
}

function print(report: Report, own: Times, docker: Times | undefined): void {
  const copy = median(own.copy);
  const line = (what: string, step: Step, limit?: number): Line => {
    const p50 = median(own[step]);
    const peer = median(docker?.[step] ?? []);
    const cells = [p50, quantile(own[step], 0.95), p50 / copy, peer, peer / p50].map(digits);
    const goals: Goal[] = limit === undefined ? [] : [atMost(p50, limit, 'ms')];
    return { what, cells, goals };
  };
  report.table({
    title: `snapshots of ${SIZE_MB} MB over HTTP`,
    columns: ['p50 ms', 'p95 ms', 'x cp -a', 'docker', 'x faster'],
    lines: [
      line('snapshot of a running sandbox', 'snapshot', 300),
      line('create of it, to first command', 'create'),
      line('fork', 'fork', 150),
      line('fork of five', 'fork5'),
      line('revive to first command', 'revive', 80),
      line('archive', 'archive'),
      line('restore, running', 'restore'),
    ],
    notes: [
      `cp -a of as much on this disk, warm: ${digits(copy)} ms; docker: the same over the docker driver`,
    ],
  });
}

if (import.meta.main) await Report.of(benchSnapshots);
