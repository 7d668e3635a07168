import { expect, test } from 'bun:test';
import { openTestApp } from '../../../testing/app.ts';
import { CodeCache, nearnessTo } from '../../memory/index.ts';
import { Recall, type RecallParts } from './recall.ts';
import { MemoryStore } from './store.ts';
import { VectorStore } from './vector-store.ts';

const ROWS = 4_500;
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
  const all = new Map<number, Float32Array>();
  const shelf = db.transaction(() => {
    const made = memories.shelf('org_a', { scope: 'global', owner: '' });
    for (let i = 0; i < ROWS; i++) {
      const vector = about(i % TOPICS);
      const row = memories.insert('org_a', {
        ...{ id: `mem_${i}`, agentId: 'a', userId: 'u', shelf: made, scope: 'global', type: 'fact' },
        ...{ content: `memory ${i}`, digest: `${i}`, factKey: '', confidence: 1, source: 'tool_stored' },
        ...{ sessionId: null, turnNumber: null, accessCount: 0, lastAccessedAt: null, active: true },
        ...{ supersededBy: null, createdAt: 1, updatedAt: 1 },
      });
      vectors.put(row.seq, made, { model: 'm', vector });
      all.set(row.seq, vector);
    }
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
});
