import { SECOND_MS } from '../../../../src/kit/time.ts';
import type { Caller } from '../../../http/route.ts';
import {
  type CodeCache,
  fuseWithScores,
  nearestByCodes,
  nearnessTo,
  type Ranked,
  WordSearch,
} from '../../memory/index.ts';
import type { Accesses } from './accesses.ts';
import type { Recalled, RecallWish } from './face.ts';
import { LIMITS } from './limits.ts';
import type { RecallStore } from './recall-store.ts';
import { type Shelf, userOf } from './shelves.ts';
import type { MemoryStore } from './store.ts';
import type { Embedded, Space, VectorStore } from './vector-store.ts';
import type { Vectors } from './vectors.ts';

/** What recall looks in. */
export interface RecallParts {
  readonly memories: MemoryStore;
  readonly store: RecallStore;
  readonly vectorStore: VectorStore;
  readonly cache: CodeCache;
  readonly vectors: Vectors;
  readonly accesses: Accesses;
}

/** A memory that is near, with the cosine that was measured. */
export interface Near {
  readonly memory: number;
  readonly cosine: number;
}

const QUESTION_MS = 3 * SECOND_MS;
/** Of each kind of recall, this many go into the fusion; more for a large topK. */
const FUSED = 32;
/** Codes are about right: this many times more are measured exactly. */
const MARGIN = 2;
/**
 * Over many long vectors the first look is at a quarter of their numbers: what stands out in all of them stands out there, and so many are then
 * measured exactly.
 */
const GLANCED = { rows: 4_000, dimension: 512, share: 1 / 4, exact: 256 } as const;
/** What is farther away has nothing to do with the question. */
const LEAST_COSINE = 0.15;

/** Finds memories by meaning and by words. */
export class Recall {
  constructor(private readonly parts: RecallParts) {}

  /** The memories on these shelves that fit best. What models cannot answer is left to the words. */
  async find(caller: Caller, shelves: readonly Shelf[], wish: RecallWish): Promise<Recalled[]> {
    const { tenant } = caller;
    const book = this.parts.memories.findBook(tenant);
    const seqs = shelves
      .map((shelf) => this.parts.memories.findShelf(tenant, shelf))
      .filter((seq) => seq !== undefined);
    const topK = Math.min(wish.topK, LIMITS.topK);
    if (!book || seqs.length === 0 || topK < 1) return [];
    const text = wish.query.slice(0, LIMITS.queryLength);
    const asked =
      text.trim() === '' ? undefined : await this.parts.vectors.of(caller, [text], wish.signal, QUESTION_MS);
    const most = Math.max(FUSED, topK * MARGIN);
    const types = wish.types ?? [];
    const among = { shelves: seqs, types };
    const words = new WordSearch(this.parts.store.words(among));
    const hits = await words.find({ seq: book.seq, chunkCount: book.count }, text, {}, most);
    const allowed = types.length > 0 ? this.parts.store.ofTypes(among) : undefined;
    const near = asked?.[0] ? await this.near(seqs, asked[0], most, allowed) : [];
    const byMeaning = near.filter(({ cosine }) => cosine >= LEAST_COSINE).map(({ memory }) => memory);
    const fused = fuseWithScores(
      byMeaning,
      hits.map(({ seq }) => seq),
    );
    const standing = isStanding(wish) ? this.parts.store.instructions(seqs, userOf(caller), topK) : [];
    return this.read(tenant, fused, standing, topK);
  }

  /** Active memories whose vectors are nearest, best first, measured exactly. */
  async near(
    shelves: readonly number[],
    asked: Embedded,
    most: number,
    allowed?: ReadonlySet<number>,
  ): Promise<Near[]> {
    const { vectorStore } = this.parts;
    const spaces = vectorStore.spaces(shelves, asked);
    const rows = spaces.reduce((sum, { count }) => sum + count, 0);
    const isGlance = rows >= GLANCED.rows && asked.vector.length >= GLANCED.dimension;
    const looked = isGlance ? asked.vector.subarray(0, asked.vector.length * GLANCED.share) : asked.vector;
    const measured = isGlance ? Math.max(GLANCED.exact, most * MARGIN) : most * MARGIN;
    const ranked: Ranked[] = [];
    for (const space of spaces) ranked.push(...(await this.ranked(space, looked, measured, allowed)));
    const nearest = ranked.sort((a, b) => b.nearness - a.nearness).slice(0, measured);
    const nearness = nearnessTo('cosine', asked.vector);
    const stored = vectorStore.vectorsOf(
      spaces.map(({ seq }) => seq),
      nearest.map(({ document }) => document),
    );
    return [...stored]
      .map(([memory, vector]) => ({ memory, cosine: nearness(vector) }))
      .sort((a, b) => b.cosine - a.cosine)
      .slice(0, most);
  }

  /** By codes, about right. A vector that is shorter than the space looks at the first numbers only. */
  private ranked(
    { seq, dimension, count }: Space,
    vector: Float32Array,
    most: number,
    allowed: ReadonlySet<number> | undefined,
  ): Promise<Ranked[]> {
    const coded = { seq, dimension, distance: 'cosine', chunkCount: count } as const;
    const admits = (memory: number) => allowed?.has(memory) ?? true;
    return nearestByCodes(this.parts.cache, coded, vector, most, admits);
  }

  /** What was found as it is now, and instructions where there is room. */
  private read(
    tenant: string,
    fused: ReadonlyArray<readonly [memory: number, score: number]>,
    standing: readonly number[],
    topK: number,
  ): Recalled[] {
    const scores = new Map(fused.slice(0, topK + FUSED));
    for (const memory of standing) if (!scores.has(memory)) scores.set(memory, 0);
    const rows = this.parts.store.active(tenant, [...scores.keys()]);
    const best = [...scores].filter(([memory]) => rows.has(memory)).slice(0, topK);
    this.parts.accesses.add(best.map(([memory]) => memory));
    return best.flatMap(([memory, score]) => {
      const row = rows.get(memory);
      if (!row) return [];
      const { id, type, scope, content, factKey, confidence } = row;
      return [{ id, type, scope, content, factKey, confidence, score }];
    });
  }
}

function isStanding({ standing, types = [] }: RecallWish): boolean {
  return standing !== false && (types.length === 0 || types.includes('instruction'));
}
