import type { Caller } from '../../../http/route.ts';
import type { Usage } from '../wire/usage.ts';
import type { ModelCall, ModelRequest } from './call.ts';
import type { RequestRecord } from './record.ts';

/** Counts requests before anything is done for them. */
export interface Limits {
  /**
   * Takes one token of the caller's bucket. Answers the headers that every answer then carries; undefined when the
   * tenant has no limit. Errors: rate_limited with the same headers (`headers` in its data).
   */
  admit(call: ModelCall): Readonly<Record<string, string>> | undefined;
}

/** Money that is held back for one request until its cost is known. */
export interface Reservation {
  /**
   * Lets go of it when what it did cost is known, in millionths of a US dollar; the ledger's record of the request, in
   * the same step, is what books that. Once; later calls do nothing.
   */
  settle(costMicros: number): void;
}

/** Holds requests to budgets. In memory; what is spent is written later, in batches, and outlives kill -9 by the request log. */
export interface Budgets {
  /**
   * Reserves what a call of `model` (`provider/model`) may cost at most, or of one of those that are asked when it fails.
   * Undefined when the caller has no budget. Errors: budget_spent (429, `insufficient_quota`).
   */
  reserve(
    caller: Caller,
    model: string,
    request: ModelRequest,
    fallbacks?: readonly string[],
  ): Reservation | undefined;
}

/** Knows what models cost. */
export interface Prices {
  /** Millionths of a US dollar for a use of `provider/model`; undefined when its price is not known. */
  cost(model: string, usage: Usage): number | undefined;
}

/** Writes down what happened, later and in batches; never holds a request up. */
export interface Ledger {
  record(record: RequestRecord): void;
}

/** A whole answer that was kept. */
export interface CachedAnswer {
  readonly contentType: string;
  readonly body: string;
  /** `provider/model` that gave it. */
  readonly model: string;
  readonly usage?: Usage;
  /** When it was kept, Unix time in milliseconds. */
  readonly keptAt: number;
  readonly by: 'hit' | 'semantic';
}

/** Remembers whole answers. Streamed and failed answers are never kept (behaviour: Caching). */
export interface AnswerCache {
  /** How it stands to this call: `off` when the tenant has none or the surface is not cached. */
  modeOf(call: ModelCall): 'use' | 'bypass' | 'refresh' | 'off';
  /** The kept answer to the same request of the same tenant. Does not wait for a disk unless it is there. */
  find(call: ModelCall): CachedAnswer | undefined | Promise<CachedAnswer | undefined>;
  keep(call: ModelCall, answer: Omit<CachedAnswer, 'by' | 'keptAt'>): void;
}

/** What a guardrail found. */
export interface Violation {
  readonly guardrail: string;
  /** The pattern or the category that matched; never the text itself. */
  readonly match: string;
  readonly severity: 'low' | 'medium' | 'high';
  readonly action: 'block' | 'redact' | 'flag' | 'truncate';
}

/** Looks at what goes in and what comes out (behaviour: Guardrails). */
export interface Guardrails {
  /** Whether the tenant has any that look at input, at output. */
  active(tenant: string): { readonly input: boolean; readonly output: boolean };
  /** The request, perhaps redacted or cut. Errors: guardrail_blocked with the violations. */
  checkInput<R extends ModelRequest>(
    call: ModelCall<R>,
  ): Promise<{ request: R; violations: readonly Violation[] }>;
  /** Looks at the text of an answer before anybody sees it. Errors: guardrail_blocked with the violations. */
  checkOutput(call: ModelCall, text: string): Promise<readonly Violation[]>;
}

/** Hears of requests for traces and metrics. */
export interface Observer {
  finished(record: RequestRecord): void;
}

/** Everything that a request passes besides routing. */
export interface Stages {
  readonly limits: Limits;
  readonly budgets: Budgets;
  readonly prices: Prices;
  readonly ledger: Ledger;
  readonly cache: AnswerCache;
  readonly guardrails: Guardrails;
  readonly observers: readonly Observer[];
}
