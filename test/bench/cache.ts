import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openTelemetry } from '../../daemon/db/telemetry.ts';
import type { KeptAnswer } from '../../daemon/modules/gateway/cache/answer.ts';
import { CACHE_SCHEMA, DiskAnswers } from '../../daemon/modules/gateway/cache/disk-store.ts';
import { printOfText, printOfVector } from '../../daemon/modules/gateway/cache/likeness.ts';
import { MemoryAnswers } from '../../daemon/modules/gateway/cache/memory.ts';
import { keyOf, requestKey } from '../../daemon/modules/gateway/cache/request-key.ts';
import { SimilarRequests } from '../../daemon/modules/gateway/cache/similar.ts';
import { GuardrailChecks } from '../../daemon/modules/gateway/guardrails/checks.ts';
import { settingsOf } from '../../daemon/modules/gateway/guardrails/config.ts';
import { piiDetection, promptInjection } from '../../daemon/modules/gateway/guardrails/input-guards.ts';
import { codeExecution, jailbreakDetection } from '../../daemon/modules/gateway/guardrails/output-guards.ts';
import { tokenLimits } from '../../daemon/modules/gateway/guardrails/token-limits.ts';
import type { ModelCall } from '../../daemon/modules/gateway/pipeline/call.ts';
import { atMost, type Line, Report } from './kit/report.ts';
import { sizeFromEnv } from './kit/setting.ts';

const CALLS = sizeFromEnv('BENCH_CALLS', 20_000);
const VECTORS = 10_000;
const DIMENSIONS = 1536;
const MB = 1024 * 1024;

/** What the cache and the guardrails add to a request, and how long they hold others up. */
export async function benchCache(report: Report): Promise<void> {
  report.table({
    title: 'the cache, a lookup',
    columns: ['us', 'ratio'],
    lines: await lookups(),
    notes: [FLOOR],
  });
  report.table({ title: 'requests that are alike', columns: ['ms', 'held ms'], lines: await alike() });
  report.table({ title: 'guardrails', columns: ['ms', 'held ms'], lines: await guarded() });
}

const FLOOR = 'the ratio is to JSON.stringify and SHA-256 of the same request, with no order of fields';

const callOf = (content: string) =>
  ({
    caller: { tenant: 'org_bench' },
    surface: 'chat',
    headers: new Headers(),
    request: {
      model: 'openai/gpt-4o-mini',
      temperature: 0.2,
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content },
      ],
    },
  }) as unknown as ModelCall;

async function lookups(): Promise<Line[]> {
  const dir = mkdtempSync(join(tmpdir(), 'svc-bench-cache-'));
  const clock = { now: () => Date.now() };
  const memory = new MemoryAnswers({ entries: () => 50_000, bytes: () => 64 * MB }, clock);
  const disk = new DiskAnswers(openTelemetry(join(dir, 'cache.db'), CACHE_SCHEMA), () => 64 * MB, clock);
  try {
    for (let i = 0; i < 2000; i++) {
      memory.keep('org_bench', keyOf(`${i}`), answer());
      disk.keep('org_bench', keyOf(`${i}`), answer());
      if (i % 400 === 399) disk.flush();
    }
    const [small, large] = [callOf('word '.repeat(200)), callOf('word '.repeat(20_000))];
    const plain = (call: ModelCall) =>
      new Bun.CryptoHasher('sha256').update(JSON.stringify(call.request)).digest('base64url');
    const [floor, largeFloor] = [micros(() => plain(small)), micros(() => plain(large), CALLS / 20)];
    const line = (what: string, us: number, under: number, most: number): Line => ({
      what,
      cells: [us.toFixed(2), (us / under).toFixed(1)],
      goals: [atMost(us, most, 'us')],
    });
    const [here, absent] = [keyOf('7'), keyOf('absent')];
    return [
      { what: 'the floor, 1 KB', cells: [floor.toFixed(2), '1.0'] },
      line(
        'the key of 1 KB',
        micros(() => requestKey(small, [])),
        floor,
        50,
      ),
      line(
        'the key of 100 KB',
        micros(() => requestKey(large, []), CALLS / 20),
        largeFloor,
        1500,
      ),
      line(
        'a hit in memory',
        micros(() => memory.find('org_bench', here)),
        floor,
        5,
      ),
      line(
        'a hit in the file',
        micros(() => disk.find('org_bench', here)),
        floor,
        100,
      ),
      line(
        'a miss in both',
        micros(() => memory.find('org_bench', absent) ?? disk.find('org_bench', absent)),
        floor,
        50,
      ),
    ];
  } finally {
    disk.close();
    rmSync(dir, { recursive: true, force: true });
  }
}

async function alike(): Promise<Line[]> {
  const all = new SimilarRequests();
  const random = () => printOfVector(Array.from({ length: DIMENSIONS }, () => Math.random() - 0.5));
  for (let i = 0; i < VECTORS; i++) all.add('org_bench', 'context', keyOf(`${i}`), random());
  const one = random();
  const text = 'How tall are the mountains in the east of the country, and when were they made? '.repeat(4);
  return [
    await held(
      `the nearest of ${VECTORS} vectors of ${DIMENSIONS}`,
      () => all.nearest('org_bench', 'context', one, 0.95),
      30,
    ),
    await held('the signature of 320 letters', async () => printOfText(text), 1),
  ];
}

async function guarded(): Promise<Line[]> {
  const settings = settingsOf(
    {},
    {
      enabled: true,
      inputGuardrails: { tokenLimits: { maxInputTokens: 100_000_000, maxTotalTokens: 100_000_000 } },
    },
  );
  const checks = new GuardrailChecks(
    [tokenLimits, promptInjection, piiDetection, jailbreakDetection, codeExecution],
    () => settings,
  );
  const input = (text: string) => () => checks.checkInput(callOf(text));
  return [
    await held('1 KB of words in', input('word '.repeat(200)), 1),
    await held('1 MB of words in', input('word '.repeat(MB / 5)), 200),
    await held('1 MB of digits and spaces in', input('4 '.repeat(MB / 2)), 600),
    await held('1 MB of at signs in', input('a@'.repeat(MB / 2)), 600),
    await held('1 MB of words out', () => checks.checkOutput(callOf(''), 'word '.repeat(MB / 5)), 200),
  ];
}

/** Milliseconds of some work, the middle of several, and the longest time in which nothing else had its turn. */
async function held(what: string, work: () => Promise<unknown>, most: number): Promise<Line> {
  const times: number[] = [];
  const longest: number[] = [];
  for (let round = 0; round < 7; round++) {
    const watch = watchTurns();
    const begin = performance.now();
    await work();
    times.push(performance.now() - begin);
    longest.push(await watch.stop());
  }
  const middle = (values: number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
  return {
    what,
    cells: [middle(times).toFixed(2), middle(longest).toFixed(2)],
    goals: [atMost(middle(times), most, 'ms'), atMost(middle(longest), 10, 'ms held')],
  };
}

function watchTurns() {
  let [last, longest, isOver] = [performance.now(), 0, false];
  const turn = () => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  return {
    async stop() {
      isOver = true;
      await new Promise(setImmediate);
      return longest;
    },
  };
}

function answer(): KeptAnswer {
  const keptAt = Date.now();
  const body = JSON.stringify({ choices: [{ message: { content: 'word '.repeat(200) } }] });
  return { contentType: 'application/json', body, model: 'openai/gpt', keptAt, expiresAt: keptAt + 600_000 };
}

/** Microseconds of one call, after some that let the runtime compile it. */
function micros(work: () => unknown, calls = CALLS): number {
  for (let i = 0; i < calls / 10; i++) work();
  const begin = Bun.nanoseconds();
  for (let i = 0; i < calls; i++) work();
  return (Bun.nanoseconds() - begin) / calls / 1000;
}

if (import.meta.main) await Report.of(benchCache);
