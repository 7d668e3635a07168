import { createHmac } from 'node:crypto';
import { sandboxCrons } from '../../src/api/sandbox/crons.ts';
import { sandboxLifecycle } from '../../src/api/sandbox/lifecycle.ts';
import { lifecycleWebhooks } from '../../src/api/sandbox/lifecycle-webhooks.ts';
import { sandboxWebhooks } from '../../src/api/sandbox/webhooks.ts';
import type { Client } from '../../src/client/client.ts';
import { startDaemon, type TestDaemon } from '../support/daemon.ts';
import { clientOf, newSandbox, run, until } from '../support/scene.ts';
import { namespaceMissing } from './kit/host.ts';
import { median, quantile, timed } from './kit/quantile.ts';
import { atMost, digits, type Line, Report } from './kit/report.ts';
import { sizeFromEnv } from './kit/setting.ts';

const CALLS = sizeFromEnv('BENCH_CALLS', 50);
const CRONS = sizeFromEnv('BENCH_CRONS', 100);
const EVENTS = sizeFromEnv('BENCH_EVENTS', 20);

/** What a box prepares after a command, for its next one. */
const SETTLE_MS = 100;

const ENV = {
  SVC_SANDBOX_DRIVER: 'namespace',
  SVC_SANDBOX_WARM: '0',
  SVC_LOG_LEVEL: 'warn',
  SVC_OUTBOUND_ALLOW: '127.0.0.1',
};

/**
 * What a webhook adds to the command that it runs, how late crons begin when many are due at one minute, and how
 * soon a receiver hears of what happened.
 */
export async function benchAutomation(report: Report): Promise<void> {
  const missing = namespaceMissing();
  if (missing) return console.log(`not measured: ${missing}`);
  const daemon = await startDaemon({ env: ENV });
  try {
    const client = clientOf(daemon);
    const sandboxId = await newSandbox(client);
    const commandMs = await measureCalls(report, daemon, client, sandboxId);
    await measureDeliveries(report, client, sandboxId);
    await measureCrons(report, client, sandboxId, commandMs);
    await client.call(sandboxLifecycle.TerminateSandbox, { params: { sandboxId }, body: {} });
  } finally {
    await daemon.stop();
  }
}

/** Answers the milliseconds of the command by itself. */
async function measureCalls(
  report: Report,
  daemon: TestDaemon,
  client: Client,
  sandboxId: string,
): Promise<number> {
  const body = { sandboxId, command: 'true', rateLimitRpm: 600 };
  const { webhook, secret = '' } = await client.call(sandboxWebhooks.CreateWebhook, { body });
  const invoke = async (body: string, query = '') => {
    const headers = {
      'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
    };
    await (await fetch(`${webhook?.url}${query}`, { method: 'POST', body, headers })).text();
  };
  const steps = [
    async () => void (await (await fetch(`${daemon.url}/healthz`)).text()),
    () => run(client, sandboxId, 'true'),
    () => invoke(''),
    () => invoke('{}'),
    () => invoke('', '?wait=0'),
  ];
  const [floor, command, called, fed, taken]: number[][] = [[], [], [], [], []];
  for (let i = -5; i < CALLS; i++) {
    const times: number[] = [];
    for (const step of steps) {
      times.push(await timed(step));
      await Bun.sleep(SETTLE_MS);
    }
    if (i >= 0)
      for (const [nth, list] of [floor, command, called, fed, taken].entries()) list?.push(times[nth] ?? 0);
  }
  const base = median(command ?? []);
  const line = (what: string, times: number[] = [], goals: Line['goals'] = []): Line => ({
    what,
    cells: [digits(median(times)), digits(quantile(times, 0.99)), digits(median(times) / base)],
    goals,
  });
  report.table({
    title: 'A call of a webhook',
    columns: ['p50 ms', 'p99 ms', 'ratio'],
    lines: [
      line('any request (floor)', floor),
      line('the command by itself', command),
      line('by webhook, with its result', called, [
        atMost(median(called ?? []) / base, 2, 'times the command'),
      ]),
      line('by webhook, with a body on its stdin', fed),
      line('by webhook, acknowledged', taken, [atMost(median(taken ?? []) / base, 1, 'times the command')]),
    ],
    notes: [
      'a command that reads a body enters its sandbox by itself; one without a body finds a process waiting there',
    ],
  });
  return base;
}

async function measureDeliveries(report: Report, client: Client, sandboxId: string): Promise<void> {
  let heard = Promise.withResolvers<number>();
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch() {
      heard.resolve(performance.now());
      return new Response('ok');
    },
  });
  const body = { url: `http://127.0.0.1:${server.port}/`, events: ['sandbox.started' as const] };
  const { id } = await client.call(lifecycleWebhooks.CreateWebhookEndpoint, { body });
  const after: number[] = [];
  for (let i = 0; i < EVENTS; i++) {
    await client.call(sandboxLifecycle.StopSandbox, { params: { sandboxId }, body: {} });
    heard = Promise.withResolvers();
    await client.call(sandboxLifecycle.ReviveSandbox, { params: { sandboxId }, body: {} });
    const answered = performance.now();
    after.push((await heard.promise) - answered);
  }
  await client.call(lifecycleWebhooks.DeleteWebhookEndpoint, { params: { id } });
  server.stop(true);
  report.table({
    title: 'A receiver hears of an event',
    columns: ['p50 ms', 'most ms'],
    lines: [
      {
        what: 'after the caller has its answer',
        cells: [digits(median(after)), digits(Math.max(...after))],
        goals: [atMost(median(after), 10, 'ms')],
      },
    ],
  });
}

async function measureCrons(
  report: Report,
  client: Client,
  sandboxId: string,
  commandMs: number,
): Promise<void> {
  for (let i = 0; i < CRONS; i++)
    await client.call(sandboxCrons.CreateCron, {
      body: { sandboxId, schedule: '* * * * *', command: 'true' },
    });
  const ended = await until(async () => {
    const query = { triggerType: 'cron' as const, limit: 500 };
    const { triggers = [] } = await client.call(sandboxCrons.ListTriggers, { query });
    const first = triggers.filter(
      ({ scheduledAt, finishedAt }) => finishedAt && scheduledAt === triggers.at(-1)?.scheduledAt,
    );
    return first.length >= CRONS && first;
  }, 90_000);
  const since = (at: string | undefined, from: string | undefined) =>
    Date.parse(at ?? '') - Date.parse(from ?? '');
  const queued = ended.map(({ createdAt, scheduledAt }) => since(createdAt, scheduledAt));
  const done = ended.map(({ finishedAt, scheduledAt }) => since(finishedAt, scheduledAt));
  const line = (what: string, times: number[], goals: Line['goals']): Line => ({
    what,
    cells: [digits(Math.min(...times)), digits(median(times)), digits(Math.max(...times))],
    goals,
  });
  report.table({
    title: `${CRONS} crons of one minute`,
    columns: ['first ms', 'p50 ms', 'last ms'],
    lines: [
      line('queued after the minute', queued, [atMost(Math.max(...queued), 100, 'ms')]),
      line('ended after the minute', done, [
        atMost(Math.max(...done) / (commandMs * CRONS), 2, 'times one after the other'),
      ]),
    ],
  });
}

await Report.of(benchAutomation);
