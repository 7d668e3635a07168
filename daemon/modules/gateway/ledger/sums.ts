import { DAY_MS } from '../../../../src/kit/time.ts';
import type { RequestRecord } from '../pipeline/record.ts';
import { addTo, observe } from './histogram.ts';
import type { TotalRow } from './tables.ts';

/** What is counted of requests. */
export type Sums = Omit<TotalRow, 'tenant' | 'dayAt' | 'actor' | 'provider' | 'model' | 'surface'>;

/** What requests are counted by. */
export type Group = Omit<TotalRow, keyof Sums>;

/** Sums of nothing. */
export function noSums(): Sums {
  return {
    requests: 0,
    errors: 0,
    stopped: 0,
    cacheHits: 0,
    estimated: 0,
    unpriced: 0,
    inputTokens: 0,
    outputTokens: 0,
    cachedInputTokens: 0,
    cacheWriteTokens: 0,
    reasoningTokens: 0,
    costMicros: 0,
    durations: {},
    firstBytes: {},
  };
}

/** Where a request is counted: on the day on which it began (UTC). */
export function groupOf({ tenant, actor, model = '', surface, startedAt }: RequestRecord): Group {
  const slash = model.indexOf('/');
  return {
    tenant,
    dayAt: startedAt - (startedAt % DAY_MS),
    actor,
    provider: model.slice(0, Math.max(0, slash)),
    model: model.slice(slash + 1),
    surface,
  };
}

/** Counts one request. */
export function count(sums: Sums, record: RequestRecord): void {
  const { ending, usage, costMicros, cache } = record;
  const isHit = cache === 'hit' || cache === 'semantic';
  sums.requests += 1;
  if (ending === 'failed' || ending === 'refused') sums.errors += 1;
  if (ending === 'stopped') sums.stopped += 1;
  if (isHit) sums.cacheHits += 1;
  if (usage?.estimated) sums.estimated += 1;
  if (usage && !isHit && costMicros === undefined) sums.unpriced += 1;
  sums.inputTokens += Math.round(usage?.input ?? 0);
  sums.outputTokens += Math.round(usage?.output ?? 0);
  sums.cachedInputTokens += Math.round(usage?.cachedInput ?? 0);
  sums.cacheWriteTokens += Math.round(usage?.cacheWrite ?? 0);
  sums.reasoningTokens += Math.round(usage?.reasoning ?? 0);
  sums.costMicros += costMicros ?? 0;
  observe(sums.durations, record.durationMs);
  if (record.firstByteMs !== undefined) observe(sums.firstBytes, record.firstByteMs);
}

/** Adds sums to others. */
export function add(sums: Sums, others: Sums): void {
  const { durations, firstBytes, ...counts } = others;
  for (const name of Object.keys(counts) as Array<keyof typeof counts>) sums[name] += counts[name];
  addTo(sums.durations, durations);
  addTo(sums.firstBytes, firstBytes);
}
