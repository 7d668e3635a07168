import { setTimeout as sleep } from 'node:timers/promises';
import { fail } from '../../../../src/errors/app-error.ts';
import { SECOND_MS } from '../../../../src/kit/time.ts';
import type { Outbound } from '../../../outbound/outbound.ts';
import type { ProviderKey } from '../../providers/index.ts';
import type { Attempt } from '../pipeline/record.ts';
import type { Upstream } from '../upstream/adapter.ts';
import { UpstreamError } from '../upstream/error.ts';
import { failedCall, isTimeout, openUpstream } from '../upstream/open.ts';
import { failureWithoutSecrets } from '../upstream/secrets.ts';
import { type Candidate, type Chain, fullName } from './chain.ts';
import type { Circuits } from './circuits.ts';
import { deadlineOf } from './deadline.ts';
import { indexByWeight, order } from './order.ts';
import { inTurn, race, type Success } from './turns.ts';

/** What one request allows itself. */
export interface Patience {
  /** Further tries of one candidate after its first. */
  readonly retries: number;
  /** Longest time until the first content of an attempt, in milliseconds. */
  readonly timeoutMs: number;
  /** The caller has chosen that time, so that its end says nothing about the health of a key that others use. */
  readonly isImpatient?: boolean;
  /** The same for the same request; for round_robin. */
  hash(): number;
}

/** One attempt, made by the surface: the candidate's request is the caller's with the candidate's model and parameters. */
export type Try<A> = (candidate: Candidate, upstream: Upstream) => Promise<A>;

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 2 * SECOND_MS;
const NO_KEY = 'none';

/**
 * Asks the candidates of a chain until one answers. Another one is asked after 429, timeouts, 5xx and broken connections
 * and for no other reason, and only until the first content has come: from there on the answer is the caller's.
 */
export class Attempts {
  constructor(
    private readonly outbound: Outbound,
    private readonly circuits: Circuits,
    private readonly random: () => number = Math.random,
  ) {}

  /**
   * `note` is told of every attempt when it is over. Errors: UpstreamError of the last attempt, or of the one that refused the
   * request itself; cancelled.
   */
  run<A>(
    chain: Chain,
    patience: Patience,
    signal: AbortSignal,
    attempt: Try<A>,
    note: (attempt: Attempt) => void,
  ): Promise<Success<A>> {
    const candidates = order(chain, {
      hash: patience.hash,
      random: this.random,
      load: (candidate) => keyIds(candidate).reduce((sum, id) => sum + this.circuits.load(id), 0),
      rests: (candidate) => keyIds(candidate).every((id) => this.circuits.rests(id)),
    });
    const one = (candidate: Candidate, until: AbortSignal) =>
      this.persist(candidate, patience, until, attempt, note);
    const [only, ...others] = candidates;
    if (only && others.length === 0) return one(only, signal);
    return chain.strategy === 'parallel' && candidates.length > 1
      ? race(candidates, signal, one)
      : inTurn(candidates, signal, one);
  }

  /** Tries one candidate, with its other keys and after pauses, as long as that may help. */
  private async persist<A>(
    candidate: Candidate,
    patience: Patience,
    signal: AbortSignal,
    attempt: Try<A>,
    note: (attempt: Attempt) => void,
  ): Promise<Success<A>> {
    const tried = new Set<string>();
    const { retries } = patience;
    for (let left = retries; ; left--) {
      const key = this.pickKey(candidate, tried);
      tried.add(idOf(candidate, key));
      try {
        return { candidate, answer: await this.once(candidate, key, patience, signal, attempt, note) };
      } catch (error) {
        if (!(error instanceof UpstreamError) || signal.aborted) throw error;
        const hasOther = keyIds(candidate).some((id) => !tried.has(id) && !this.circuits.rests(id));
        if (error.kind === 'key' && hasOther) continue;
        if (!error.isPassing || left <= 0) throw error;
        if (hasOther) continue;
        const pause = pauseMs(retries - left, error, this.random);
        if (pause > LONGEST_PAUSE_MS) throw error;
        await sleep(pause, undefined, { signal }).catch(() => {
          throw fail('cancelled');
        });
      }
    }
  }

  private async once<A>(
    candidate: Candidate,
    key: ProviderKey | undefined,
    { timeoutMs, isImpatient = false }: Patience,
    signal: AbortSignal,
    attempt: Try<A>,
    note: (attempt: Attempt) => void,
  ): Promise<A> {
    const id = idOf(candidate, key);
    const start = performance.now();
    const done = (more: Pick<Attempt, 'failure' | 'status'> = {}) =>
      note({ model: fullName(candidate), key: key?.id, ms: performance.now() - start, ...more });
    const deadline = deadlineOf(signal, timeoutMs);
    this.circuits.began(id);
    try {
      const parts = { account: candidate.account, key, signal: deadline.signal };
      const answer = await attempt(candidate, openUpstream(this.outbound, parts));
      this.circuits.answered(id);
      done();
      return answer;
    } catch (cause) {
      const error = failedCall(cause, candidate.account.name, deadline.signal);
      if (!(error instanceof UpstreamError)) throw error;
      if (!(isImpatient && isTimeout(deadline.signal.reason))) this.circuits.failed(id, error);
      done({ failure: error.kind, status: error.details.status });
      throw failureWithoutSecrets(error, key);
    } finally {
      deadline.stop();
      this.circuits.ended(id);
    }
  }

  /** A key by weight, of those that are awake and untried if there are any. Errors: UpstreamError when it needs one and has none. */
  private pickKey(candidate: Candidate, tried: ReadonlySet<string>): ProviderKey | undefined {
    const { keys, needsKey, name } = candidate.account;
    if (keys.length === 0 && needsKey)
      throw new UpstreamError(
        'key',
        `The provider ${name} has no active key. Add one: svc provider key add ${name}`,
      );
    if (keys.length < 2) return keys[0];
    const fresh = keys.filter((key) => !tried.has(idOf(candidate, key)));
    const awake = fresh.filter((key) => !this.circuits.rests(idOf(candidate, key)));
    const from = awake.length > 0 ? awake : fresh.length > 0 ? fresh : keys;
    return from[indexByWeight(from, this.random())];
  }
}

/** The pause before a try: what the upstream asks for, or doubling, with a random share so that callers spread. */
function pauseMs(tries: number, { details }: UpstreamError, random: () => number): number {
  if (details.retryAfterMs !== undefined) return details.retryAfterMs;
  return Math.min(FIRST_PAUSE_MS * 2 ** tries * (0.5 + random()), LONGEST_PAUSE_MS);
}

function keyIds(candidate: Candidate): string[] {
  const { keys } = candidate.account;
  return keys.length === 0 ? [idOf(candidate, undefined)] : keys.map((key) => idOf(candidate, key));
}

/**
 * Names what is healthy or not: a model by a key, because providers limit models one by one. Keys of the configuration
 * have the same id in every account, so the address is part of it.
 */
function idOf({ account, model }: Candidate, key: ProviderKey | undefined): string {
  return `${account.baseUrl} ${key?.id ?? NO_KEY} ${model}`;
}
