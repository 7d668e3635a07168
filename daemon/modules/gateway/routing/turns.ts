import { UpstreamError } from '../upstream/error.ts';
import type { Candidate } from './chain.ts';

/** The first success. */
export interface Success<A> {
  readonly answer: A;
  readonly candidate: Candidate;
}

/** Tries one candidate until it answers or fails, or until the signal. */
export type One<A> = (candidate: Candidate, signal: AbortSignal) => Promise<Success<A>>;

/** One after the other, as long as the failure of one says nothing about the next. Errors: that of the last one asked. */
export async function inTurn<A>(
  candidates: readonly Candidate[],
  signal: AbortSignal,
  one: One<A>,
): Promise<Success<A>> {
  let last: unknown;
  for (const candidate of candidates) {
    try {
      return await one(candidate, signal);
    } catch (error) {
      if (!(error instanceof UpstreamError) || !error.isPassing || signal.aborted) throw error;
      last = error;
    }
  }
  throw last;
}

/** All at once; the first success wins and the others are left. */
export async function race<A>(
  candidates: readonly Candidate[],
  signal: AbortSignal,
  one: One<A>,
): Promise<Success<A>> {
  const runs = candidates.map((candidate) => ({ candidate, leave: new AbortController() }));
  let winner: Candidate | undefined;
  const attempts = runs.map(async ({ candidate, leave }) => {
    const success = await one(candidate, AbortSignal.any([signal, leave.signal]));
    winner ??= candidate;
    for (const other of runs) if (other.candidate !== winner) other.leave.abort();
    return success;
  });
  try {
    return await Promise.any(attempts);
  } catch (error) {
    throw error instanceof AggregateError ? worstOf(error.errors) : error;
  }
}

/** Of several failures the one that says most: what is wrong with the request, before what is wrong with a provider. */
function worstOf(errors: readonly unknown[]): unknown {
  return errors.find((error) => error instanceof UpstreamError && error.kind === 'request') ?? errors[0];
}
