import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { readSettings } from '../../daemon/db/settings.ts';
import { idRangeOf } from '../../daemon/modules/sandbox/drivers/host/user-namespace.ts';
import { type Traces, tracesOf } from '../../daemon/modules/sandbox/drivers/namespace/testing/traces.ts';
import { sandboxLifecycle } from '../../src/api/sandbox/lifecycle.ts';
import type { Client } from '../../src/client/client.ts';
import { startDaemon, type TestDaemon } from '../support/daemon.ts';
import { clientOf, newSandbox, run } from '../support/scene.ts';
import { namespaceMissing } from './kit/host.ts';
import { availableMb, descendantsOf, memoryOf, processesOfUsers } from './kit/processes.ts';
import { quantile, timed } from './kit/quantile.ts';
import { atMost, digits, type Line, Report } from './kit/report.ts';
import { sizeFromEnv } from './kit/setting.ts';

const CROWD = sizeFromEnv('BENCH_CROWD', 100);
/** What is removed in the background is gone after this at the latest. */
const GONE_MS = 15_000;

/** Many sandboxes at once over HTTP: how soon they run, what each weighs, and that nothing of them is left. */
export async function benchCrowd(report: Report): Promise<void> {
  const missing = namespaceMissing();
  if (missing) return console.log(`not measured: ${missing}`);
  const env = { SVC_SANDBOX_DRIVER: 'namespace', SVC_SANDBOX_WARM: '0', SVC_LOG_LEVEL: 'info' };
  const daemon = await startDaemon({ env });
  const instance = String(readSettings(join(daemon.dataDir, 'svc.db'))['instance.name']);
  const traces = () => tracesOf(instance, daemon.dataDir);
  try {
    await measure(report, daemon, instance, traces);
  } finally {
    await daemon.stop({ keep: true });
  }
  const { files: _, ...left } = traces();
  refuseLeak('the end of the daemon', left, {
    processes: 0,
    mounts: 0,
    groups: 0,
    namespaces: 0,
    devices: 0,
  });
  rmSync(daemon.dataDir, { recursive: true, force: true });
}

async function measure(
  report: Report,
  daemon: TestDaemon,
  instance: string,
  traces: () => Traces,
): Promise<void> {
  const client = clientOf(daemon);
  // The first one brings what all share: the bridge, the image, the groups of the instance.
  await remove(client, await newSandbox(client));
  const before = await settled(traces);
  const weightBefore = weigh(daemon.pid, instance);
  const lines: Line[] = [];
  const all = async (what: string, work: () => Promise<number[]>) => {
    let each: number[] = [];
    const ms = await timed(async () => {
      each = await work();
    });
    lines.push({ what, cells: [ms, quantile(each, 0.5), quantile(each, 0.95)].map(digits) });
  };
  const ids: string[] = [];
  await all('until all run', () =>
    Promise.all(Array.from({ length: CROWD }, () => timed(async () => ids.push(await newSandbox(client))))),
  );
  const weight = weigh(daemon.pid, instance);
  await all('a command in each', () => Promise.all(ids.map((id) => timed(() => runHere(client, id)))));
  const used = weigh(daemon.pid, instance);
  await all('until all are removed', () => Promise.all(ids.map((id) => timed(() => remove(client, id)))));
  refuseLeak('the removal of all', await settled(traces, before), before);
  const title = `${CROWD} sandboxes at once`;
  report.table({ title, columns: ['ms in all', 'p50 each', 'p95 each'], lines });
  report.table({
    title: 'MB that each of them adds',
    columns: ['made', 'used'],
    lines: weightLines(weightBefore, weight, used),
    notes: [
      'nothing was left of them: processes, mounts, control groups, network namespaces, devices, files',
    ],
  });
}

/** What a daemon and its sandboxes weigh, in MB. */
interface Weight {
  readonly daemon: number;
  readonly resident: number;
  readonly share: number;
  readonly machine: number;
}

function weigh(daemonPid: number, instance: string): Weight {
  const { base, size } = idRangeOf(instance);
  const boxes = new Set([...processesOfUsers(base, size), ...descendantsOf(daemonPid)]);
  const { residentMb, shareMb } = memoryOf(boxes);
  const daemon = memoryOf([daemonPid]).residentMb;
  return { daemon, resident: residentMb, share: shareMb, machine: -availableMb() };
}

function weightLines(before: Weight, made: Weight, used: Weight): Line[] {
  const line = (what: string, of: (weight: Weight) => number, limitMb?: number): Line => {
    const each = [made, used].map((weight) => (of(weight) - of(before)) / CROWD);
    const goals = limitMb === undefined ? [] : [atMost(Math.max(...each), limitMb, 'MB')];
    return { what, cells: each.map(digits), goals };
  };
  return [
    line('processes of a sandbox, resident', (weight) => weight.resident),
    line('processes of a sandbox, their share', (weight) => weight.share),
    line('the daemon, resident', (weight) => weight.daemon),
    line('the machine, kernel and files too', (weight) => weight.machine, 6),
  ];
}

async function runHere(client: Client, sandboxId: string): Promise<void> {
  const { stdout } = await run(client, sandboxId, 'echo here');
  if (stdout !== 'here\n') throw new Error(`${sandboxId} printed ${JSON.stringify(stdout)}`);
}

function remove(client: Client, sandboxId: string): Promise<unknown> {
  return client.call(sandboxLifecycle.TerminateSandbox, { params: { sandboxId }, body: {} });
}

/** The traces when they are as wanted, or no longer change; at the deadline as they are. */
async function settled(traces: () => Traces, wanted?: Traces): Promise<Traces> {
  let last = traces();
  for (const end = Date.now() + GONE_MS; Date.now() < end; ) {
    await Bun.sleep(500);
    const now = traces();
    const isDone = wanted ? Bun.deepEquals(now, wanted) : Bun.deepEquals(now, last);
    last = now;
    if (isDone) break;
  }
  return last;
}

function refuseLeak(when: string, left: Partial<Traces>, wanted: Partial<Traces>): void {
  if (Bun.deepEquals(left, wanted)) return;
  throw new Error(`after ${when} there is ${JSON.stringify(left)}, not ${JSON.stringify(wanted)}`);
}

if (import.meta.main) await Report.of(benchCrowd);
