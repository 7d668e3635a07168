import type { CollectionRow } from '../tables.ts';
import { turn } from './turn.ts';
import { termsOf } from './words.ts';

/** A chunk that has some of the words. */
export interface WordHit {
  readonly seq: number;
  /** bm25: more is better. */
  readonly weight: number;
}

/** What the full-text index can be asked. Terms are expressions of FTS5. */
export interface WordIndex<F = Filter> {
  /** How many chunks have a term; counting stops at `most`. */
  countUpTo(collection: number, term: string, most: number): number;
  /** The best chunks by bm25. */
  match(collection: number, expression: string, filter: F, limit: number): WordHit[];
  has(collection: number, chunk: number, term: string): boolean;
}

/** Metadata that documents must have, exactly. */
export type Filter = Readonly<Record<string, string>>;

/** What of a collection matters here. */
export type Worded = Pick<CollectionRow, 'seq' | 'chunkCount'>;

/** Counting a term stops here: it is common, and says little. */
const COMMON = 2000;
/** Chunks that are weighed for one query, so that it blocks nobody for long. */
const MOST_WEIGHED = 6000;
const MOST_COUNTS = 2000;
const MOST_COLLECTIONS = 100;
/** Counts hold until a collection has changed by this share. */
const DRIFT = 0.1;

interface Counts {
  readonly chunks: number;
  readonly of: Map<string, number>;
}

/**
 * Recall by words. Common words are left out where rarer ones say more; where all are common, chunks must have all of them.
 */
export class WordSearch<F = Filter> {
  private readonly counts = new Map<number, Counts>();

  constructor(private readonly index: WordIndex<F>) {}

  /** The best chunks for the words of a text, best first; none when no word of it is there. */
  async find(collection: Worded, text: string, filter: F, limit: number): Promise<WordHit[]> {
    const { rare, common } = await this.sorted(collection, termsOf(text));
    const match = (terms: readonly string[], operator: string) =>
      terms.length === 0 ? [] : this.index.match(collection.seq, terms.join(operator), filter, limit);
    if (rare.length > 0) return match(rare, ' OR ');
    const all = match(common, ' AND ');
    return all.length > 0 ? all : match(common.slice(0, 1), '');
  }

  /** The share of the words of a text that a chunk has: 0 to 1. */
  coverage(collection: Worded, chunk: number, text: string): number {
    const terms = termsOf(text);
    const there = terms.filter((term) => this.index.has(collection.seq, chunk, term));
    return terms.length === 0 ? 0 : there.length / terms.length;
  }

  /** Forgets a collection. */
  forget(collection: number): void {
    this.counts.delete(collection);
  }

  /** The terms that are there, rarest first, as many as can be weighed; and those that are in too many chunks. */
  private async sorted(collection: Worded, terms: readonly string[]) {
    const counts = this.countsOf(collection);
    const counted: Array<readonly [term: string, count: number]> = [];
    for (const term of terms) {
      let count = counts.get(term);
      if (count === undefined) {
        count = this.index.countUpTo(collection.seq, term, COMMON + 1);
        if (counts.size < MOST_COUNTS) counts.set(term, count);
        await turn();
      }
      if (count > 0) counted.push([term, count]);
    }
    counted.sort(([, a], [, b]) => a - b);
    let weighed = 0;
    const rare = counted.filter(([, count]) => {
      weighed += count;
      return count <= COMMON && weighed <= MOST_WEIGHED;
    });
    const common = counted.filter(([, count]) => count > COMMON);
    return { rare: rare.map(([term]) => term), common: common.map(([term]) => term) };
  }

  private countsOf({ seq, chunkCount }: Worded): Map<string, number> {
    const known = this.counts.get(seq);
    this.counts.delete(seq);
    const holds = known && Math.abs(chunkCount - known.chunks) <= known.chunks * DRIFT;
    const counts = holds ? known : { chunks: chunkCount, of: new Map<string, number>() };
    this.counts.set(seq, counts);
    const [oldest] = this.counts.keys();
    if (this.counts.size > MOST_COLLECTIONS && oldest !== undefined) this.counts.delete(oldest);
    return counts.of;
  }
}
