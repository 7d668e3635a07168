import { SECOND_MS } from '../../../../src/kit/time.ts';
import { DURATION_BUCKETS, type Metrics } from '../../../metrics/metrics.ts';
import type { RequestRecord } from '../pipeline/record.ts';
import type { Observer } from '../pipeline/stages.ts';
import type { Usage } from '../wire/usage.ts';
import { KnownNames } from './known-names.ts';
import { splitModel } from './semantics.ts';

const MICROS = 1_000_000;
const NONE = 'none';

/** Counts requests for Prometheus. Each is a few additions; lines are made when somebody scrapes. */
export class RequestFigures implements Observer {
  private readonly providers = new KnownNames();
  private readonly models = new KnownNames();
  private readonly figures: ReturnType<typeof declare>;

  constructor(metrics: Pick<Metrics, 'tally' | 'spread'>) {
    this.figures = declare(metrics);
  }

  finished(record: RequestRecord): void {
    const { requests, cost, duration, firstByte, cache, refusals } = this.figures;
    const { surface, ending, firstByteMs, costMicros } = record;
    const [provider, model] = this.answerer(record);
    requests.add(1, surface, provider, model, ending);
    duration.observe(record.durationMs / SECOND_MS, surface, provider);
    if (firstByteMs !== undefined)
      firstByte.observe(firstByteMs / SECOND_MS, provider, String(record.streamed));
    if (costMicros) cost.add(costMicros / MICROS, provider, model);
    if (record.cache !== undefined) cache.add(1, record.cache);
    if (ending === 'refused') refusals.add(1, record.error ?? NONE);
    if (record.usage) this.countTokens(record.usage, provider, model);
    if (record.attempts.length > 0) this.countAttempts(record);
  }

  /** Names come from who has answered; those that failed are only looked up. */
  private answerer({ model: full, attempts }: RequestRecord): readonly [provider: string, model: string] {
    if (full !== undefined) {
      const { provider } = splitModel(full);
      const known = this.models.admit(full);
      return [this.providers.admit(provider), known === full ? full.slice(provider.length + 1) : known];
    }
    const last = attempts.at(-1);
    return last ? [this.providers.admit(splitModel(last.model).provider), NONE] : [NONE, NONE];
  }

  private countTokens(usage: Usage, provider: string, model: string): void {
    const { tokens } = this.figures;
    tokens.add(usage.input, provider, model, 'input');
    tokens.add(usage.output, provider, model, 'output');
    if (usage.cachedInput) tokens.add(usage.cachedInput, provider, model, 'input_cached');
    if (usage.cacheWrite) tokens.add(usage.cacheWrite, provider, model, 'input_cache_write');
    if (usage.reasoning) tokens.add(usage.reasoning, provider, model, 'output_reasoning');
  }

  private countAttempts({ attempts }: RequestRecord): void {
    for (const [index, { model, failure }] of attempts.entries()) {
      if (failure === undefined) continue;
      const provider = this.providers.find(splitModel(model).provider);
      this.figures.failures.add(1, provider, failure);
      const next = attempts[index + 1];
      if (next && next.model !== model)
        this.figures.fallbacks.add(
          1,
          provider,
          this.providers.find(splitModel(next.model).provider),
          failure,
        );
    }
  }
}

function declare(metrics: Pick<Metrics, 'tally' | 'spread'>) {
  const { tally, spread } = metrics;
  return {
    requests: tally({
      name: 'svc_gateway_requests_total',
      help: 'Requests to models, by how they ended: completed, failed, stopped (the caller left) or refused.',
      labelNames: ['surface', 'provider', 'model', 'ending'],
    }),
    tokens: tally({
      name: 'svc_gateway_tokens_total',
      help: 'Tokens of requests to models. input_cached and input_cache_write are parts of input, output_reasoning of output.',
      labelNames: ['provider', 'model', 'direction'],
    }),
    cost: tally({
      name: 'svc_gateway_cost_dollars_total',
      help: 'What requests to models cost, in US dollars, where the price is known.',
      labelNames: ['provider', 'model'],
    }),
    duration: spread({
      name: 'svc_gateway_duration_seconds',
      help: 'Time of requests to models until the end of the answer.',
      labelNames: ['surface', 'provider'],
      buckets: DURATION_BUCKETS,
    }),
    firstByte: spread({
      name: 'svc_gateway_first_byte_seconds',
      help: 'Time of requests to models until the first content of the answer.',
      labelNames: ['provider', 'streamed'],
      buckets: DURATION_BUCKETS,
    }),
    cache: tally({
      name: 'svc_gateway_cache_total',
      help: 'Requests to models by how the cache of answers stood to them: hit, semantic, miss or bypass.',
      labelNames: ['result'],
    }),
    fallbacks: tally({
      name: 'svc_gateway_fallbacks_total',
      help: 'Times when another model was asked because one had failed.',
      labelNames: ['from', 'to', 'reason'],
    }),
    failures: tally({
      name: 'svc_gateway_attempt_failures_total',
      help: 'Calls of providers that failed, by kind.',
      labelNames: ['provider', 'kind'],
    }),
    refusals: tally({
      name: 'svc_gateway_refusals_total',
      help: 'Requests to models that were refused, by the code of the error: limits, budgets, guardrails, wrong requests.',
      labelNames: ['reason'],
    }),
  };
}
