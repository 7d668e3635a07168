import { startDaemon, type TestDaemon } from '../support/daemon.ts';
import { startUpstream, type TestUpstream } from '../support/upstream.ts';
import { median } from './kit/quantile.ts';
import { atMost, digits, Report } from './kit/report.ts';

/** One way to the same words. */
interface Way {
  readonly name: string;
  readonly url: string;
  readonly key: string;
  readonly body: object;
}

/** Medians in milliseconds. */
interface Figures {
  readonly firstMs: number;
  readonly lastMs: number;
}

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
const REQUESTS = 60;
const LEAVINGS = 20;
const WORDS = 'word '.repeat(30).trim();
const MANY_WORDS = 'word '.repeat(80).trim();

/**
 * Measures responses beside the upstream itself and beside chat completions through the same gateway, by turns, in one run; what keeping them costs; and
 * how long after a cancellation the upstream is left. Run: bun test/bench/responses.ts
 */
export async function benchResponses(report: Report): Promise<void> {
  const upstream = await startUpstream();
  const plain = { base_url: upstream.chatOnlyUrl, api_key: upstream.apiKey };
  const env = {
    OPENAI_BASE_URL: upstream.url,
    OPENAI_API_KEY: upstream.apiKey,
    SVC_PROVIDERS: JSON.stringify({ plain }),
    SVC_LOG_LEVEL: 'warn',
  };
  const daemon = await startDaemon({ env });
  try {
    for (const stream of [false, true]) await compare(report, waysOf(upstream, daemon, stream), stream);
    await leaving(report, upstream, daemon);
  } finally {
    await daemon.stop();
    await upstream.stop();
  }
}

function waysOf(upstream: TestUpstream, daemon: TestDaemon, stream: boolean): Way[] {
  const ours = { url: `${daemon.url}/compat/v1/responses`, key: daemon.apiKey };
  const messages = [{ role: 'user', content: WORDS }];
  const chat = { model: 'gpt-test', messages, stream, stream_options: { include_usage: true } };
  const asked = { input: WORDS, stream };
  return [
    {
      name: 'the upstream itself',
      url: `${upstream.url}/responses`,
      key: upstream.apiKey,
      body: { ...asked, model: 'gpt-test', store: false },
    },
    { ...ours, name: 'chat completions', url: `${daemon.url}/compat/v1/chat/completions`, body: chat },
    { ...ours, name: 'responses, passed on', body: { ...asked, model: 'openai/gpt-test', store: false } },
    { ...ours, name: 'responses, passed on and kept', body: { ...asked, model: 'openai/gpt-test' } },
    { ...ours, name: 'responses, translated', body: { ...asked, model: 'plain/gpt-test', store: false } },
    { ...ours, name: 'responses, translated and kept', body: { ...asked, model: 'plain/gpt-test' } },
  ];
}

async function compare(report: Report, ways: readonly Way[], stream: boolean): Promise<void> {
  const rounds = new Map(ways.map(({ name }) => [name, [] as Figures[]]));
  for (let round = 0; round <= ROUNDS; round++)
    for (const way of ways) {
      const figures = await measure(way);
      if (round > 0) rounds.get(way.name)?.push(figures);
    }
  const results = [...rounds].map(([name, list]) => ({ name, ...middle(list) }));
  const floor = results[0]?.lastMs ?? 1;
  report.table({
    title: stream ? 'streamed, one at a time' : 'whole, one at a time',
    columns: ['first ms', 'whole ms', 'ratio'],
    lines: results.map(({ name, firstMs, lastMs }) => ({
      what: name,
      cells: [digits(firstMs), digits(lastMs), digits(lastMs / floor)],
    })),
    notes: ['ratio: time until the last byte, through that of the upstream itself'],
  });
}

async function measure(way: Way): Promise<Figures> {
  const first: number[] = [];
  const last: number[] = [];
  for (let i = 0; i < REQUESTS; i++) {
    const start = performance.now();
    const reader = (await post(way)).body?.getReader();
    await reader?.read();
    first.push(performance.now() - start);
    while (reader && !(await reader.read()).done);
    last.push(performance.now() - start);
  }
  return { firstMs: median(first), lastMs: median(last) };
}

/** From a cancellation, and from a caller's leaving, until the upstream is left. */
async function leaving(report: Report, upstream: TestUpstream, daemon: TestDaemon): Promise<void> {
  const of = { url: `${daemon.url}/compat/v1/responses`, key: daemon.apiKey, name: 'leaving' };
  const lines = [];
  for (const model of ['openai/hangs-midstream', 'plain/hangs-midstream']) {
    const cancelled: number[] = [];
    const left: number[] = [];
    for (let i = 0; i < LEAVINGS; i++) {
      cancelled.push(
        await timeToLeave(upstream, () =>
          cancel(daemon, { ...of, body: { model, input: MANY_WORDS, background: true } }),
        ),
      );
      left.push(
        await timeToLeave(upstream, () => leave({ ...of, body: { model, input: MANY_WORDS, stream: true } })),
      );
    }
    for (const [what, times] of [
      ['cancelled', cancelled],
      ['left by its caller', left],
    ] as const) {
      const most = Math.max(...times);
      lines.push({
        what: `${model}, ${what}`,
        cells: [digits(median(times)), digits(most)],
        goals: [atMost(most, 100, 'ms')],
      });
    }
  }
  report.table({ title: 'until the upstream is left', columns: ['p50 ms', 'most ms'], lines });
}

async function timeToLeave(upstream: TestUpstream, begin: () => Promise<() => unknown>): Promise<number> {
  const { left } = await upstream.seen();
  const leave = await begin();
  const start = performance.now();
  leave();
  while ((await upstream.seen()).left === left) await Bun.sleep(0);
  return performance.now() - start;
}

async function cancel(daemon: TestDaemon, way: Way): Promise<() => unknown> {
  const { id } = (await (await post(way)).json()) as { id: string };
  const events = await daemon.fetch(`/compat/v1/responses/${id}?stream=true`);
  for await (const text of events.body?.pipeThrough(new TextDecoderStream()) ?? [])
    if (text.includes('.delta')) break;
  return () => void daemon.fetch(`/compat/v1/responses/${id}/cancel`, { method: 'POST' });
}

async function leave(way: Way): Promise<() => unknown> {
  const controller = new AbortController();
  const response = await post(way, controller.signal);
  await response.body?.getReader().read();
  return () => controller.abort();
}

async function post({ url, key, body, name }: Way, signal?: AbortSignal): Promise<Response> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify(body),
    signal,
  });
  if (!response.ok) throw new Error(`${name} answered ${response.status}: ${await response.text()}`);
  return response;
}

function middle(list: readonly Figures[]): Figures {
  const of = (pick: (figures: Figures) => number) => median(list.map(pick));
  return { firstMs: of((one) => one.firstMs), lastMs: of((one) => one.lastMs) };
}

if (import.meta.main) await Report.of(benchResponses);
