/** How near vectors are to each other. */
export const METRICS = ['cosine', 'l2', 'dot'] as const;

/** A way to measure how near two vectors are. */
export type Metric = (typeof METRICS)[number];

/**
 * Measures exactly how near vectors are to one of their length; more is nearer. cosine: -1 to 1; dot: any number; l2: the
 * distance, below 0.
 */
export function nearnessTo(metric: Metric, query: Float32Array): (vector: Float32Array) => number {
  if (metric === 'dot') return (vector) => dot(vector, query);
  if (metric === 'l2') return (vector) => -Math.sqrt(apart(vector, query));
  const length = Math.sqrt(dot(query, query));
  return (vector) => {
    const both = length * Math.sqrt(dot(vector, vector));
    return both > 0 ? dot(vector, query) / both : 0;
  };
}

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i] as number) * (b[i] as number);
  return sum;
}

function apart(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += ((a[i] as number) - (b[i] as number)) ** 2;
  return sum;
}

/** A nearness as a score from 0 to 1: cosine and dot as they are, with what is below 0 as 0; l2 as 1 / (1 + distance). */
export function scoreOf(metric: Metric, nearness: number): number {
  if (metric === 'l2') return 1 / (1 - nearness);
  return Math.min(1, Math.max(0, nearness));
}
