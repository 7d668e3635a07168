import { sandboxCode } from '../../src/api/sandbox/code.ts';
import { sandboxLifecycle } from '../../src/api/sandbox/lifecycle.ts';
import type { Client } from '../../src/client/client.ts';
import { startDaemon } from '../support/daemon.ts';
import { clientOf, newSandbox, run } from '../support/scene.ts';
import { namespaceMissing } from './kit/host.ts';
import { median, quantile, timed } from './kit/quantile.ts';
import { atLeast, atMost, digits, type Line, Report } from './kit/report.ts';
import { sizeFromEnv } from './kit/setting.ts';

const ROUNDS = sizeFromEnv('BENCH_ROUNDS', 30);
const STARTS = 5;
/** The smallest piece of code of each language, and a process of the same box that does it cold. */
const LANGUAGES = [
  { language: 'python', code: '1 + 1', cold: "python3 -c 'print(1 + 1)'", program: 'python3' },
  { language: 'javascript', code: '1 + 1', cold: "node -e 'console.log(1 + 1)'", program: 'node' },
  {
    language: 'typescript',
    code: 'const a: number = 2; a',
    cold: "node -e 'console.log(2)'",
    program: 'node',
  },
  { language: 'bash', code: 'echo 2', cold: "bash -c 'echo 2'", program: 'bash' },
] as const;

/** Code over HTTP in contexts that are warm, beside opening one and beside a cold interpreter in the same box. */
export async function benchCode(report: Report): Promise<void> {
  const missing = namespaceMissing();
  if (missing) return console.log(`not measured: ${missing}`);
  const daemon = await startDaemon({ env: { SVC_SANDBOX_DRIVER: 'namespace', SVC_LOG_LEVEL: 'info' } });
  const client = clientOf(daemon);
  try {
    const sandboxId = await newSandbox(client);
    const lines: Line[] = [];
    for (const one of LANGUAGES) {
      if (!Bun.which(one.program, { PATH: '/usr/bin:/bin' })) continue;
      lines.push(await measure(client, sandboxId, one));
    }
    report.table({
      title: 'code over HTTP',
      columns: ['p50 ms', 'p95 ms', 'open ms', 'cold ms', 'x faster'],
      lines,
      notes: ['cold: the same by a new interpreter in the same box, as a command over HTTP'],
    });
    await client.call(sandboxLifecycle.TerminateSandbox, { params: { sandboxId }, body: {} });
  } finally {
    await daemon.stop();
  }
}

async function measure(
  client: Client,
  sandboxId: string,
  { language, code, cold }: (typeof LANGUAGES)[number],
): Promise<Line> {
  const params = { sandboxId };
  const [opening, warm, coldly]: [number[], number[], number[]] = [[], [], []];
  for (let i = 0; i < STARTS; i++) {
    let contextId = '';
    opening.push(
      await timed(async () => {
        const { id } = await client.call(sandboxCode.CreateCodeContext, { params, body: { language } });
        contextId = id;
      }),
    );
    await client.call(sandboxCode.DeleteCodeContext, { params: { sandboxId, contextId } });
  }
  for (let i = -3; i < ROUNDS; i++) {
    const ms = await timed(() => runCode(client, sandboxId, language, code));
    if (i >= 0) warm.push(ms);
  }
  for (let i = 0; i < STARTS; i++) coldly.push(await timed(() => run(client, sandboxId, cold)));
  const [p50, coldMs] = [median(warm), median(coldly)];
  const cells = [p50, quantile(warm, 0.95), median(opening), coldMs, coldMs / p50].map(digits);
  return { what: language, cells, goals: [atMost(p50, 10, 'ms'), atLeast(coldMs / p50, 2, 'x a cold one')] };
}

async function runCode(client: Client, sandboxId: string, language: string, code: string): Promise<void> {
  let last = '';
  const body = { code, context: { language } };
  for await (const { data } of client.stream(sandboxCode.ExecuteCode, { params: { sandboxId }, body }))
    last = data;
  if (JSON.parse(last).type !== 'execution_complete') throw new Error(`the code ended with ${last}`);
}

if (import.meta.main) await Report.of(benchCode);
