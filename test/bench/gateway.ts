import { join } from 'node:path';
import { startDaemon } from '../support/daemon.ts';
import { startUpstream } from '../support/upstream.ts';

/** Something that answers POST {url}/chat/completions. */
interface Target {
  readonly name: string;
  readonly url: string;
  readonly key: string;
}

/** How one target did in one setting. */
interface Figures {
  /** Medians in milliseconds: until the first byte, until the last. */
  readonly firstMs: number;
  readonly lastMs: number;
  readonly perSecond: number;
}

const ROUNDS = 5;
/** Enough for the runtime to have compiled what is hot. */
const WARM_UP = { callers: 16, requests: 3000 };
const CONTENT = 'word '.repeat(30).trim();

/**
 * Measures the gateway beside the upstream itself and a bare passthrough, in one run, by turns, on one machine.
 * Ratios mean something; the absolute figures are this machine's. Run: bun test/bench/gateway.ts
 */
export async function benchGateway(): Promise<void> {
  const upstream = await startUpstream();
  const env = { OPENAI_BASE_URL: upstream.url, OPENAI_API_KEY: upstream.apiKey, SVC_LOG_LEVEL: 'warn' };
  const daemon = await startDaemon({ env });
  const command = [process.execPath, join(import.meta.dir, 'passthrough.ts'), upstream.url, upstream.apiKey];
  const bare = Bun.spawn(command, { stdout: 'pipe' });
  const port = new TextDecoder().decode((await bare.stdout.getReader().read()).value).trim();
  const targets: Target[] = [
    { name: 'upstream itself', url: upstream.url, key: upstream.apiKey },
    { name: 'bare passthrough', url: `http://127.0.0.1:${port}`, key: upstream.apiKey },
    { name: 'svc', url: `${daemon.url}/compat/v1`, key: daemon.apiKey },
  ];
  try {
    for (const stream of [false, true])
      for (const [callers, requests] of [
        [1, 300],
        [16, 2000],
      ] as const)
        print(
          `${stream ? 'streamed' : 'whole'}, ${callers} at a time`,
          await compare(targets, { stream, callers, requests }),
        );
    await printLeaving(targets, upstream);
  } finally {
    bare.kill();
    await daemon.stop();
    await upstream.stop();
  }
}

interface Load {
  readonly stream: boolean;
  readonly callers: number;
  readonly requests: number;
}

async function compare(targets: readonly Target[], load: Load): Promise<Map<string, Figures>> {
  const rounds = new Map(targets.map(({ name }) => [name, [] as Figures[]]));
  for (const target of targets) await measure(target, { ...load, ...WARM_UP });
  for (let round = 0; round < ROUNDS; round++)
    for (const target of targets) rounds.get(target.name)?.push(await measure(target, load));
  return new Map([...rounds].map(([name, list]) => [name, middle(list)]));
}

async function measure(target: Target, { stream, callers, requests }: Load): Promise<Figures> {
  const first: number[] = [];
  const last: number[] = [];
  let left = requests;
  const start = performance.now();
  const caller = async () => {
    while (left-- > 0) {
      const begin = performance.now();
      const response = await call(target, 'gpt-test', stream);
      if (response.status !== 200) throw new Error(`${target.name} answered ${response.status}`);
      const reader = response.body?.getReader();
      await reader?.read();
      first.push(performance.now() - begin);
      while (reader && !(await reader.read()).done);
      last.push(performance.now() - begin);
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  const seconds = (performance.now() - start) / 1000;
  return { firstMs: median(first), lastMs: median(last), perSecond: requests / seconds };
}

function call({ url, key }: Target, model: string, stream: boolean, signal?: AbortSignal): Promise<Response> {
  return fetch(`${url}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify({ model, stream, messages: [{ role: 'user', content: CONTENT }] }),
    signal,
  });
}

/** How long after a caller left the upstream is left too. */
async function printLeaving(
  targets: readonly Target[],
  upstream: Awaited<ReturnType<typeof startUpstream>>,
): Promise<void> {
  for (const target of targets) {
    const times: number[] = [];
    for (let i = 0; i < 20; i++) {
      const { left } = await upstream.seen();
      const controller = new AbortController();
      const response = await call(target, 'hangs-midstream', true, controller.signal);
      await response.body?.getReader().read();
      const start = performance.now();
      controller.abort();
      while ((await upstream.seen()).left === left) await Bun.sleep(0);
      times.push(performance.now() - start);
    }
    console.log(
      `left by the caller, then by ${target.name}: p50 ${median(times).toFixed(1)} ms, most ${Math.max(...times).toFixed(1)} ms`,
    );
  }
}

function print(title: string, figures: ReadonlyMap<string, Figures>): void {
  const base = figures.get('upstream itself');
  console.log(`\n${title}`);
  for (const [name, { firstMs, lastMs, perSecond }] of figures) {
    const share = base ? perSecond / base.perSecond : 1;
    console.log(
      `  ${name.padEnd(18)} first byte ${firstMs.toFixed(2)} ms  whole ${lastMs.toFixed(2)} ms  ` +
        `${perSecond.toFixed(0).padStart(6)} req/s  ${share.toFixed(2)} of the upstream itself`,
    );
  }
  const [bare, svc] = [figures.get('bare passthrough'), figures.get('svc')];
  if (bare && svc)
    console.log(
      `  svc against the bare passthrough: ${(svc.perSecond / bare.perSecond).toFixed(2)} of its req/s, ${(svc.lastMs / bare.lastMs).toFixed(2)} of its time`,
    );
}

function middle(list: readonly Figures[]): Figures {
  const of = (pick: (figures: Figures) => number) => median(list.map(pick));
  return { firstMs: of((f) => f.firstMs), lastMs: of((f) => f.lastMs), perSecond: of((f) => f.perSecond) };
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

if (import.meta.main) await benchGateway();
