import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Config } from '../../daemon/config/config.ts';
import { openDatabase } from '../../daemon/db/open.ts';
import type { Caller } from '../../daemon/http/route.ts';
import { createMemoryModule, type MemoryModule } from '../../daemon/modules/memory/index.ts';
import { openTestApp } from '../../daemon/testing/app.ts';
import { migrations } from '../../migrations/index.ts';
import { systemClock } from '../../src/kit/time.ts';
import { DIMENSION, madeVector, textOf, vectorOf } from './kit/embeddings.ts';
import { quantile } from './kit/quantile.ts';
import { atMost, digits, Report } from './kit/report.ts';
import { sizeFromEnv } from './kit/setting.ts';

const CHUNKS = sizeFromEnv('BENCH_CHUNKS', 10_000);
const ROUNDS = sizeFromEnv('BENCH_ROUNDS', 30);
const DOCUMENTS_A_CALL = 500;
const WORDS_A_CHUNK = 120;
const caller: Caller = { tenant: 'org_bench', role: 'owner', actor: 'key_1', via: 'api-key' };

/**
 * Recall over chunks with vectors of 1536 numbers, without the time of a model: by meaning, by words, by both, and with a filter; how late
 * the event loop is meanwhile; and what adding costs. Beside it the plain loop over 32-bit floats that codes replace.
 */
export async function benchMemory(report: Report): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'svc-bench-memory-'));
  const db = openDatabase(join(dir, 'svc.db'), migrations);
  const app = { ...openTestApp(systemClock, {}), db, config: new Config({ flags: { 'data.dir': dir } }) };
  const memory = createMemoryModule(app, async (_, { texts }) => texts.map(madeVector));
  await memory.start?.();
  try {
    await fill(report, memory);
    await recall(report, memory);
  } finally {
    await memory.stop?.();
    db.close();
    rmSync(dir, { recursive: true, force: true });
  }
}

async function fill(report: Report, memory: MemoryModule): Promise<void> {
  const create = memory.routes.find(({ endpoint }) => endpoint.id === 'CreateCollection');
  const body = { name: 'facts', embeddingModel: 'bench' };
  await create?.handle({ caller, body, params: {}, query: {}, signal: never } as never);
  const all = Array.from({ length: CHUNKS }, (_, i) => ({
    id: `d${i}`,
    content: textOf(WORDS_A_CHUNK),
    metadata: { part: String(i % 10) },
  }));
  const begun = performance.now();
  const late = await lateness(async () => {
    for (let from = 0; from < CHUNKS; from += DOCUMENTS_A_CALL) {
      await memory.documents.add(
        caller,
        'facts',
        { documents: all.slice(from, from + DOCUMENTS_A_CALL), chunkSize: 8000 },
        never,
      );
    }
  });
  const seconds = (performance.now() - begun) / 1000;
  report.table({
    title: `${CHUNKS} chunks added`,
    columns: ['chunks/s', 'late p50', 'late p99', 'late most'],
    lines: [{ what: 'with vectors and words', cells: [digits(CHUNKS / seconds), ...shown(late)] }],
  });
}

async function recall(report: Report, memory: MemoryModule): Promise<void> {
  const ask = (more: object) => () =>
    memory.documents.query(caller, 'facts', { query: textOf(8), ...more }, never);
  const begun = performance.now();
  await ask({ mode: 'vector' })();
  const first = performance.now() - begun;
  const floor = plainLoop();
  const floorMs = await timed(async () => floor());
  const cases = [
    ['by meaning', ask({ mode: 'vector' }), 20],
    ['by words', ask({ mode: 'text' }), 20],
    ['by both', ask({}), 20],
    ['by both, a tenth by metadata', ask({ metadataFilter: { part: '3' } }), 20],
  ] as const;
  const lines = [
    { what: 'plain loop over 32-bit floats', cells: [...both(floorMs), '1.00', '-', '-'] },
    { what: 'the first, which reads all', cells: [digits(first), '-', '-', '-', '-'] },
  ];
  const measured = [];
  for (const [what, work, most] of cases) {
    let ms: number[] = [];
    const late = await lateness(async () => {
      ms = await timed(work);
    });
    const p50 = quantile(ms, 0.5);
    measured.push({
      what,
      cells: [...both(ms), digits(p50 / quantile(floorMs, 0.5)), ...shown(late).slice(1)],
      goals: [atMost(p50, most, 'ms'), atMost(quantile(late, 0.99), 10, 'ms late')],
    });
  }
  report.table({
    title: `recall over ${CHUNKS} chunks of ${DIMENSION} numbers`,
    columns: ['p50 ms', 'p95 ms', 'to loop', 'late p99', 'late most'],
    lines: [...lines, ...measured],
    notes: ['late: milliseconds by which a timer of 1 ms was late meanwhile'],
  });
}

/** What a linear scan costs without codes. */
function plainLoop(): () => number {
  const vectors = new Float32Array(CHUNKS * DIMENSION).map((_, i) => Math.sin(i));
  const query = vectorOf('query');
  return () => {
    let best = 0;
    for (let at = 0; at < CHUNKS; at++) {
      let dot = 0;
      for (let i = 0; i < DIMENSION; i++)
        dot += (vectors[at * DIMENSION + i] as number) * (query[i] as number);
      best = Math.max(best, dot);
    }
    return best;
  };
}

async function timed(work: () => Promise<unknown>): Promise<number[]> {
  for (let i = 0; i < 3; i++) await work();
  const ms: number[] = [];
  for (let i = 0; i < ROUNDS; i++) {
    const begun = performance.now();
    await work();
    ms.push(performance.now() - begun);
  }
  return ms;
}

async function lateness(work: () => Promise<void>): Promise<number[]> {
  const late: number[] = [];
  let before = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    late.push(Math.max(0, now - before - 1));
    before = now;
  }, 1);
  await work();
  clearInterval(timer);
  return late;
}

const never = new AbortController().signal;

function both(ms: readonly number[]): string[] {
  return [digits(quantile(ms, 0.5)), digits(quantile(ms, 0.95))];
}

function shown(late: readonly number[]): string[] {
  return [quantile(late, 0.5), quantile(late, 0.99), Math.max(0, ...late)].map(digits);
}

if (import.meta.main) await Report.of(benchMemory);
