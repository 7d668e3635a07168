import { expect, test } from 'bun:test';
import { openTestApp } from '../../../testing/app.ts';
import { CodeCache, nearnessTo } from '../../memory/index.ts';
import { Recall, type RecallParts } from './recall.ts';
import { MemoryStore } from './store.ts';
import { VectorStore } from './vector-store.ts';

const ROWS = 4_200;
const DIMENSION = 512;
const TOPICS = 60;

/** Numbers that look like chance and are the same each time. */
function chance(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 31 - 1;
  };
}

test('over many long vectors, those that measuring all of them finds are found', async () => {
  const { db } = openTestApp({ now: () => 1 }, {});
  const vectors = new VectorStore(db);
  const memories = new MemoryStore(db);
  const next = chance(7);
  const topics = Array.from({ length: TOPICS }, () => Array.from({ length: DIMENSION }, next));
  const about = (topic: number) => Float32Array.from(topics[topic] ?? [], (value) => value + next() * 0.8);
  const all = new Map(Array.from({ length: ROWS }, (_, i) => [i + 1, about(i % TOPICS)] as const));
  const shelf = db.transaction(() => {
    const made = memories.shelf('org_a', { scope: 'global', owner: '' });
    db.raw.run(
      `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${ROWS})
       INSERT INTO agent_memories (seq, id, tenant, agent_id, user_id, shelf, scope, type, content, digest, fact_key,
         confidence, source, access_count, active, vector_model, created_at, updated_at)
       SELECT i, 'mem_' || i, 'org_a', 'a', 'u', ${made}, 'global', 'fact', i, i, '', 1, 'tool_stored', 0, 1, '', 1, 1 FROM n`,
    );
    for (const [memory, vector] of all) vectors.put(memory, made, { model: 'm', vector });
    return made;
  });
  const parts = { vectorStore: vectors, cache: new CodeCache(vectors, 1e9) } as unknown as RecallParts;
  const recall = new Recall(parts);
  for (let topic = 0; topic < TOPICS; topic += 7) {
    const vector = about(topic);
    const nearness = nearnessTo('cosine', vector);
    const exact = [...all]
      .map(([memory, one]) => [memory, nearness(one)] as const)
      .sort((a, b) => b[1] - a[1]);
    const found = await recall.near([shelf], { model: 'm', vector }, 10);
    expect(found.map(({ memory }) => memory)).toEqual(exact.slice(0, 10).map(([memory]) => memory));
  }
}, 60_000);
