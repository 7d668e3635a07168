import type { Candidate, Chain } from './chain.ts';

/** What an order depends on. */
export interface OrderContext {
  /** The same for the same request; its place in a round. */
  hash(): number;
  /** A number from 0 up to 1. */
  random(): number;
  /** Calls of a candidate that are under way. */
  load(candidate: Candidate): number;
  /** Whether a candidate is not to be asked while another one could be. */
  rests(candidate: Candidate): boolean;
}

/** The candidates in the order in which they are asked: by the chain's strategy, those that rest last. */
export function order({ strategy, candidates }: Chain, context: OrderContext): readonly Candidate[] {
  if (candidates.length < 2) return candidates;
  const ordered = byStrategy(strategy, candidates, context);
  const [awake, resting] = [
    ordered.filter((one) => !context.rests(one)),
    ordered.filter((one) => context.rests(one)),
  ];
  return resting.length === 0 ? ordered : [...awake, ...resting];
}

function byStrategy(
  strategy: Chain['strategy'],
  candidates: readonly Candidate[],
  context: OrderContext,
): readonly Candidate[] {
  switch (strategy) {
    case 'round_robin':
      return rotate(candidates, context.hash() % candidates.length);
    case 'weighted':
      return drawn(candidates, context.random);
    case 'least_connections':
      return candidates.toSorted((a, b) => context.load(a) / a.weight - context.load(b) / b.weight);
    default:
      return candidates;
  }
}

function rotate(candidates: readonly Candidate[], start: number): readonly Candidate[] {
  return [...candidates.slice(start), ...candidates.slice(0, start)];
}

/** All of them, drawn one by one without return; the chance of each is its weight through the sum of those left. */
function drawn(candidates: readonly Candidate[], random: () => number): readonly Candidate[] {
  const left = [...candidates];
  const result: Candidate[] = [];
  while (left.length > 0) {
    const [next] = left.splice(indexByWeight(left, random()), 1);
    if (next) result.push(next);
  }
  return result;
}

/** The place in a list of weights on which a number from 0 up to 1 falls. */
export function indexByWeight(list: ReadonlyArray<{ readonly weight: number }>, point: number): number {
  const sum = list.reduce((total, { weight }) => total + weight, 0);
  let left = point * sum;
  for (const [index, { weight }] of list.entries()) {
    left -= weight;
    if (left < 0) return index;
  }
  return Math.max(0, list.length - 1);
}
