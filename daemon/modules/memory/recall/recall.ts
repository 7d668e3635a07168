import type { CollectionRow } from '../tables.ts';
import type { CodeCache } from './code-cache.ts';
import { fuse } from './fuse.ts';
import { nearnessTo, scoreOf } from './similarity.ts';
import { nearestByCodes } from './vector-search.ts';
import type { Filter, WordSearch } from './word-search.ts';

/** By what chunks are found: by both, by their meaning, or by their words. */
export type Mode = 'hybrid' | 'vector' | 'text';

/** What is looked for. */
export interface Question {
  readonly text: string;
  /** Of the text, by the collection's model; absent in the mode `text`. */
  readonly vector?: Float32Array;
  readonly mode: Mode;
  readonly topK: number;
  /** 0 to 1. */
  readonly minScore: number;
  readonly filter: Filter;
}

/** A chunk that was found. */
export interface Found {
  readonly seq: number;
  /** 0 to 1. */
  readonly score: number;
  /** Its place by meaning and words together, from 1. */
  readonly rank: number;
  readonly foundBy: 'meaning' | 'words' | 'both';
}

/** What recall reads of documents. */
export interface RecallSource {
  /** Documents that are being written or removed. */
  hiddenDocuments(collection: number): Set<number>;
  documentsWith(collection: number, filter: Filter): Set<number>;
  /** The vectors of those chunks that are there. */
  vectorsOf(chunks: readonly number[]): Map<number, Float32Array>;
}

/** Of each kind of recall, this many go into the fusion; more for a large topK. */
const FUSED = 64;
/** Codes are about right: this many times more are measured exactly. */
const MARGIN = 2;

/** Finds chunks by meaning and by words. */
export class Recall {
  constructor(
    private readonly source: RecallSource,
    private readonly cache: CodeCache,
    private readonly words: WordSearch,
  ) {}

  /** The chunks that answer best, by their score. Some may be gone when they are read. */
  async find(collection: CollectionRow, question: Question): Promise<Found[]> {
    const most = Math.max(FUSED, question.topK * 2);
    const { text, filter, mode, vector } = question;
    const hits = mode === 'vector' ? [] : await this.words.find(collection, text, filter, most);
    if (!vector) return this.byWords(collection, question, hits);
    const near = await this.near(collection, vector, filter, most * MARGIN);
    const scored = this.scored(
      collection,
      vector,
      [...near, ...hits.map(({ seq }) => seq)],
      question.minScore,
    );
    const exact = (seq: number) => scored.get(seq)?.exact ?? 0;
    const byMeaning = near
      .filter((seq) => scored.has(seq))
      .sort((a, b) => exact(b) - exact(a))
      .slice(0, most);
    const byWords = hits.map(({ seq }) => seq).filter((seq) => scored.has(seq));
    const [inMeaning, inWords] = [new Set(byMeaning), new Set(byWords)];
    return fuse(byMeaning, byWords)
      .slice(0, question.topK)
      .map((seq, i) => ({
        seq,
        score: scored.get(seq)?.score ?? 0,
        rank: i + 1,
        foundBy: foundBy(inMeaning.has(seq), inWords.has(seq)),
      }))
      .sort((a, b) => exact(b.seq) - exact(a.seq));
  }

  /** The best hit scores the share of the words that it has, the others as much less as their weight is. */
  private byWords(
    collection: CollectionRow,
    { text, topK, minScore }: Question,
    hits: ReadonlyArray<{ seq: number; weight: number }>,
  ): Found[] {
    const [best] = hits;
    if (!best) return [];
    const top = this.words.coverage(collection, best.seq, text);
    return hits
      .slice(0, topK)
      .map(({ seq, weight }, i) => ({
        seq,
        score: top * (best.weight > 0 ? weight / best.weight : 1),
        rank: i + 1,
        foundBy: 'words' as const,
      }))
      .filter(({ score }) => score >= minScore);
  }

  private async near(
    collection: CollectionRow,
    vector: Float32Array,
    filter: Filter,
    most: number,
  ): Promise<number[]> {
    const hidden = this.source.hiddenDocuments(collection.seq);
    const allowed =
      Object.keys(filter).length > 0 ? this.source.documentsWith(collection.seq, filter) : undefined;
    if (allowed?.size === 0) return [];
    const admits = (document: number) => !hidden.has(document) && (allowed?.has(document) ?? true);
    const ranked = await nearestByCodes(this.cache, collection, vector, most, admits);
    return ranked.map(({ seq }) => seq);
  }

  private scored(
    { distance }: CollectionRow,
    vector: Float32Array,
    chunks: readonly number[],
    minScore: number,
  ): Map<number, { exact: number; score: number }> {
    const scores = new Map<number, { exact: number; score: number }>();
    const nearness = nearnessTo(distance, vector);
    for (const [seq, stored] of this.source.vectorsOf([...new Set(chunks)])) {
      const exact = nearness(stored);
      const score = scoreOf(distance, exact);
      if (score >= minScore) scores.set(seq, { exact, score });
    }
    return scores;
  }
}

function foundBy(meaning: boolean, words: boolean): Found['foundBy'] {
  if (!words) return 'meaning';
  return meaning ? 'both' : 'words';
}
