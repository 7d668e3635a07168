import type { CollectionRow } from '../tables.ts';
import { CodePage, type StoredVector } from './codes.ts';
import { turn } from './turn.ts';

/** Where vectors are kept. */
export interface VectorSource {
  /** The vectors of a collection with a greater `seq`, in order, at most `limit`. */
  vectorsAfter(collection: number, seq: number, limit: number): StoredVector[];
}

/** What of a collection matters here. */
export type Coded = Pick<CollectionRow, 'seq' | 'dimension' | 'distance' | 'chunkCount'>;

const PAGE_ROWS = 1024;
const READ_ROWS = 128;
const BYTES_BESIDE_CODES = 24;
/** A book with more rows of removed documents than this, and than rows in use, is read anew. */
const MOST_BURIED = 1000;

/** The pages of one collection, as far as they were read. */
interface Book {
  readonly pages: CodePage[];
  upTo: number;
  rows: number;
  buried: number;
  reading: Promise<void>;
}

/**
 * The codes of collections in memory, those that were used last, within a bound. What was added since is read when it is asked
 * for, so nobody has to tell it. A collection that is larger than the bound is read from the database each time.
 */
export class CodeCache {
  private readonly books = new Map<number, Book>();

  constructor(
    private readonly source: VectorSource,
    private readonly mostBytes: number,
  ) {}

  /** Bytes that are held. */
  get bytes(): number {
    return this.bytesBeside(undefined);
  }

  /** Every row that the collection has now, and perhaps some that it had. */
  async *pages(collection: Coded): AsyncGenerator<CodePage> {
    if (!this.makeRoom(collection)) {
      yield* this.fromDisk(collection);
      return;
    }
    const book = this.bookOf(collection.seq);
    book.reading = book.reading.then(() => this.readOn(collection, book));
    await book.reading;
    yield* [...book.pages];
  }

  /** Forgets the rows of a document that is gone. */
  bury(collection: number, document: number): void {
    const book = this.books.get(collection);
    if (!book) return;
    for (const { documents, count } of book.pages)
      for (let at = 0; at < count; at++)
        if (documents[at] === document) {
          documents[at] = 0;
          book.buried++;
        }
    if (book.buried > MOST_BURIED && book.buried > book.rows / 2) this.books.delete(collection);
  }

  /** Forgets a collection. */
  forget(collection: number): void {
    this.books.delete(collection);
  }

  /** Lets go of what was used longest ago until the collection fits; false when it never does. */
  private makeRoom({ seq, dimension, chunkCount }: Coded): boolean {
    const needed = chunkCount * (dimension + BYTES_BESIDE_CODES);
    if (needed > this.mostBytes) {
      this.books.delete(seq);
      return false;
    }
    for (const [other] of this.books) {
      if (this.bytesBeside(seq) + needed <= this.mostBytes) break;
      if (other !== seq) this.books.delete(other);
    }
    return true;
  }

  private bytesBeside(collection: number | undefined): number {
    let sum = 0;
    for (const [seq, { pages }] of this.books)
      if (seq !== collection) for (const page of pages) sum += page.bytes;
    return sum;
  }

  /** The book of a collection, which is now the one that was used last. */
  private bookOf(collection: number): Book {
    const book = this.books.get(collection) ?? {
      pages: [],
      upTo: 0,
      rows: 0,
      buried: 0,
      reading: Promise.resolve(),
    };
    this.books.delete(collection);
    this.books.set(collection, book);
    return book;
  }

  private async readOn(collection: Coded, book: Book): Promise<void> {
    for (;;) {
      const rows = this.source.vectorsAfter(collection.seq, book.upTo, READ_ROWS);
      for (const row of rows) pageWithRoom(collection, book.pages).add(row);
      book.rows += rows.length;
      book.upTo = rows.at(-1)?.seq ?? book.upTo;
      if (rows.length < READ_ROWS) return;
      await turn();
    }
  }

  private async *fromDisk(collection: Coded): AsyncGenerator<CodePage> {
    let upTo = 0;
    for (;;) {
      const rows = this.source.vectorsAfter(collection.seq, upTo, READ_ROWS);
      if (rows.length === 0) return;
      const page = new CodePage(collection.distance, collection.dimension, READ_ROWS);
      for (const row of rows) page.add(row);
      upTo = rows.at(-1)?.seq ?? upTo;
      yield page;
      await turn();
    }
  }
}

function pageWithRoom({ distance, dimension }: Coded, pages: CodePage[]): CodePage {
  const last = pages.at(-1);
  if (last && last.count < last.capacity) return last;
  const page = new CodePage(distance, dimension, PAGE_ROWS);
  pages.push(page);
  return page;
}
