import { functions } from '../../src/api/functions/functions.ts';
import { sandboxLifecycle } from '../../src/api/sandbox/lifecycle.ts';
import type { Client } from '../../src/client/client.ts';
import { startDaemon } from '../support/daemon.ts';
import { clientOf, newSandbox, run } from '../support/scene.ts';
import { startBareServer } from './kit/bare-server.ts';
import { namespaceMissing } from './kit/host.ts';
import { median, quantile, timed } from './kit/quantile.ts';
import { atMost, digits, type Line, Report } from './kit/report.ts';
import { sizeFromEnv } from './kit/setting.ts';

const ROUNDS = sizeFromEnv('BENCH_ROUNDS', 30);
const COLD = 5;

const CODES = [
  {
    language: 'node',
    runtime: 'nodejs',
    code: 'export default ({n}) => n + 1',
    alone: "node -e 'console.log(2)'",
  },
  {
    language: 'python',
    runtime: 'python',
    code: 'def handler(args):\n  return args["n"] + 1',
    alone: "python3 -c 'print(2)'",
  },
] as const;

/** Calls of functions over HTTP: code in a sandbox that is warm and one that is not, and an endpoint beside itself. */
export async function benchFunctions(report: Report): Promise<void> {
  const missing = namespaceMissing();
  if (missing) return console.log(`not measured: ${missing}`);
  const endpoint = await startBareServer({ '/': { ok: true } });
  const env = {
    SVC_SANDBOX_DRIVER: 'namespace',
    SVC_LOG_LEVEL: 'info',
    SVC_OUTBOUND_ALLOW: `127.0.0.1:${endpoint.port}`,
  };
  const daemon = await startDaemon({ env });
  const client = clientOf(daemon);
  try {
    const sandboxId = await newSandbox(client);
    const lines: Line[] = [];
    for (const one of CODES) lines.push(await code(client, sandboxId, one));
    report.table({
      title: 'isolated functions',
      columns: ['warm p50', 'warm p95', 'cold ms', 'alone ms', 'x faster'],
      lines,
      notes: [
        'cold: with a new sandbox; alone: a new interpreter in a sandbox that runs, as a command over HTTP',
        'x faster: alone through warm',
      ],
    });
    await client.call(sandboxLifecycle.TerminateSandbox, { params: { sandboxId }, body: {} });
    report.table({
      title: 'functions that call out',
      columns: ['p50 ms', 'p95 ms', 'direct ms', 'more ms'],
      lines: [await webhook(client, `http://127.0.0.1:${endpoint.port}/`)],
    });
  } finally {
    await daemon.stop();
    endpoint.end();
  }
}

async function code(client: Client, sandboxId: string, one: (typeof CODES)[number]): Promise<Line> {
  const cold: number[] = [];
  for (let i = 0; i < COLD; i++) {
    const isolated = { runtime: one.runtime, code: `${one.code}\n`.padEnd(200 + i) };
    const body = { name: `${one.language}${i}`, isolated };
    await client.call(functions.CreateFunction, { body });
    cold.push(await timed(() => call(client, body.name)));
  }
  const warm: number[] = [];
  for (let i = 0; i < ROUNDS; i++) warm.push(await timed(() => call(client, `${one.language}${COLD - 1}`)));
  const alone: number[] = [];
  for (let i = 0; i < COLD; i++) alone.push(await timed(() => run(client, sandboxId, one.alone)));
  const p50 = median(warm);
  return {
    what: one.language,
    cells: [
      digits(p50),
      digits(quantile(warm, 0.95)),
      digits(median(cold)),
      digits(median(alone)),
      digits(median(alone) / p50),
    ],
    goals: [atMost(p50, 30, 'ms')],
  };
}

async function webhook(client: Client, url: string): Promise<Line> {
  const body = { name: 'hook', webhook: { url } };
  await client.call(functions.CreateFunction, { body });
  const [through, direct]: [number[], number[]] = [[], []];
  for (let i = 0; i < ROUNDS; i++) {
    through.push(await timed(() => call(client, 'hook')));
    direct.push(
      await timed(async () => void (await (await fetch(url, { method: 'POST', body: '{}' })).text())),
    );
  }
  const [p50, floor] = [median(through), median(direct)];
  return {
    what: 'webhook',
    cells: [digits(p50), digits(quantile(through, 0.95)), digits(floor), digits(p50 - floor)],
    goals: [atMost(p50 - floor, 10, 'ms')],
  };
}

async function call(client: Client, id: string): Promise<void> {
  const { status, error } = await client.call(functions.InvokeFunction, {
    params: { id },
    body: { arguments: { n: 1 } },
  });
  if (status !== 'success') throw new Error(`${id}: ${error}`);
}

if (import.meta.main) await Report.of(benchFunctions);
