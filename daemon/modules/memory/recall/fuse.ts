/** Damps how much the first places of a list count (Cormack, Clarke and Büttcher, SIGIR 2009). */
const K = 60;

/**
 * Reciprocal rank fusion: one list out of several, each best first. What stands high in many lists comes first; what is in
 * one alone still comes. Equal ones keep the order of the first list that has them.
 */
export function fuse<T>(...lists: ReadonlyArray<readonly T[]>): T[] {
  return fuseWithScores(...lists).map(([item]) => item);
}

/** As `fuse`, each with its score: the sum of 1 / (60 + place) over the lists. */
export function fuseWithScores<T>(...lists: ReadonlyArray<readonly T[]>): Array<[item: T, score: number]> {
  const scores = new Map<T, number>();
  for (const list of lists)
    for (const [i, item] of list.entries()) scores.set(item, (scores.get(item) ?? 0) + 1 / (K + i + 1));
  return [...scores].sort(([, a], [, b]) => b - a);
}
