import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../support/daemon.ts';
import { median, quantile } from './kit/quantile.ts';
import { atMost, digits, type Line, Report } from './kit/report.ts';
import { sizeFromEnv } from './kit/setting.ts';

const ROUNDS = sizeFromEnv('BENCH_ROUNDS', 15);
const IDLE_MS = 5_000;
const binary = join(import.meta.dir, '../../dist/svc');

/** How long the executable takes to be there, beside a fork of `true`, and what an idle daemon weighs. */
export async function benchStartup(report: Report): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'svc-bench-start-'));
  try {
    const fork = await sample(() => spawnAndWait(['true']));
    const version = await sample(() => spawnAndWait([binary, '--version']));
    const ready = await sample(() => startAndStop(dir));
    const rssMb = await idleMemory(dir);
    const columns = ['p50 ms', 'p95 ms', 'x floor'];
    const lines = [
      line('fork + exec of true (floor)', fork, fork),
      line('svc --version', version, fork, 50),
      line('daemon ready', ready, fork, 200),
    ];
    report.table({ title: 'start', columns, lines });
    report.table({
      title: 'memory',
      columns: ['MB'],
      lines: [{ what: 'idle daemon, resident', cells: [digits(rssMb)], goals: [atMost(rssMb, 90, 'MB')] }],
    });
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

function line(what: string, times: readonly number[], floor: readonly number[], limitMs?: number): Line {
  const p50 = median(times);
  const cells = [p50, quantile(times, 0.95), p50 / median(floor)].map(digits);
  return { what, cells, goals: limitMs === undefined ? [] : [atMost(p50, limitMs, 'ms')] };
}

async function sample(work: () => Promise<number>): Promise<number[]> {
  await work();
  const times: number[] = [];
  for (let i = 0; i < ROUNDS; i++) times.push(await work());
  return times;
}

async function spawnAndWait(argv: string[]): Promise<number> {
  const start = performance.now();
  await Bun.spawn(argv, { stdout: 'ignore', stderr: 'ignore' }).exited;
  return performance.now() - start;
}

async function startAndStop(dir: string): Promise<number> {
  const start = performance.now();
  const { child } = await startReady(dir);
  const took = performance.now() - start;
  child.kill();
  await child.exited;
  return took;
}

async function startReady(dir: string) {
  const port = freePort();
  const argv = [binary, 'serve', '--port', String(port), '--data-dir', dir];
  const child = Bun.spawn(argv, {
    env: { ...process.env, SVC_SANDBOX_WARM: '0' },
    stdout: 'ignore',
    stderr: 'ignore',
  });
  for (let attempt = 0; attempt < 10_000; attempt++) {
    const response = await fetch(`http://127.0.0.1:${port}/healthz`).catch(() => undefined);
    if (response?.ok) return { child };
    await Bun.sleep(1);
  }
  throw new Error('the daemon is not ready');
}

async function idleMemory(dir: string): Promise<number> {
  const { child } = await startReady(dir);
  await Bun.sleep(IDLE_MS);
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
  child.kill();
  await child.exited;
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
}

if (import.meta.main) {
  const report = new Report();
  await benchStartup(report);
  report.close();
}
