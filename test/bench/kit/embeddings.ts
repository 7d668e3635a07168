/** Numbers of each vector that benchmarks are made with. */
export const DIMENSION = 1536;

/** Words as often as in a language: the n-th is there about 1/n times as often as the first. */
export function textOf(count: number): string {
  const words = Array.from({ length: count }, () => `w${Math.floor(20_000 ** Math.random()).toString(36)}`);
  return words.join(' ');
}

/** The vector of a text: the same for the same text. */
export function vectorOf(text: string): Float32Array {
  const seed = Number(Bun.hash.xxHash32(text));
  return Float32Array.from({ length: DIMENSION }, (_, i) => Math.sin(seed + i * (1 + (seed % 97))));
}

const made = Array.from({ length: 997 }, (_, i) => vectorOf(`${i}`));

/** One of a few that are there already: making them is not what is measured. */
export function madeVector(text: string): Float32Array {
  return made[Number(Bun.hash.xxHash32(text)) % made.length] ?? new Float32Array(DIMENSION);
}
