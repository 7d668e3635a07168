import { readFileSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BoxSpec, SandboxDriver } from '../../daemon/modules/sandbox/drivers/driver.ts';
import { idRangeOf } from '../../daemon/modules/sandbox/drivers/host/user-namespace.ts';
import { createNamespaceDriver } from '../../daemon/modules/sandbox/drivers/namespace/index.ts';
import { openNetworkLab } from '../../daemon/modules/sandbox/drivers/namespace/testing/network-lab.ts';
import { tracesOf } from '../../daemon/modules/sandbox/drivers/namespace/testing/traces.ts';
import { policyOf } from '../../daemon/modules/sandbox/drivers/network/policy.ts';
import { newId } from '../../src/kit/id.ts';
import { memoryOf, processesOfUsers } from './kit/processes.ts';
import { quantile } from './kit/quantile.ts';
import { atLeast, atMost, digits, type Line, Report } from './kit/report.ts';
import { sizeFromEnv } from './kit/setting.ts';

const ROUNDS = sizeFromEnv('BENCH_ROUNDS', 25);
const BOXES = sizeFromEnv('BENCH_BOXES', 100);
const OUTPUT_MB = sizeFromEnv('BENCH_OUTPUT_MB', 256);
const MIB = 1024 * 1024;
/** What the refilling of the pool takes at most; nothing is measured meanwhile. */
const SETTLE_MS = 250;

/** Milliseconds of each round, by step. */
type Times = Map<string, number[]>;

/**
 * Measures the namespace driver, without HTTP, beside what the kernel itself needs at least. Boxes have a network:
 * it is run in a network namespace of its own that forwards, so that the host's network is left alone.
 * Run as root: bun test/bench/driver-namespace.ts
 */
export async function benchNamespaceDriver(): Promise<void> {
  const lab = await openNetworkLab();
  try {
    console.log(await lab.runOnHost(import.meta.path, 'inside'));
  } finally {
    await lab.close();
  }
}

async function measure(): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'svc-bench-namespace-'));
  await chmod(dataDir, 0o700);
  const report = new Report();
  try {
    const times: Times = new Map();
    await measureFloor(times);
    await withDriver(dataDir, 'cold', 0, (driver) => measureRounds(driver, '', times));
    await withDriver(dataDir, 'warm', 2, (driver) => measureRounds(driver, ' (warm)', times));
    printTimes(report, times);
    await withDriver(dataDir, 'many', 0, (driver, instance) =>
      measureMany(driver, report, instance, dataDir),
    );
    await withDriver(dataDir, 'flow', 0, (driver) => measureOutput(driver, report));
    report.close();
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}

async function withDriver(
  dataDir: string,
  name: string,
  warm: number,
  body: (driver: SandboxDriver, instance: string) => Promise<void>,
): Promise<void> {
  const instance = `bench-${name}`;
  const driver = await createNamespaceDriver({ dataDir, instance, warm, log: () => {} });
  try {
    await driver.prepareImage('host');
    await body(driver, instance);
  } finally {
    await Promise.all((await driver.list()).map(({ id }) => driver.remove(id)));
    await driver.close();
  }
}

/** What a process, a set of namespaces and an overlay cost at least on this machine now. */
async function measureFloor(times: Times): Promise<void> {
  const namespaces = [
    'unshare',
    '--user',
    '--map-root-user',
    '--mount',
    '--pid',
    '--net',
    '--ipc',
    '--uts',
    '--fork',
  ];
  const dir = await mkdtemp(join(tmpdir(), 'svc-bench-floor-'));
  for (const name of ['low', 'up', 'work', 'to']) await Bun.$`mkdir ${join(dir, name)}`.quiet();
  const overlay = 'mount -t overlay overlay -o lowerdir=low,upperdir=up,workdir=work to';
  const commands: ReadonlyArray<readonly [string, readonly string[]]> = [
    ['floor: fork and exec of true', ['true']],
    ['floor: the same in new namespaces', [...namespaces, 'true']],
    ['floor: an overlay in a mount namespace', ['unshare', '--mount', 'sh', '-c', overlay]],
  ];
  for (const [what, argv] of commands) {
    for (let i = 0; i < ROUNDS; i++) {
      const lap = stopwatch(times);
      await Bun.spawn([...argv], { cwd: dir, stdio: ['ignore', 'ignore', 'ignore'] }).exited;
      lap(what);
    }
  }
  await rm(dir, { recursive: true });
}

async function measureRounds(driver: SandboxDriver, suffix: string, times: Times): Promise<void> {
  for (let round = 0; round <= ROUNDS; round++) {
    await Bun.sleep(SETTLE_MS);
    const spec = specOf();
    const lap = stopwatch(round > 0 ? times : new Map(), suffix);
    const all = stopwatch(round > 0 ? times : new Map(), suffix);
    await driver.create(spec);
    lap('create');
    await runTrue(driver, spec.id);
    all('create to first command');
    lap();
    if (suffix === '') await measureRunning(driver, spec, lap);
    await driver.remove(spec.id);
    lap('remove');
  }
}

async function measureRunning(
  driver: SandboxDriver,
  spec: BoxSpec,
  lap: (step?: string) => void,
): Promise<void> {
  for (let i = 0; i < 5; i++) {
    await runTrue(driver, spec.id);
    lap('command');
  }
  const sleeper = await driver.exec(spec.id, { id: newId('cmd'), argv: ['sleep', '1000'] });
  await Bun.sleep(50);
  lap();
  await sleeper.kill('SIGKILL');
  await sleeper.exited;
  lap('kill a tree');
  await driver.stats(spec.id);
  lap('stats');
  await driver.update(spec.id, { ...spec.limits, memoryMb: 300 });
  lap('update of limits');
  await driver.stop(spec.id);
  lap('stop');
  await driver.start(spec.id, spec);
  await runTrue(driver, spec.id);
  lap('start to first command');
}

async function measureMany(
  driver: SandboxDriver,
  report: Report,
  instance: string,
  dataDir: string,
): Promise<void> {
  const before = memory();
  const specs = Array.from({ length: BOXES }, specOf);
  const start = performance.now();
  await inTurns(specs, 8, (spec) => driver.create(spec).then(() => undefined));
  const created = performance.now() - start;
  const each = (memory() - before) / BOXES / MIB;
  const rss = residentOf(instance) / BOXES / MIB;
  const [first] = specs;
  const commands = performance.now();
  await Promise.all(Array.from({ length: 50 }, () => runTrue(driver, first?.id ?? '')));
  const fifty = performance.now() - commands;
  const removing = performance.now();
  await inTurns(specs, 8, (spec) => driver.remove(spec.id));
  const removed = performance.now() - removing;
  await Bun.sleep(3_000);
  const left = Object.values(tracesOf(instance, dataDir)).reduce((sum, value) => sum + value, 0);
  // The shifted folder of the host, and the groups of the instance itself, stay until the driver is closed.
  const shared = 32;
  report.table({
    title: `${BOXES} boxes at once`,
    columns: ['figure'],
    lines: [
      {
        what: 'resident memory of a box, its processes',
        cells: [`${digits(rss)} MB`],
        goals: [atMost(rss, 6, 'MB')],
      },
      {
        what: 'memory of the machine for a box',
        cells: [`${digits(each)} MB`],
        goals: [atMost(each, 6, 'MB')],
      },
      { what: 'making them all, 8 at a time', cells: [`${digits(created / 1_000)} s`] },
      { what: '50 commands at once in one of them', cells: [`${digits(fifty)} ms`] },
      { what: 'removing them all', cells: [`${digits(removed / 1_000)} s`] },
      {
        what: 'traces left after that',
        cells: [String(left)],
        goals: [atMost(left, shared, '(shared by boxes)')],
      },
    ],
  });
}

async function measureOutput(driver: SandboxDriver, report: Report): Promise<void> {
  const spec = specOf();
  await driver.create(spec);
  Bun.gc(true);
  const before = process.memoryUsage.rss();
  const start = performance.now();
  const argv: [string, ...string[]] = ['head', '-c', String(OUTPUT_MB * MIB), '/dev/zero'];
  const execution = await driver.exec(spec.id, { id: newId('cmd'), argv });
  let peak = before;
  let bytes = 0;
  for await (const chunk of execution.output) {
    bytes += chunk.bytes.length;
    peak = Math.max(peak, process.memoryUsage.rss());
  }
  const rate = bytes / MIB / ((performance.now() - start) / 1_000);
  const more = (peak - before) / MIB;
  report.table({
    title: `output of ${OUTPUT_MB} MB`,
    columns: ['figure'],
    lines: [
      { what: 'rate', cells: [`${digits(rate)} MB/s`], goals: [atLeast(rate, 100, 'MB/s')] },
      { what: 'more memory in the daemon', cells: [`${digits(more)} MB`], goals: [atMost(more, 64, 'MB')] },
    ],
  });
}

/** What is to be reached without HTTP: under the targets of the whole way, which are 90, 20 and 15 ms. */
const LIMITS: Readonly<Record<string, number>> = {
  'create to first command': 75,
  'create to first command (warm)': 15,
  command: 12,
};

function printTimes(report: Report, times: Times): void {
  const lines: Line[] = [...times].map(([what, values]) => {
    const limit = LIMITS[what];
    const p50 = quantile(values, 0.5);
    return {
      what,
      cells: [digits(Math.min(...values)), digits(p50), digits(quantile(values, 0.95))],
      goals: limit === undefined ? [] : [atMost(p50, limit, 'ms p50')],
    };
  });
  report.table({ title: 'namespace driver, ms', columns: ['least', 'p50', 'p95'], lines });
}

async function runTrue(driver: SandboxDriver, id: string): Promise<void> {
  const execution = await driver.exec(id, { id: newId('cmd'), argv: ['true'] });
  for await (const _ of execution.output);
  const { code } = await execution.exited;
  if (code !== 0) throw new Error(`true ended with ${code}`);
}

function specOf(): BoxSpec {
  const limits = { cpu: 1, memoryMb: 256, pids: 256 };
  return { id: newId('sbx'), image: 'host', env: {}, limits, network: policyOf('allow') };
}

/** Writes the time since the last lap down under a name; without a name it only starts again. */
function stopwatch(times: Times, suffix = ''): (step?: string) => void {
  let last = performance.now();
  return (step) => {
    const now = performance.now();
    if (step) times.set(step + suffix, [...(times.get(step + suffix) ?? []), now - last]);
    last = performance.now();
  };
}

async function inTurns<T>(
  items: readonly T[],
  atOnce: number,
  task: (item: T) => Promise<void>,
): Promise<void> {
  const rest = [...items];
  const worker = async () => {
    for (let item = rest.shift(); item !== undefined; item = rest.shift()) await task(item);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

/** Bytes of memory that are taken on the machine, kernel objects with them. */
function memory(): number {
  const table = readFileSync('/proc/meminfo', 'utf8');
  const of = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(table)?.[1]) * 1_024;
  return of('MemTotal') - of('MemAvailable');
}

/** The processes of all boxes, in bytes: their first ones, and those that wait for a command. */
function residentOf(instance: string): number {
  const { base, size } = idRangeOf(instance);
  return memoryOf(processesOfUsers(base, size)).residentMb * MIB;
}

if (import.meta.main) await (process.argv[2] ? measure() : benchNamespaceDriver());
