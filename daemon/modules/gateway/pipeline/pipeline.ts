import { fail } from '../../../../src/errors/app-error.ts';
import type { Clock } from '../../../../src/kit/time.ts';
import type { Attempts, Patience } from '../routing/attempts.ts';
import { type Candidate, type Chain, fullName } from '../routing/chain.ts';
import type { Router } from '../routing/router.ts';
import type { Adapter, Upstream } from '../upstream/adapter.ts';
import type { ModelCall, ModelRequest } from './call.ts';
import { type Overrides, readOverrides } from './overrides.ts';
import { Settlement } from './settlement.ts';
import type { CachedAnswer, Stages } from './stages.ts';

/** What a surface adds to the way of its requests. */
export interface SurfaceWork<R extends ModelRequest, A> {
  /** Whether a provider can do this, itself or with the help of the surface. */
  can(candidate: Candidate): boolean;
  /** One attempt: `request` names the candidate's own model. Errors: UpstreamError. */
  send(request: R, adapter: Adapter, upstream: Upstream): Promise<A>;
}

/** A request that was answered. Whoever has it tells the settlement what it took and that it is over. */
export type Served<R extends ModelRequest, A> =
  | { readonly kind: 'answered'; readonly answer: A; readonly request: R; readonly settlement: Settlement }
  | {
      readonly kind: 'kept';
      readonly kept: CachedAnswer;
      readonly request: R;
      readonly settlement: Settlement;
    };

/** How long requests may try, when they do not say. */
export interface Defaults {
  readonly retries: number;
  readonly timeoutMs: number;
}

/**
 * The way of every request to a model: limits, guardrails, cache, routing, budget, attempts. Nothing on it waits for a
 * database or a disk. What comes after the answer (cost, log, traces) is the settlement's.
 */
export class Pipeline {
  constructor(
    readonly stages: Stages,
    private readonly router: Router,
    private readonly attempts: Attempts,
    private readonly clock: Clock,
    private readonly defaults: () => Defaults,
    /** Refuses what the caller's tenant has switched off. */
    private readonly allow: (call: ModelCall) => void = () => {},
  ) {}

  /**
   * Takes a request to its answer. Errors: rate_limited, guardrail_blocked, model_not_found, budget_spent, upstream_failed, upstream_timeout,
   * upstream_down, upstream_rejected, cancelled; they are in the books when they are thrown.
   */
  async run<R extends ModelRequest, A>(call: ModelCall<R>, work: SurfaceWork<R, A>): Promise<Served<R, A>> {
    const settlement = new Settlement(call, this.stages, this.clock);
    try {
      return await this.serve(call, work, settlement);
    } catch (error) {
      throw settlement.failed(error);
    }
  }

  private async serve<R extends ModelRequest, A>(
    asked: ModelCall<R>,
    work: SurfaceWork<R, A>,
    settlement: Settlement,
  ): Promise<Served<R, A>> {
    settlement.admitted(this.stages.limits.admit(asked));
    this.allow(asked);
    const overrides = readOverrides(asked.headers);
    const isGuarded = this.stages.guardrails.active(asked.caller.tenant).input;
    const call = isGuarded ? await this.guarded(asked, settlement) : asked;
    const { request } = call;
    const mode = this.stages.cache.modeOf(call);
    const kept = mode === 'off' ? undefined : await this.kept(call, mode, settlement);
    if (kept) return { kind: 'kept', kept, request, settlement };
    const named = this.named(call, overrides);
    const chain = able(named instanceof Promise ? await named : named, call, work);
    settlement.resolved(chain);
    const [first = '', ...fallbacks] = chain.candidates.map(fullName);
    settlement.reserved(this.stages.budgets.reserve(call.caller, first, request, fallbacks));
    const { answer, candidate } = await this.attempts.run(
      chain,
      this.patience(call, overrides),
      call.signal,
      (one, upstream) => {
        settlement.asking(fullName(one));
        return work.send(requestFor(one, request), one.adapter, upstream);
      },
      (attempt) => settlement.attempted(attempt),
    );
    settlement.answered(fullName(candidate));
    return { kind: 'answered', answer, request, settlement };
  }

  private async guarded<R extends ModelRequest>(
    call: ModelCall<R>,
    settlement: Settlement,
  ): Promise<ModelCall<R>> {
    const { request, violations } = await this.stages.guardrails.checkInput(call);
    settlement.flagged(violations);
    return request === call.request ? call : { ...call, request };
  }

  private async kept(
    call: ModelCall,
    mode: 'use' | 'bypass' | 'refresh',
    settlement: Settlement,
  ): Promise<CachedAnswer | undefined> {
    const kept = mode === 'use' ? await this.stages.cache.find(call) : undefined;
    settlement.cached(kept ? kept.by : mode === 'use' ? 'miss' : 'bypass', kept);
    return kept;
  }

  /** Who may answer. Without waiting when the name is known and the request has no wishes of its own. */
  private named({ caller: { tenant }, request }: ModelCall, overrides: Overrides): Chain | Promise<Chain> {
    const named = this.router.resolve(tenant, request.model);
    const { fallback, strategy } = overrides;
    return fallback.length === 0 && strategy === undefined ? named : this.extended(tenant, named, overrides);
  }

  private async extended(
    tenant: string,
    named: Chain | Promise<Chain>,
    { fallback, strategy }: Overrides,
  ): Promise<Chain> {
    const first = await named;
    const others = await Promise.all(fallback.map((model) => this.router.resolve(tenant, model)));
    const candidates = [first, ...others].flatMap((chain) => chain.candidates);
    return { ...first, strategy: strategy ?? first.strategy, candidates };
  }

  private patience({ requestId }: ModelCall, overrides: Overrides): Patience {
    const { retries, timeoutMs } = this.defaults();
    return {
      retries: overrides.retries ?? retries,
      timeoutMs: overrides.timeoutMs ?? timeoutMs,
      isImpatient: (overrides.timeoutMs ?? timeoutMs) < timeoutMs,
      hash: () => Number(Bun.hash.xxHash32(requestId)),
    };
  }
}

/** A chain of those who offer the surface. Errors: not_offered. */
function able<R extends ModelRequest, A>(
  chain: Chain,
  { surface, request: { model } }: ModelCall<R>,
  work: SurfaceWork<R, A>,
): Chain {
  const candidates = chain.candidates.filter((one) => work.can(one));
  if (candidates.length === chain.candidates.length) return chain;
  if (candidates.length > 0) return { ...chain, candidates };
  throw fail('not_offered', { provider: chain.candidates[0]?.account.name ?? '', surface, model });
}

/** The request as one candidate gets it. */
function requestFor<R extends ModelRequest>({ model, parameters }: Candidate, request: R): R {
  return { ...request, ...parameters, model };
}
