import { startDaemon, type TestDaemon } from '../support/daemon.ts';
import { SettingsScene } from '../support/settings-scene.ts';
import { applyLoad, type LoadFigures, middle, type Target } from './kit/load.ts';
import { atMost, digits, type Line, Report } from './kit/report.ts';
import { sizeFromEnv } from './kit/setting.ts';

/** The engine of the sandboxes is nowhere: nothing but requests goes on. */
const NO_SANDBOXES = { SVC_SANDBOX_DRIVER: 'docker', SVC_DOCKER_SOCKET: '/nonexistent/docker.sock' };
const ORIGIN = 'https://app.example';
const CALLERS = 16;
/** Milliseconds of load that let the runtime compile what is hot. */
const WARM_UP_MS = 1_000;
/** Calls of a function of which one is too short to be timed. */
const CALLS = 2_000_000;
const TENANTS = 1_000;
/** Nanoseconds that reading a tenant's settings may take. */
const READ_NS = 250;
/** Processor time that marking an answer may add to a request. */
const CORS_US = 12;

/** What settings cost those who read them: a look into the snapshot, and CORS on the way of a request, on and off. */
export async function benchSettings(report: Report): Promise<void> {
  report.table({ title: 'settings in memory', columns: ['ns'], lines: reads() });
  const off = await startDaemon({ env: NO_SANDBOXES });
  const on = await startDaemon({
    env: { ...NO_SANDBOXES, SVC_SERVER_CORS_ENABLED: 'true', SVC_SERVER_CORS_ALLOWED_ORIGINS: ORIGIN },
  });
  try {
    const columns = ['req/s', 'p50 ms', 'cpu µs', 'x off', 'added µs'];
    report.table({ title: `CORS, ${CALLERS} callers`, columns, lines: await corsLines(off, on) });
    report.table({
      title: 'changes, 1 caller',
      columns: ['req/s', 'p50 ms', 'cpu µs'],
      lines: await changes(off),
    });
  } finally {
    await off.stop();
    await on.stop();
  }
}

/** Beside a look into a Map of as many tenants, which nothing can be faster than. */
function reads(): Line[] {
  const scene = new SettingsScene();
  const tenants = Array.from({ length: TENANTS }, (_, i) => `org_${i}`);
  for (const tenant of tenants)
    scene.service.replaceSection({ tenant, role: 'admin', actor: 'key_1', via: 'api-key' }, 'rate_limit', {
      config: { burst: 7 },
    });
  const map = new Map(tenants.map((tenant) => [tenant, { rateLimit: { burst: 7 } }]));
  const floor = nanoseconds((i) => map.get(tenants[i % TENANTS] ?? '')?.rateLimit.burst ?? 0);
  const settings = nanoseconds((i) => scene.snapshot.of(tenants[i % TENANTS] ?? '').rateLimit.burst);
  return [
    { what: `a Map of ${TENANTS} tenants (floor)`, cells: [digits(floor)] },
    {
      what: 'RuntimeSettings.of',
      cells: [digits(settings)],
      goals: [atMost(Math.round(settings), READ_NS, 'ns')],
    },
  ];
}

function nanoseconds(work: (i: number) => number): number {
  let sum = 0;
  for (let i = 0; i < CALLS / 10; i++) sum += work(i);
  const start = performance.now();
  for (let i = 0; i < CALLS; i++) sum += work(i);
  const ns = ((performance.now() - start) * 1e6) / CALLS;
  if (sum === 0) throw new Error('nothing was read');
  return ns;
}

async function corsLines(off: TestDaemon, on: TestDaemon): Promise<Line[]> {
  const cases = [
    { what: 'off, no Origin', daemon: off, origin: undefined },
    { what: 'off, from another origin', daemon: off, origin: ORIGIN },
    { what: 'on, no Origin', daemon: on, origin: undefined },
    { what: 'on, from an allowed origin', daemon: on, origin: ORIGIN },
  ];
  const figures = await byTurns(
    cases.map(({ what, daemon, origin }) => target(what, daemon, 'GET', '/healthz', origin)),
    CALLERS,
  );
  const floor = figures[0];
  return cases.map(({ what }, i) => {
    const { perSecond = 0, p50Ms = 0, cpuUs = 0 } = figures[i] ?? {};
    const added = cpuUs - (floor?.cpuUs ?? 0);
    const ratio = perSecond / (floor?.perSecond ?? 1);
    const cells = [perSecond.toFixed(0), digits(p50Ms), digits(cpuUs), digits(ratio), digits(added)];
    return { what, cells, goals: i === 0 ? [] : [atMost(Math.round(added), CORS_US, 'µs added')] };
  });
}

/** Each is a transaction that is on the disk before its answer. */
async function changes(daemon: TestDaemon): Promise<Line[]> {
  const path = '/api/v1/config/runtime/rate_limit';
  const targets = [
    target('read a section', daemon, 'GET', path),
    target('reset a section', daemon, 'POST', `${path}/reset`),
  ];
  const figures = await byTurns(targets, 1);
  return targets.map(({ name }, i) => {
    const { perSecond = 0, p50Ms = 0, cpuUs = 0 } = figures[i] ?? {};
    return { what: name, cells: [perSecond.toFixed(0), digits(p50Ms), digits(cpuUs)] };
  });
}

async function byTurns(targets: readonly Target[], callers: number): Promise<LoadFigures[]> {
  const rounds = sizeFromEnv('BENCH_EDGE_ROUNDS', 9);
  const ms = sizeFromEnv('BENCH_EDGE_MS', 400);
  for (const one of targets) await applyLoad(one, callers, WARM_UP_MS);
  const figures = targets.map((): LoadFigures[] => []);
  for (let round = 0; round < rounds; round++)
    for (const [i, one] of targets.entries()) figures[i]?.push(await applyLoad(one, callers, ms));
  return figures.map(middle);
}

function target(
  name: string,
  { pid, url, apiKey }: TestDaemon,
  method: Target['method'],
  path: string,
  origin?: string,
): Target {
  const headers = { 'x-svc-api-key': apiKey, ...(origin === undefined ? {} : { origin }) };
  const body = method === 'POST' ? '{}' : undefined;
  return { name, pid, port: Number(new URL(url).port), method, path, headers, body };
}

if (import.meta.main) await Report.of(benchSettings);
