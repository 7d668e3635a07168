import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Config } from '../../daemon/config/config.ts';
import { type Database, openDatabase } from '../../daemon/db/open.ts';
import type { Caller } from '../../daemon/http/route.ts';
import type { Agent } from '../../daemon/modules/agents/definitions/agent.ts';
import { createMemoriesRoom, type MemoriesRoom } from '../../daemon/modules/agents/memories/index.ts';
import { openTestApp } from '../../daemon/testing/app.ts';
import { migrations } from '../../migrations/index.ts';
import { systemClock } from '../../src/kit/time.ts';
import { DIMENSION, madeVector, textOf } from './kit/embeddings.ts';
import { quantile } from './kit/quantile.ts';
import { atMost, digits, Report } from './kit/report.ts';
import { sizeFromEnv } from './kit/setting.ts';

const MEMORIES = sizeFromEnv('BENCH_MEMORIES', 10_000);
const ROUNDS = sizeFromEnv('BENCH_ROUNDS', 30);
const WORDS_A_MEMORY = 14;
const WORDS_A_QUESTION = 8;
const TOP_K = 10;
const WARM = 3;

const caller: Caller = { tenant: 'org_bench', role: 'owner', actor: 'usr_1', userId: 'usr_1', via: 'cookie' };
const memory = {
  enabled: true,
  scope: 'user',
  autoRetrieve: true,
  autoRetrieveTopK: TOP_K,
  autoExtract: true,
};
const agent = {
  id: 'agt_1',
  tenant: caller.tenant,
  name: 'bench',
  model: 'none',
  memory,
} as unknown as Agent;
const never = new AbortController().signal;

/**
 * Recall of agents over memories with vectors of 1536 numbers, without the time of a model, beside what SQLite's full-text index takes for
 * the same words alone; and what remembering costs, beside a bare insert.
 */
export async function benchMemories(report: Report): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'svc-bench-memories-'));
  const db = openDatabase(join(dir, 'svc.db'), migrations);
  const app = { ...openTestApp(systemClock, {}), db, config: new Config({ flags: { 'data.dir': dir } }) };
  let hasModel = true;
  const room = createMemoriesRoom(app, {
    agents: { get: () => agent, find: () => agent },
    embed: async (_, { texts }) => texts.map(madeVector),
    embeddingModel: () => (hasModel ? 'bench' : undefined),
    converse: () => Promise.reject(new Error('nobody is asked')),
    documents: { query: async () => [] },
  });
  room.start();
  try {
    await fill(report, room, db);
    const questions = Array.from({ length: ROUNDS + WARM }, () => textOf(WORDS_A_QUESTION));
    const bare = await timed(questions, async (text) => bareWords(db, text));
    const ask = (query: string) => room.memories.recall(caller, agent, { query, topK: TOP_K, signal: never });
    const begun = performance.now();
    await ask(questions[0] ?? '');
    const first = performance.now() - begun;
    const both = await timed(questions, ask);
    hasModel = false;
    const words = await timed(questions, ask);
    const ratio = ({ cpu }: Measured) => digits(cpu / bare.cpu);
    const line = (what: string, one: Measured) => ({
      what,
      cells: [digits(quantile(one.ms, 0.5)), digits(quantile(one.ms, 0.95)), digits(one.cpu), ratio(one)],
      goals: [atMost(quantile(one.ms, 0.5), 20, 'ms')],
    });
    report.table({
      title: `recall over ${MEMORIES} memories of ${DIMENSION} numbers`,
      columns: ['p50 ms', 'p95 ms', 'CPU ms', 'to FTS5'],
      notes: ['CPU ms: processor time of one on average, which tells more where others use the machine too'],
      lines: [
        { ...line('all words by bm25 in FTS5 alone', bare), goals: [] },
        { what: 'the first, which reads all vectors', cells: [digits(first), '-', '-', '-'] },
        line('by meaning and words', both),
        line('by words, without a model', words),
      ],
    });
  } finally {
    room.stop();
    db.close();
    rmSync(dir, { recursive: true, force: true });
  }
}

async function fill(report: Report, room: MemoriesRoom, db: Database): Promise<void> {
  const begun = performance.now();
  for (let i = 0; i < MEMORIES; i++) {
    const scope = i % 2 === 0 ? 'agent' : 'user';
    const one = {
      type: 'fact',
      content: `${textOf(WORDS_A_MEMORY)} n${i}`,
      scope,
      source: 'tool_stored',
    } as const;
    await room.memories.remember(caller, agent, one, never);
  }
  const each = (performance.now() - begun) / MEMORIES;
  db.raw.run('CREATE TABLE bare (id INTEGER PRIMARY KEY, text TEXT, vector BLOB) STRICT');
  const insert = db.raw.query('INSERT INTO bare (text, vector) VALUES (?, ?)');
  const start = performance.now();
  const rows = Math.min(MEMORIES, 1_000);
  for (let i = 0; i < rows; i++)
    insert.run(textOf(WORDS_A_MEMORY), new Uint8Array(madeVector(`${i}`).buffer));
  const bare = (performance.now() - start) / rows;
  report.table({
    title: `${MEMORIES} memories, one after the other, looked up for what says the same`,
    columns: ['ms each', 'to bare'],
    lines: [
      { what: 'a bare insert of text and vector, on the disk', cells: [digits(bare), '1.00'] },
      { what: 'remember', cells: [digits(each), digits(each / bare)] },
    ],
  });
}

/** What the index alone takes for the same words and the same number of results. */
function bareWords(db: Database, text: string): unknown[] {
  const expression = text
    .split(' ')
    .map((word) => `"${word}"`)
    .join(' OR ');
  return db.raw
    .query('SELECT rowid FROM agent_memory_words_1 WHERE agent_memory_words_1 MATCH ? ORDER BY rank LIMIT ?')
    .all(`text : (${expression})`, TOP_K);
}

interface Measured {
  readonly ms: readonly number[];
  /** Processor time of one on average, in milliseconds. */
  readonly cpu: number;
}

async function timed(
  questions: readonly string[],
  work: (text: string) => Promise<unknown>,
): Promise<Measured> {
  for (const question of questions.slice(0, WARM)) await work(question);
  const ms: number[] = [];
  const before = process.cpuUsage();
  for (const question of questions.slice(WARM)) {
    const begun = performance.now();
    await work(question);
    ms.push(performance.now() - begun);
  }
  const { user, system } = process.cpuUsage(before);
  return { ms, cpu: (user + system) / 1000 / ms.length };
}

if (import.meta.main) await Report.of(benchMemories);
