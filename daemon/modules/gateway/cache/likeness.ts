/** How alike two texts are known to be without asking a model: MinHash signatures over their letters (behaviour: Caching). */

const HASHES = 128;
const SHINGLE = 4;

/** One pair of odd multipliers and offsets for each hash, from a fixed seed, so that every node makes the same. */
const MIX = Uint32Array.from({ length: HASHES }, (_, index) => Bun.hash.xxHash32(`minhash ${index}`) | 1);

/** The signature of a text: shares places with that of another one as often as their shingles of four letters are the same. */
function signatureOf(text: string): Uint32Array {
  const plain = text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
  const signature = new Uint32Array(HASHES).fill(0xffffffff);
  const shingles = new Set<number>();
  for (let at = 0; at < Math.max(1, plain.length - SHINGLE + 1); at++)
    shingles.add(Bun.hash.xxHash32(plain.slice(at, at + SHINGLE)));
  for (const shingle of shingles) {
    for (let index = 0; index < HASHES; index++) {
      const mixed = scrambled(shingle ^ (MIX[index] as number));
      if (mixed < (signature[index] as number)) signature[index] = mixed;
    }
  }
  return signature;
}

function scrambled(value: number): number {
  let mixed = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

/** A vector of length one in the same direction, so that the cosine of two is their product. */
function unitVector(vector: readonly number[]): Float32Array {
  const length = Math.hypot(...vector) || 1;
  return Float32Array.from(vector, (value) => value / length);
}

/** What stands for a text when texts are compared: the unit vector of an embedding, or a signature. */
export interface Print {
  readonly values: Float32Array | Uint32Array;
  /** Length of what is behind the first places of a vector; 0 for a signature. */
  readonly tail: number;
}

/** As many places are compared before it is asked whether the rest can matter. */
const HEAD = 256;

/** The print of an embedding. */
export function printOfVector(vector: readonly number[]): Print {
  const values = unitVector(vector);
  return { values, tail: Math.hypot(...values.subarray(HEAD)) };
}

/** The print of a text that no model is asked about. */
export function printOfText(text: string): Print {
  return { values: signatureOf(text), tail: 0 };
}

/**
 * From 0 (nothing in common) to 1 (the same); less than `least` stands for anything below it, which is found sooner. Prints of different
 * kinds have nothing in common.
 */
export function likeness(
  { values: one, tail }: Print,
  { values: other, tail: tails }: Print,
  least = 0,
): number {
  if (one.length !== other.length) return 0;
  if (one instanceof Uint32Array) return other instanceof Uint32Array ? shared(one, other) : 0;
  if (!(other instanceof Float32Array)) return 0;
  const head = product(one, other, 0, Math.min(HEAD, one.length));
  // Cauchy and Schwarz: the product of the tails is at most that of their lengths.
  if (head + tail * tails < least - ROUNDING) return 0;
  return head + product(one, other, HEAD, one.length);
}

/** How far 32-bit sums may be off. */
const ROUNDING = 1e-4;

function product(one: Float32Array, other: Float32Array, from: number, to: number): number {
  let [a, b, c, d] = [0, 0, 0, 0];
  let at = from;
  // Four sums that do not wait for each other.
  for (; at + 3 < to; at += 4) {
    a += (one[at] as number) * (other[at] as number);
    b += (one[at + 1] as number) * (other[at + 1] as number);
    c += (one[at + 2] as number) * (other[at + 2] as number);
    d += (one[at + 3] as number) * (other[at + 3] as number);
  }
  for (; at < to; at++) a += (one[at] as number) * (other[at] as number);
  return a + b + c + d;
}

function shared(one: Uint32Array, other: Uint32Array): number {
  let count = 0;
  for (let at = 0; at < one.length; at++) if (one[at] === other[at]) count++;
  return count / one.length;
}
