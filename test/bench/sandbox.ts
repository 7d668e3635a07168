import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sandboxLifecycle } from '../../src/api/sandbox/lifecycle.ts';
import { startDaemon, type TestDaemon } from '../support/daemon.ts';
import { dockerdMissing, startDockerd } from '../support/dockerd.ts';
import { clientOf, newSandbox, run, until } from '../support/scene.ts';
import { type Floor, measureFloor } from './kit/floor.ts';
import { namespaceMissing } from './kit/host.ts';
import { median, quantile, timed } from './kit/quantile.ts';
import { atLeast, atMost, digits, type Goal, type Line, Report } from './kit/report.ts';
import { sizeFromEnv } from './kit/setting.ts';

const ROUNDS = sizeFromEnv('BENCH_ROUNDS', 10);
const COMMANDS = 3;
const WARM = 4;
/** What a box prepares after it answered, for its next command: nothing is measured meanwhile. */
const SETTLE_MS = 150;

/** Milliseconds of each round, by step. */
type Times = Readonly<Record<'create' | 'command' | 'repeated' | 'stop' | 'revive' | 'remove', number[]>>;

/** A daemon that is measured, what it took, and what has to be waited for before a round. */
interface Place {
  readonly daemon: TestDaemon;
  readonly times: Times;
  readonly ready: () => Promise<unknown>;
}

/**
 * Sandboxes over HTTP: the namespace driver without and with a pool, and the docker driver on an engine of its own
 * with an image of the same class (Debian with bash), by turns, in one run.
 */
export async function benchSandboxes(report: Report): Promise<void> {
  const missing = namespaceMissing();
  if (missing) return console.log(`not measured: ${missing}`);
  const floor = await measureFloor();
  const engine = dockerdMissing() ? undefined : await startDockerd();
  const places: Place[] = [];
  try {
    const open = async (env: Record<string, string>, ready: (daemon: TestDaemon) => Promise<unknown>) => {
      const daemon = await startDaemon({ env: { SVC_LOG_LEVEL: 'info', ...env } });
      const place: Place = { daemon, times: noTimes(), ready: () => ready(daemon) };
      places.push(place);
      return place;
    };
    const settle = () => Bun.sleep(SETTLE_MS);
    const namespace = { SVC_SANDBOX_DRIVER: 'namespace' };
    const cold = await open({ ...namespace, SVC_SANDBOX_WARM: '0' }, settle);
    const warm = await open({ ...namespace, SVC_SANDBOX_WARM: String(WARM) }, poolIsFull);
    const docker =
      engine &&
      (await open(
        {
          SVC_SANDBOX_DRIVER: 'docker',
          SVC_DOCKER_SOCKET: engine.socket,
          SVC_SANDBOX_DOCKER_IMAGE: await engine.debianImage(),
        },
        settle,
      ));
    for (let i = -1; i < ROUNDS; i++) for (const place of places) await round(place, i >= 0);
    print(report, floor, cold.times, warm.times, docker?.times);
  } finally {
    for (const { daemon } of places) await daemon.stop();
    await engine?.stop();
  }
}

async function round({ daemon, times, ready }: Place, counts: boolean): Promise<void> {
  const client = clientOf(daemon);
  const step = async (name: keyof Times, work: () => Promise<unknown>) => {
    const ms = await timed(work);
    if (counts) times[name].push(ms);
  };
  let sandboxId = '';
  const command = () => runTrue(client, sandboxId);
  await ready();
  await step('create', async () => {
    sandboxId = await newSandbox(client);
    await command();
  });
  const params = { sandboxId };
  for (let i = 0; i < COMMANDS; i++) {
    await Bun.sleep(SETTLE_MS);
    await step('command', command);
  }
  for (let i = 0; i < COMMANDS; i++) await step('repeated', command);
  await step('stop', () => client.call(sandboxLifecycle.StopSandbox, { params, body: {} }));
  await step('revive', async () => {
    await client.call(sandboxLifecycle.ReviveSandbox, { params, body: {} });
    await command();
  });
  await step('remove', () => client.call(sandboxLifecycle.TerminateSandbox, { params, body: {} }));
}

async function runTrue(client: ReturnType<typeof clientOf>, sandboxId: string): Promise<void> {
  const { code } = await run(client, sandboxId, 'true');
  if (code !== 0) throw new Error(`true ended with ${code}`);
}

/** Waits until every box of the pool stands ready: their folders and records say so. */
async function poolIsFull({ dataDir }: TestDaemon): Promise<void> {
  const boxes = join(dataDir, 'boxes');
  await until(() => readdirSync(boxes).filter((name) => isWarm(join(boxes, name))).length === WARM, 30_000);
  await Bun.sleep(SETTLE_MS);
}

function isWarm(dir: string): boolean {
  try {
    return JSON.parse(readFileSync(join(dir, 'box.json'), 'utf8')).phase === 'warm';
  } catch {
    return false;
  }
}

function print(report: Report, floor: Floor, cold: Times, warm: Times, docker: Times | undefined): void {
  const boxMs = floor.spawnMs + (floor.overlayMs ?? 0);
  const line = (
    what: string,
    step: keyof Times,
    { times = cold, floorMs, goals }: { times?: Times; floorMs?: number; goals?: Goals } = {},
  ): Line => {
    const p50 = median(times[step]);
    const peer = median(docker?.[step] ?? []);
    const cells = [p50, quantile(times[step], 0.95), p50 / (floorMs ?? Number.NaN), peer, peer / p50];
    return { what, cells: cells.map(digits), goals: goals?.(p50, peer / p50) };
  };
  report.table({
    title: 'sandboxes over HTTP',
    columns: ['p50 ms', 'p95 ms', 'x floor', 'docker', 'x faster'],
    lines: [
      line('create to first command, cold', 'create', {
        floorMs: boxMs,
        goals: (p50, ratio) => [atMost(p50, 90, 'ms'), ...ifKnown(ratio, 4)],
      }),
      line('create to first command, warm', 'create', {
        times: warm,
        floorMs: boxMs,
        goals: (p50, ratio) => [atMost(p50, 20, 'ms'), ...ifKnown(ratio, 15)],
      }),
      line('a command', 'command', { floorMs: floor.spawnMs, goals: (p50) => [atMost(p50, 15, 'ms')] }),
      line('a command right after another', 'repeated', {
        floorMs: floor.spawnMs,
        goals: (p50) => [atMost(p50, 15, 'ms')],
      }),
      line('stop', 'stop'),
      line('revive to first command', 'revive', { floorMs: boxMs }),
      line('remove', 'remove'),
    ],
    notes: [
      `floor: fork and exec of true ${digits(floor.spawnMs)} ms, and an overlay mount ${digits(floor.overlayMs ?? Number.NaN)} ms`,
    ],
  });
}

type Goals = (p50: number, ratio: number) => Goal[];

function ifKnown(ratio: number, limit: number): Goal[] {
  return Number.isNaN(ratio) ? [] : [atLeast(ratio, limit, 'x docker')];
}

function noTimes(): Times {
  return { create: [], command: [], repeated: [], stop: [], revive: [], remove: [] };
}

if (import.meta.main) await Report.of(benchSandboxes);
