import { wordsIn } from './words.ts';

/** How good a document is; `index` is its place in the list. */
export interface Score {
  readonly index: number;
  /** 0 for a document without a word of the query, and always below 1. */
  readonly relevanceScore: number;
}

/** Scores of every document, in the order of the documents, and how many words were read for them. */
export interface Ranked {
  readonly scores: readonly Score[];
  readonly words: number;
}

/** What is known of a document: its length in words, and how often each word of the query stands in it. */
interface Counted {
  readonly length: number;
  readonly counts: readonly number[];
}

/** How soon more of the same word counts less, and how much long documents are held back: Robertson's usual values. */
const K1 = 1.2;
const B = 0.75;
/** Words between two looks at the clock, and how long the thread is kept from others. */
const LOOK_EVERY = 512;
const SLICE_MS = 4;

/**
 * Okapi BM25 over the given documents, which are the whole collection. A score is divided by what a document could reach at
 * most with this query, so that it lies from 0 up to 1. Words of the query count once. The same input gives the same
 * scores. Gives way to others every few milliseconds. `mostWords` is how far each document is read. Errors: the reason of the signal.
 */
export async function bm25(
  query: string,
  documents: readonly string[],
  {
    mostWords = Number.POSITIVE_INFINITY,
    signal,
  }: { readonly mostWords?: number; readonly signal?: AbortSignal } = {},
): Promise<Ranked> {
  const pace = new Pace(signal);
  const terms = new Map<string, number>();
  let words = 0;
  for (const word of wordsIn(query)) {
    if (!terms.has(word)) terms.set(word, terms.size);
    if (++words % LOOK_EVERY === 0) await pace.giveWay();
  }
  const counted: Counted[] = [];
  for (const document of documents) {
    const one = await count(document, terms, mostWords, pace);
    words += one.length;
    counted.push(one);
    await pace.giveWay();
  }
  return { scores: scoresOf(counted, terms.size), words };
}

async function count(
  text: string,
  terms: ReadonlyMap<string, number>,
  mostWords: number,
  pace: Pace,
): Promise<Counted> {
  const counts = new Array<number>(terms.size).fill(0);
  let length = 0;
  for (const word of wordsIn(text)) {
    if (length === mostWords) break;
    const term = terms.get(word);
    if (term !== undefined) counts[term] = (counts[term] ?? 0) + 1;
    if (++length % LOOK_EVERY === 0) await pace.giveWay();
  }
  return { length, counts };
}

function scoresOf(documents: readonly Counted[], terms: number): Score[] {
  const average = documents.reduce((sum, { length }) => sum + length, 0) / documents.length;
  const weights = Array.from({ length: terms }, (_, term) =>
    rarity(documents.filter(({ counts }) => (counts[term] ?? 0) > 0).length, documents.length),
  );
  const most = weights.reduce((sum, weight) => sum + weight * (K1 + 1), 0);
  return documents.map(({ length, counts }, index) => {
    const damping = K1 * (1 - B + (B * length) / (average || 1));
    const score = counts.reduce(
      (sum, times, term) => sum + ((weights[term] ?? 0) * times * (K1 + 1)) / (times + damping),
      0,
    );
    return { index, relevanceScore: most === 0 ? 0 : score / most };
  });
}

/** Inverse document frequency, in the form that is never negative. */
function rarity(having: number, all: number): number {
  return Math.log(1 + (all - having + 0.5) / (having + 0.5));
}

/** Lets others have the thread when it was kept long enough. */
class Pace {
  private since = performance.now();

  constructor(private readonly signal: AbortSignal | undefined) {}

  async giveWay(): Promise<void> {
    if (performance.now() - this.since < SLICE_MS) return;
    await new Promise((resolve) => setImmediate(resolve));
    this.signal?.throwIfAborted();
    this.since = performance.now();
  }
}
