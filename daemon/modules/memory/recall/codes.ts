import type { Metric } from './similarity.ts';

const ROWS_AT_FIRST = 16;
/** Largest code of a stored number, and of a number of a query. Sums of their products over 4096 numbers fit in 32 bits. */
const STORED_MOST = 127;
const QUERY_MOST = 8191;

/** One vector as it is stored. */
export interface StoredVector {
  readonly seq: number;
  readonly document: number;
  readonly vector: Float32Array;
}

/**
 * Vectors of some chunks at a byte a number: a quarter of what they are, and read three times as fast. What is near by codes is then
 * looked at exactly. It grows up to `capacity` rows.
 */
export class CodePage {
  count = 0;
  seqs = new Float64Array(ROWS_AT_FIRST);
  documents = new Float64Array(ROWS_AT_FIRST);
  /** What a code of 1 stands for. */
  private scales = new Float32Array(ROWS_AT_FIRST);
  /** Squared lengths, for l2. */
  private squares = new Float32Array(ROWS_AT_FIRST);
  private codes: Int8Array;

  constructor(
    private readonly metric: Metric,
    private readonly dimension: number,
    readonly capacity: number,
  ) {
    this.codes = new Int8Array(ROWS_AT_FIRST * dimension);
  }

  get bytes(): number {
    return this.codes.length + this.seqs.length * 24;
  }

  /** Appends a vector. There must be room. */
  add({ seq, document, vector }: StoredVector): void {
    if (this.count === this.seqs.length) this.grow();
    const at = this.count++;
    let most = 0;
    let square = 0;
    for (let i = 0; i < vector.length; i++) {
      const value = vector[i] as number;
      if (value > most) most = value;
      else if (-value > most) most = -value;
      square += value * value;
    }
    this.seqs[at] = seq;
    this.documents[at] = document;
    this.squares[at] = square;
    const length = this.metric === 'cosine' ? Math.sqrt(square) : 1;
    this.scales[at] = length > 0 ? most / STORED_MOST / length : 0;
    const factor = most > 0 ? STORED_MOST / most : 0;
    const offset = at * this.dimension;
    const { codes } = this;
    for (let i = 0; i < vector.length; i++) codes[offset + i] = Math.round((vector[i] as number) * factor);
  }

  /** Tells of each row from `from` up to `to` how near it is, about; more is nearer. */
  scan(query: QueryCode, from: number, to: number, found: (at: number, nearness: number) => void): void {
    for (let at = from; at < to; at++) {
      const dot = this.dot(query.codes, at * this.dimension) * (this.scales[at] ?? 0) * query.scale;
      found(at, this.metric === 'l2' ? 2 * dot - (this.squares[at] ?? 0) : dot);
    }
  }

  /** Four sums at once: a processor does them side by side. */
  private dot(query: Int32Array, offset: number): number {
    const { codes } = this;
    const whole = query.length & ~3;
    let [a, b, c, d] = [0, 0, 0, 0];
    for (let i = 0, o = offset; i < whole; i += 4, o += 4) {
      a = (a + Math.imul(codes[o] as number, query[i] as number)) | 0;
      b = (b + Math.imul(codes[o + 1] as number, query[i + 1] as number)) | 0;
      c = (c + Math.imul(codes[o + 2] as number, query[i + 2] as number)) | 0;
      d = (d + Math.imul(codes[o + 3] as number, query[i + 3] as number)) | 0;
    }
    for (let i = whole; i < query.length; i++)
      a = (a + Math.imul(codes[offset + i] as number, query[i] as number)) | 0;
    return a + b + c + d;
  }

  private grow(): void {
    const rows = Math.min(this.capacity, this.seqs.length * 2);
    this.seqs = larger(new Float64Array(rows), this.seqs);
    this.documents = larger(new Float64Array(rows), this.documents);
    this.scales = larger(new Float32Array(rows), this.scales);
    this.squares = larger(new Float32Array(rows), this.squares);
    this.codes = larger(new Int8Array(rows * this.dimension), this.codes);
  }
}

/** A query in whole numbers. */
export interface QueryCode {
  readonly codes: Int32Array;
  readonly scale: number;
}

/** A query for CodePage.scan. */
export function queryCode(vector: Float32Array): QueryCode {
  const most = vector.reduce((largest, value) => Math.max(largest, Math.abs(value)), 0);
  const scale = most / QUERY_MOST;
  return { codes: Int32Array.from(vector, (value) => (scale > 0 ? Math.round(value / scale) : 0)), scale };
}

function larger<A extends Float64Array | Float32Array | Int8Array>(empty: A, full: A): A {
  empty.set(full);
  return empty;
}
