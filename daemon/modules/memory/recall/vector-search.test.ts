import { describe, expect, test } from 'bun:test';
import { CodeCache, type VectorSource } from './code-cache.ts';
import type { StoredVector } from './codes.ts';
import { METRICS, type Metric, nearnessTo } from './similarity.ts';
import { nearestByCodes } from './vector-search.ts';

const DIMENSION = 48;

/** The same numbers at every run (mulberry32). */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

const next = random(7);
const vector = () => Float32Array.from({ length: DIMENSION }, () => (next() - 0.5) * (1 + next()));
const stored: StoredVector[] = Array.from({ length: 3000 }, (_, i) => ({
  seq: i + 1,
  document: Math.floor(i / 3) + 1,
  vector: vector(),
}));
const source = (rows: readonly StoredVector[]): VectorSource & { reads: number } => ({
  reads: 0,
  vectorsAfter(_, seq, limit) {
    this.reads++;
    return rows.filter((row) => row.seq > seq).slice(0, limit);
  },
});
const collection = (distance: Metric, chunkCount = stored.length) => ({
  seq: 1,
  dimension: DIMENSION,
  distance,
  chunkCount,
});
const everything = () => true;

describe.each([...METRICS])('by %s', (metric) => {
  test.each([
    ['in memory', 64 * 1024 * 1024],
    ['read each time', 0],
  ])('the ten nearest of all are among the nearest hundred by codes, %s', async (_, bytes) => {
    const cache = new CodeCache(source(stored), bytes);
    for (let round = 0; round < 5; round++) {
      const query = vector();
      const nearness = nearnessTo(metric, query);
      const exact = [...stored]
        .sort((a, b) => nearness(b.vector) - nearness(a.vector))
        .slice(0, 10)
        .map(({ seq }) => seq);
      const found = await nearestByCodes(cache, collection(metric), query, 100, everything);
      expect(found).toHaveLength(100);
      expect(found.map(({ seq }) => seq)).toEqual(expect.arrayContaining(exact));
    }
    expect(cache.bytes > 0).toBe(bytes > 0);
  });
});

test('documents that are not admitted, or were buried, are not found', async () => {
  const cache = new CodeCache(source(stored), 64 * 1024 * 1024);
  const query = vector();
  const [first] = await nearestByCodes(cache, collection('cosine'), query, 1, everything);
  const not = (document: number) => document !== first?.document;
  const without = await nearestByCodes(cache, collection('cosine'), query, 100, not);
  expect(without.map(({ document }) => document)).not.toContain(first?.document ?? 0);
  cache.bury(1, first?.document ?? 0);
  expect(await nearestByCodes(cache, collection('cosine'), query, 100, everything)).toEqual(without);
});

test('what was added since is found, and what is known is not read again', async () => {
  const rows = stored.slice(0, 1000);
  const from = source(rows);
  const cache = new CodeCache(from, 64 * 1024 * 1024);
  const query = vector();
  await nearestByCodes(cache, collection('cosine'), query, 5, everything);
  const { reads } = from;
  rows.push({ seq: 5000, document: 5000, vector: query });
  const [first] = await nearestByCodes(cache, collection('cosine'), query, 5, everything);
  expect(first?.seq).toBe(5000);
  expect(from.reads).toBe(reads + 1);
});

test('two that search at once read each row once', async () => {
  const cache = new CodeCache(source(stored), 64 * 1024 * 1024);
  const query = vector();
  const search = () => nearestByCodes(cache, collection('cosine'), query, 3000, everything);
  const [one, other] = await Promise.all([search(), search()]);
  expect(one).toEqual(other);
  expect(new Set(one.map(({ seq }) => seq)).size).toBe(3000);
});

test('no more is held than it may: the collection that was used longest ago goes first', async () => {
  const one = 3100 * (DIMENSION + 24) * 2;
  const cache = new CodeCache(source(stored), one * 2);
  for (let seq = 1; seq <= 6; seq++)
    await nearestByCodes(cache, { ...collection('cosine'), seq }, vector(), 1, everything);
  expect(cache.bytes).toBeLessThanOrEqual(one * 2);
  expect(cache.bytes).toBeGreaterThan(0);
});
