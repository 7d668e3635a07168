import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sandboxLifecycle } from '../../src/api/sandbox/lifecycle.ts';
import { sandboxPorts } from '../../src/api/sandbox/ports.ts';
import type { Client } from '../../src/client/client.ts';
import { startDaemon, type TestDaemon } from '../support/daemon.ts';
import { driverCases } from '../support/drivers.ts';
import { startApp } from '../support/preview-scene.ts';
import { clientOf, newSandbox, run, until } from '../support/scene.ts';
import { applyLoad, type LoadFigures, middle, type Target } from './kit/load.ts';
import { median } from './kit/quantile.ts';
import { atMost, digits, type Goal, type Line, Report } from './kit/report.ts';
import { sizeFromEnv } from './kit/setting.ts';

const ROUNDS = sizeFromEnv('BENCH_ROUNDS', 5);
const LOAD_MS = 1_500;
const FLOW_MB = 256;
const PORT = 3000;
const PYTHON = 8000;
/** Where the servers beside the sandbox listen. */
const BESIDE = 20_000 + Math.floor(Math.random() * 20_000);

/** A server and the way to it. */
interface Way {
  readonly port: number;
  readonly host: string;
}

/**
 * A server in a sandbox through its preview, beside the same server on this machine's own loopback, by turns: the
 * difference is the price of the way.
 */
export async function benchPreviews(report: Report): Promise<void> {
  const [driver] = driverCases;
  if (!driver) return console.log('not measured: no driver works here');
  const daemon = await startDaemon({ env: { SVC_LOG_LEVEL: 'info', SVC_SANDBOX_WARM: '0', ...driver.env } });
  const client = clientOf(daemon);
  const id = await newSandbox(client, { networkMode: 'deny' });
  const inside = await startApp(client, id, PORT);
  const outside = Bun.spawn(
    [process.execPath, join(import.meta.dir, '../support/preview-app.ts'), String(BESIDE)],
    {
      stdout: 'pipe',
    },
  );
  await outside.stdout.getReader().read();
  const python = Bun.which('python3') ? await startPython(client, id) : undefined;
  try {
    const way = async (port: number): Promise<Way> => {
      const { mapping } = await client.call(sandboxPorts.ExposePort, {
        params: { sessionId: id },
        body: { port },
      });
      const url = new URL(mapping?.url ?? '');
      return { port: Number(url.port), host: url.host };
    };
    const preview = await way(PORT);
    const direct = { port: BESIDE, host: `localhost:${BESIDE}` };
    const fast = [
      await requests(daemon, { preview, direct, path: '/left' }, 1, 'a small answer', near),
      await requests(daemon, { preview, direct, path: '/left' }, 16, 'a small answer, 16 at once', near),
    ];
    const slow = python && [
      await requests(
        daemon,
        { preview: await way(PYTHON), direct: python.way, path: '/index.html' },
        1,
        'a file of python3 -m http.server',
        (ratio) => atMost(ratio, 1.5, 'x direct'),
      ),
    ];
    report.table({
      title: 'previews',
      columns: ['p50 ms', 'p95 ms', '/s', 'cpu us', 'direct ms', 'ratio', 'added ms'],
      lines: [...fast, ...(slow ?? [])],
      notes: ['direct: the same server on the loopback of this machine'],
    });
    report.table({
      title: 'previews, flow',
      columns: ['MB/s', 'direct', 'ratio'],
      lines: [await flow(preview, direct)],
    });
  } finally {
    python?.end();
    outside.kill();
    await inside.stop();
    await client.call(sandboxLifecycle.TerminateSandbox, { params: { sandboxId: id }, body: {} });
    await daemon.stop();
  }
}

/** The server that people try first, in the sandbox and beside it. */
async function startPython(client: Client, id: string): Promise<{ way: Way; end(): void }> {
  const dir = mkdtempSync(join(tmpdir(), 'svc-bench-python-'));
  writeFileSync(join(dir, 'index.html'), 'x'.repeat(10_000));
  const argv = (port: number) => [
    'python3',
    '-m',
    'http.server',
    String(port),
    '--protocol',
    'HTTP/1.1',
    '--bind',
    '127.0.0.1',
  ];
  const make = 'mkdir -p /tmp/site && cd /tmp/site && head -c 10000 /dev/zero >index.html';
  await run(client, id, `${make} && exec ${argv(PYTHON).join(' ')} 2>/dev/null`, { background: true });
  const beside = Bun.spawn(argv(BESIDE + 1), { cwd: dir, stdio: ['ignore', 'ignore', 'ignore'] });
  await until(() => fetch(`http://127.0.0.1:${BESIDE + 1}/`).catch(() => undefined));
  return {
    way: { port: BESIDE + 1, host: `localhost:${BESIDE + 1}` },
    end() {
      beside.kill();
      rmSync(dir, { recursive: true });
    },
  };
}

interface Ways {
  readonly preview: Way;
  readonly direct: Way;
  readonly path: string;
}

/** What a hop may cost a server that answers at once. */
const near = (_: number, addedEach: number) => atMost(addedEach, 0.3, 'ms added for each');

async function requests(
  daemon: TestDaemon,
  { preview, direct, path }: Ways,
  callers: number,
  what: string,
  goal: (ratio: number, addedEach: number) => Goal,
): Promise<Line> {
  const target = (name: string, { port, host }: Way): Target => ({
    name,
    port,
    pid: daemon.pid,
    method: 'GET',
    path,
    headers: { host },
  });
  const [through, beside]: [LoadFigures[], LoadFigures[]] = [[], []];
  for (let i = -1; i < ROUNDS; i++) {
    const figures = await applyLoad(target('preview', preview), callers, LOAD_MS);
    const others = await applyLoad(target('direct', direct), callers, LOAD_MS);
    if (i < 0) continue;
    through.push(figures);
    beside.push(others);
  }
  const [mine, theirs] = [middle(through), middle(beside)];
  const [ratio, added] = [mine.p50Ms / theirs.p50Ms, mine.p50Ms - theirs.p50Ms];
  return {
    what,
    cells: [mine.p50Ms, mine.p95Ms, mine.perSecond, mine.cpuUs, theirs.p50Ms, ratio, added].map(digits),
    goals: [goal(ratio, added / callers)],
  };
}

async function flow(preview: Way, direct: Way): Promise<Line> {
  const speed = async ({ port, host }: Way) => {
    const start = performance.now();
    const response = await fetch(`http://127.0.0.1:${port}/flow?mb=${FLOW_MB}`, { headers: { host } });
    let bytes = 0;
    for await (const chunk of response.body ?? []) bytes += chunk.length;
    return bytes / 1024 / 1024 / ((performance.now() - start) / 1000);
  };
  const [through, beside]: [number[], number[]] = [[], []];
  for (let i = 0; i < ROUNDS; i++) {
    through.push(await speed(preview));
    beside.push(await speed(direct));
  }
  const [mine, theirs] = [median(through), median(beside)];
  const ratio = theirs / mine;
  return {
    what: `an answer of ${FLOW_MB} MB`,
    cells: [mine, theirs, ratio].map(digits),
    goals: [atMost(ratio, 1.5, 'x direct')],
  };
}

if (import.meta.main) await Report.of(benchPreviews);
