import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, svcCommand } from '../support/daemon.ts';
import { startBareServer } from './kit/bare-server.ts';
import { runQuietly } from './kit/floor.ts';
import { memoryOf } from './kit/processes.ts';
import { median, quantile, timed } from './kit/quantile.ts';
import { atMost, digits, type Line, Report } from './kit/report.ts';
import { sizeFromEnv } from './kit/setting.ts';

const ROUNDS = sizeFromEnv('BENCH_ROUNDS', 15);
const IDLE_MS = sizeFromEnv('BENCH_IDLE_MS', 5_000);
const READY_TIMEOUT_MS = 30_000;

/** How long the program takes to be there, beside a fork of `true` and an empty listener, and what it weighs. */
export async function benchStartup(report: Report): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'svc-bench-start-'));
  try {
    const times = await measure(dir);
    const fork = median(times.fork);
    const line = (what: string, values: readonly number[], limitMs?: number): Line => {
      const p50 = median(values);
      const cells = [p50, quantile(values, 0.95), Math.min(...values), p50 / fork].map(digits);
      return { what, cells, goals: limitMs === undefined ? [] : [atMost(p50, limitMs, 'ms')] };
    };
    report.table({
      title: 'start',
      columns: ['p50 ms', 'p95 ms', 'least', 'x floor'],
      lines: [
        line('fork and exec of true (floor)', times.fork),
        line('svc --version', times.version, 50),
        line('empty Bun.serve, until it answers', times.bare),
        line('daemon, until /healthz is 200', times.again, 200),
        line('daemon, the first time', times.first, 200),
        line('daemon, SIGTERM to its end', times.stop),
      ],
    });
    await measureMemory(report, join(dir, 'idle'));
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** By turns, so that what else goes on here hits all of them alike. */
async function measure(dir: string) {
  const times = {
    fork: [] as number[],
    version: [] as number[],
    bare: [] as number[],
    first: [] as number[],
    again: [] as number[],
    stop: [] as number[],
  };
  for (let round = 0; round < ROUNDS; round++) {
    times.fork.push(await timed(() => runQuietly(['true'])));
    times.version.push(await timed(() => runQuietly([...svcCommand(), '--version'])));
    times.bare.push(await timed(startAndEndBare));
    for (const which of ['first', 'again'] as const) {
      const start = performance.now();
      const child = await startReady(join(dir, String(round)));
      times[which].push(performance.now() - start);
      times.stop.push(await timed(() => end(child)));
    }
  }
  return times;
}

async function startAndEndBare(): Promise<void> {
  const bare = await startBareServer({ '/healthz': { status: 'ok' } });
  await fetch(`http://127.0.0.1:${bare.port}/healthz`);
  bare.end();
}

/** Starts a daemon as it comes, on a data directory, and waits until it answers. */
async function startReady(dataDir: string): Promise<Bun.Subprocess> {
  const port = freePort();
  const child = Bun.spawn([...svcCommand(), 'serve', '--port', String(port), '--data-dir', dataDir], {
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'ignore',
  });
  for (const limit = Date.now() + READY_TIMEOUT_MS; Date.now() < limit; await Bun.sleep(2)) {
    if (child.exitCode !== null) throw new Error(`the daemon ended with ${child.exitCode}`);
    const response = await fetch(`http://127.0.0.1:${port}/healthz`).catch(() => undefined);
    if (response?.ok) return child;
  }
  throw new Error('the daemon is not ready');
}

async function measureMemory(report: Report, dataDir: string): Promise<void> {
  const child = await startReady(dataDir);
  await Bun.sleep(IDLE_MS);
  const { residentMb, shareMb } = memoryOf([child.pid]);
  await end(child);
  report.table({
    title: `idle daemon after ${IDLE_MS / 1000} s`,
    columns: ['MB'],
    lines: [
      { what: 'resident (RSS)', cells: [digits(residentMb)], goals: [atMost(residentMb, 90, 'MB')] },
      { what: 'its share (PSS)', cells: [digits(shareMb)] },
    ],
  });
}

async function end(child: Bun.Subprocess): Promise<void> {
  child.kill('SIGTERM');
  await child.exited;
}

if (import.meta.main) await Report.of(benchStartup);
