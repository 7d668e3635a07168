import { AppError, asAppError, fail } from '../../../../src/errors/app-error.ts';
import type { Clock } from '../../../../src/kit/time.ts';
import { promptTokens } from '../prices/worst-case.ts';
import type { Chain } from '../routing/chain.ts';
import { UpstreamError } from '../upstream/error.ts';
import { headerText } from '../wire/header-text.ts';
import { plausible } from '../wire/plausible.ts';
import type { Usage } from '../wire/usage.ts';
import type { ModelCall } from './call.ts';
import { failureOf } from './failure.ts';
import type { Attempt, Ending, RequestRecord } from './record.ts';
import type { CachedAnswer, Reservation, Stages, Violation } from './stages.ts';

/** The most that one request costs in the books: as much as can be added up for years. */
const MOST_MICROS = 1e12;

/**
 * The books of one request: gathers what happens to it and, when it is over, settles its cost and writes its record.
 * It is over once, however many say so.
 */
export class Settlement {
  private readonly start = performance.now();
  private readonly startedAt: number;
  private readonly attempts: Attempt[] = [];
  private limitHeaders: Readonly<Record<string, string>> | undefined;
  private reservation: Reservation | undefined;
  private chain: Chain['resolvedBy'] | undefined;
  /** `provider/model` that has answered. */
  model: string | undefined;
  private asked: string | undefined;
  private firstByteMs: number | undefined;
  private usage: Usage | undefined;
  private violations: readonly Violation[] = [];
  private cache: RequestRecord['cache'];
  private keptAt: number | undefined;
  private isOver = false;

  constructor(
    private readonly call: ModelCall,
    private readonly stages: Stages,
    private readonly clock: Clock,
  ) {
    this.startedAt = clock.now();
  }

  /** The caller's bucket had a token. */
  admitted(headers: Readonly<Record<string, string>> | undefined): void {
    this.limitHeaders = headers;
  }

  /** Money is held back. */
  reserved(reservation: Reservation | undefined): void {
    this.reservation = reservation;
  }

  /** The name was resolved. */
  resolved({ resolvedBy }: Chain): void {
    this.chain = resolvedBy;
  }

  /** A provider is being asked. */
  asking(model: string): void {
    this.asked = model;
  }

  /** One attempt is over. */
  attempted(attempt: Attempt): void {
    this.attempts.push({ ...attempt, startMs: performance.now() - this.start - attempt.ms });
  }

  /** A guardrail has found something and let it pass. */
  flagged(violations: readonly Violation[]): void {
    if (violations.length > 0) this.violations = [...this.violations, ...violations];
  }

  /** Whether the answer was a kept one. */
  get isKept(): boolean {
    return this.keptAt !== undefined;
  }

  /** How the cache stood to this request. */
  cached(state: RequestRecord['cache'], kept?: CachedAnswer): void {
    this.cache = state;
    this.keptAt = kept?.keptAt;
    if (kept) this.answered(kept.model);
  }

  /** An upstream has answered, or the cache; its first content is here. */
  answered(model: string): void {
    this.model = model;
    this.firstByteMs = performance.now() - this.start;
  }

  /** What the answer took. The last word counts: a stream may report more than once. */
  used(usage: Usage): void {
    this.usage = plausible(usage);
  }

  /** What every answer says of how it came about (docs/gateway/headers.md). */
  headers(): Record<string, string> {
    const headers: Record<string, string> = { ...this.limitHeaders };
    if (this.model !== undefined) {
      const slash = this.model.indexOf('/');
      headers['x-svc-provider'] = this.model.slice(0, slash);
      headers['x-svc-model'] = headerText(this.model.slice(slash + 1));
    }
    if (this.attempts.length > 0) headers['x-svc-attempts'] = String(this.attempts.length);
    const failed = this.attempts.findLast(({ failure }) => failure !== undefined);
    if (failed && this.model !== undefined && failed.model !== this.model)
      headers['x-svc-fallback'] = headerText(`${failed.model}; ${failed.failure}`);
    if (this.cache) headers['x-svc-cache'] = this.cache === 'semantic' ? 'hit; semantic' : this.cache;
    if (this.keptAt !== undefined)
      headers.age = String(Math.max(0, Math.floor((this.clock.now() - this.keptAt) / 1000)));
    if (this.violations.length > 0)
      headers['x-svc-guardrails'] = [...new Set(this.violations.map(({ guardrail }) => guardrail))].join(
        ', ',
      );
    return headers;
  }

  /** The request is over with an answer. `stopped` is a caller that left before its end. */
  finish(ending: Exclude<Ending, 'refused'>, error?: unknown): void {
    this.close(
      ending,
      200,
      error === undefined ? undefined : asAppError(failureOf(error, this.attempts)).code,
    );
  }

  /** The request is over without an answer. Answers the error for the caller, with the attempts in it. */
  failed(cause: unknown): AppError {
    const isCallers = this.call.signal.aborted;
    if (isCallers) this.left();
    const failure = isCallers ? fail('cancelled') : failureOf(cause, this.attempts);
    const error = asAppError(failure);
    if (error.code === 'guardrail_blocked') this.flagged(error.data.violations as readonly Violation[]);
    const ending = isCallers
      ? 'stopped'
      : this.attempts.length === 0 || isRefusal(cause)
        ? 'refused'
        : 'failed';
    this.close(ending, error.http, error.code);
    if (error !== failure) throw failure;
    return withHeaders(error, this.headers());
  }

  /** A provider that was asked bills the prompt, also when nobody waits for the answer. */
  private left(): void {
    if (this.asked === undefined || this.model !== undefined) return;
    this.model = this.asked;
    this.usage = { input: promptTokens(this.call.request), output: 0, estimated: true };
  }

  private close(ending: Ending, status: number, error: string | undefined): void {
    if (this.isOver) return;
    this.isOver = true;
    const { costMicros } = this;
    this.reservation?.settle(costMicros ?? 0);
    const record = this.record(ending, status, error, costMicros);
    this.stages.ledger.record(record);
    for (const observer of this.stages.observers) observer.finished(record);
  }

  /** What it costs as far as is known, in millionths of a US dollar. An answer from the cache costs nothing. */
  get costMicros(): number | undefined {
    if (this.keptAt !== undefined) return 0;
    if (this.model === undefined || this.usage === undefined) return undefined;
    const cost = this.stages.prices.cost(this.model, this.usage);
    return cost === undefined ? undefined : Math.min(cost, MOST_MICROS);
  }

  private record(
    ending: Ending,
    status: number,
    error: string | undefined,
    costMicros: number | undefined,
  ): RequestRecord {
    const { call } = this;
    return {
      requestId: call.requestId,
      tenant: call.caller.tenant,
      actor: call.caller.actor,
      surface: call.surface,
      streamed: call.request.stream === true,
      startedAt: this.startedAt,
      durationMs: performance.now() - this.start,
      firstByteMs: this.firstByteMs,
      status,
      ending,
      requestedModel: call.request.model,
      model: this.model,
      resolvedBy: this.chain,
      attempts: this.attempts,
      usage: this.usage,
      costMicros,
      cache: this.cache,
      violations: this.violations.length > 0 ? this.violations.map(({ guardrail }) => guardrail) : undefined,
      error,
      traceParent: call.headers.get('traceparent') ?? undefined,
    };
  }
}

function isRefusal(cause: unknown): boolean {
  return cause instanceof AppError || (cause instanceof UpstreamError && cause.kind === 'request');
}

/** The same error, which also says how it came about in headers, besides those that it has of its own. */
function withHeaders(error: AppError, headers: Readonly<Record<string, string>>): AppError {
  const own = typeof error.data.headers === 'object' ? error.data.headers : {};
  return new AppError(error.code, { ...error.data, headers: { ...own, ...headers } }, error.violations);
}
