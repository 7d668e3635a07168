import { readFileSync } from 'node:fs';
import { sandboxLifecycle } from '../../src/api/sandbox/lifecycle.ts';
import { sandboxMetrics } from '../../src/api/sandbox/metrics.ts';
import { otlpSettings } from '../../src/api/sandbox/otlp.ts';
import type { Client } from '../../src/client/client.ts';
import { startDaemon, type TestDaemon } from '../support/daemon.ts';
import { startOtlpReceiver } from '../support/otlp-receiver.ts';
import { clientOf, newSandbox } from '../support/scene.ts';
import { namespaceMissing } from './kit/host.ts';
import { median, quantile, timed } from './kit/quantile.ts';
import { atMost, digits, type Line, Report } from './kit/report.ts';
import { sizeFromEnv } from './kit/setting.ts';

const WATCHED = sizeFromEnv('BENCH_WATCHED', 200);
const SECONDS = sizeFromEnv('BENCH_WATCH_SECONDS', 15);
/** Sandboxes that are made at the same time. */
const AT_ONCE = 8;
const ROUNDS = 20;
/** Kernel clock ticks a second (sysconf(3), _SC_CLK_TCK); 100 on every Linux. */
const TICKS = 100;
const SETTLE_MS = 2_000;
const DEFAULT_INTERVAL_S = 30;

const ENV = { SVC_SANDBOX_DRIVER: 'namespace', SVC_SANDBOX_WARM: '0', SVC_LOG_LEVEL: 'warn' };
const SAMPLED = { ...ENV, SVC_SANDBOX_SAMPLE_INTERVAL: '1s', SVC_OUTBOUND_ALLOW: '127.0.0.1' };

/**
 * What it costs the daemon to sample many sandboxes, and to export the samples: CPU time, and how much later it
 * answers others meanwhile. It samples every second here, so that there are enough rounds; beside it the share of
 * one core that this is at the default of 30 seconds.
 */
export async function benchWatching(report: Report): Promise<void> {
  const missing = namespaceMissing();
  if (missing) return console.log(`not measured: ${missing}`);
  const receiver = await startOtlpReceiver();
  let daemon = await startDaemon({ env: { ...ENV, SVC_SANDBOX_SAMPLE_INTERVAL: '1h' } });
  try {
    await fill(clientOf(daemon));
    const floor = await observe(daemon);
    await daemon.stop({ keep: true });
    daemon = await startDaemon({ env: SAMPLED, dataDir: daemon.dataDir, apiKey: daemon.apiKey });
    const client = clientOf(daemon);
    const sampled = await observe(daemon);
    const body = { endpoint: receiver.url, enabled: true };
    await client.call(otlpSettings.UpdateOtlpSettings, { body });
    const exported = await observe(daemon);
    await client.call(otlpSettings.UpdateOtlpSettings, { body: { enabled: false } });
    report.table({
      title: `${WATCHED} sandboxes watched`,
      columns: ['ms a round', '% at 30 s', 'p50 ms', 'p99 ms', 'most ms'],
      lines: [
        line('not sampled', floor, floor),
        line('sampled', sampled, floor),
        line('sampled and exported', exported, floor),
      ],
      notes: ['ms of CPU time a round; p50, p99 and most: how soon another request is answered meanwhile'],
    });
    await measureReads(report, client);
  } finally {
    await empty(clientOf(daemon));
    await daemon.stop();
    await receiver.stop();
  }
}

interface Observed {
  readonly cpuMsPerSecond: number;
  readonly answers: readonly number[];
}

async function observe(daemon: TestDaemon): Promise<Observed> {
  await Bun.sleep(SETTLE_MS);
  const answers: number[] = [];
  const [cpu, begun] = [cpuMs(daemon.pid), performance.now()];
  while (performance.now() - begun < SECONDS * 1000) {
    answers.push(await timed(() => fetch(`${daemon.url}/healthz`)));
    await Bun.sleep(5);
  }
  const seconds = (performance.now() - begun) / 1000;
  return { cpuMsPerSecond: (cpuMs(daemon.pid) - cpu) / seconds, answers };
}

function line(what: string, { cpuMsPerSecond, answers }: Observed, floor: Observed): Line {
  const ms = cpuMsPerSecond - floor.cpuMsPerSecond;
  const share = (100 * ms) / 1000 / DEFAULT_INTERVAL_S;
  const most = Math.max(...answers);
  const cells = [ms, share, median(answers), quantile(answers, 0.99), most].map(digits);
  return { what, cells, goals: what === 'not sampled' ? [] : [atMost(share, 1, '% of a core')] };
}

async function measureReads(report: Report, client: Client): Promise<void> {
  const ids = await running(client);
  const [sandboxId = ''] = ids;
  const query = { ids: ids.slice(0, 100).join(',') };
  const params = { sandboxId };
  const reads: Array<[string, () => Promise<unknown>]> = [
    ['one, now', () => client.call(sandboxMetrics.GetMetrics, { params })],
    [`a batch of ${Math.min(ids.length, 100)}`, () => client.call(sandboxMetrics.GetMetricsBatch, { query })],
    ['the history of one', () => client.call(sandboxMetrics.GetMetricsHistory, { params })],
  ];
  const lines: Line[] = [];
  for (const [what, read] of reads) {
    const times: number[] = [];
    await read();
    for (let i = 0; i < ROUNDS; i++) {
      await Bun.sleep(25);
      times.push(await timed(read));
    }
    lines.push({ what, cells: [median(times), quantile(times, 0.95)].map(digits) });
  }
  report.table({ title: 'metrics over HTTP', columns: ['p50 ms', 'p95 ms'], lines });
}

async function fill(client: Client): Promise<void> {
  let left = WATCHED;
  const work = async () => {
    while (left-- > 0) await newSandbox(client, { timeoutSeconds: 0 });
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}

async function empty(client: Client): Promise<void> {
  const ids = await running(client);
  const work = async () => {
    for (let id = ids.pop(); id; id = ids.pop())
      await client.call(sandboxLifecycle.TerminateSandbox, { params: { sandboxId: id } });
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}

async function running(client: Client): Promise<string[]> {
  const answer = await client.call(sandboxLifecycle.ListSandboxInstances, { query: { limit: 500 } });
  return (answer.instances ?? []).flatMap(({ id }) => id ?? []);
}

/** CPU time of a process in milliseconds, in user and system mode (proc_pid_stat(5)). */
function cpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS;
}

if (import.meta.main) await Report.of(benchWatching);
