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
    const call = await this.guarded(asked, settlement);
    const { request } = call;
    const kept = await this.kept(call, settlement);
    if (kept) return { kind: 'kept', kept, request, settlement };
    const chain = await this.chain(call, overrides, work);
    settlement.resolved(chain);
    const [first = '', ...fallbacks] = chain.candidates.map(fullName);
    settlement.reserved(this.stages.budgets.reserve(call.caller, first, request, fallbacks));
    const { answer, candidate } = await this.attempts.run(
      chain,
      this.patience(call, overrides),
      call.signal,
      (one, upstream) => work.send(requestFor(one, request), one.adapter, upstream),
      (attempt) => settlement.attempted(attempt),
    );
    settlement.answered(fullName(candidate));
    return { kind: 'answered', answer, request, settlement };
  }

  private async guarded<R extends ModelRequest>(
    call: ModelCall<R>,
    settlement: Settlement,
  ): Promise<ModelCall<R>> {
    const { guardrails } = this.stages;
    if (!guardrails.active(call.caller.tenant).input) return call;
    const { request, violations } = await guardrails.checkInput(call);
    settlement.flagged(violations);
    return request === call.request ? call : { ...call, request };
  }

  private async kept(call: ModelCall, settlement: Settlement): Promise<CachedAnswer | undefined> {
    const { cache } = this.stages;
    const mode = cache.modeOf(call);
    if (mode === 'off') return undefined;
    const kept = mode === 'use' ? await cache.find(call) : undefined;
    settlement.cached(kept ? kept.by : mode === 'use' ? 'miss' : 'bypass', kept);
    return kept;
  }

  private async chain<R extends ModelRequest, A>(
    { caller: { tenant }, request, surface }: ModelCall<R>,
    { fallback, strategy }: Overrides,
    work: SurfaceWork<R, A>,
  ): Promise<Chain> {
    const named = await this.router.resolve(tenant, request.model);
    const others = await Promise.all(fallback.map((model) => this.router.resolve(tenant, model)));
    const candidates = [named, ...others].flatMap((chain) => chain.candidates);
    const able = candidates.filter((one) => work.can(one));
    if (able.length === 0)
      throw fail('not_offered', {
        provider: candidates[0]?.account.name ?? '',
        surface,
        model: request.model,
      });
    return { resolvedBy: named.resolvedBy, strategy: strategy ?? named.strategy, candidates: able };
  }

  private patience({ requestId }: ModelCall, overrides: Overrides): Patience {
    const { retries, timeoutMs } = this.defaults();
    return {
      retries: overrides.retries ?? retries,
      timeoutMs: overrides.timeoutMs ?? timeoutMs,
      hash: () => Number(Bun.hash.xxHash32(requestId)),
    };
  }
}

/** The request as one candidate gets it. */
function requestFor<R extends ModelRequest>({ model, parameters }: Candidate, request: R): R {
  return { ...request, ...parameters, model };
}
