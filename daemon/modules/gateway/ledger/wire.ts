import type { LoggedRequest, RequestAttempt, UsageGroup, usage } from '../../../../src/api/gateway/usage.ts';
import type { Value } from '../../../../src/api/schema.ts';
import { rfc3339 } from '../../../../src/kit/time.ts';
import type { Attempt } from '../pipeline/record.ts';
import { quantileOf } from './histogram.ts';
import type { LoggedRecord } from './log-row.ts';
import type { Sums } from './sums.ts';

/** One request as the API shows it. */
export type ShownRequest = Value<typeof LoggedRequest>;
/** Sums as the API shows them. */
export type ShownSums = NonNullable<Value<typeof usage.GetUsage.response>['total']>;
/** Sums of a group. */
export type ShownGroup = Value<typeof UsageGroup>;

const MICROS = 1_000_000;
const HUNDRED = 100;

/** Millionths of a dollar as dollars. */
export function usdOf(micros: number): number {
  return micros / MICROS;
}

/** A record of the log as JSON. */
export function toRequest(record: LoggedRecord): ShownRequest {
  const { usage, costMicros } = record;
  return {
    requestId: record.requestId,
    key: record.actor,
    surface: record.surface,
    streamed: record.streamed,
    startedAt: rfc3339(record.startedAt),
    durationMs: short(record.durationMs),
    firstByteMs: short(record.firstByteMs),
    status: record.status,
    ending: record.ending,
    requestedModel: record.requestedModel,
    model: record.model,
    resolvedBy: record.resolvedBy,
    attempts: record.attempts.map(toAttempt),
    inputTokens: text(usage?.input),
    outputTokens: text(usage?.output),
    cachedInputTokens: text(usage?.cachedInput),
    cacheWriteTokens: text(usage?.cacheWrite),
    reasoningTokens: text(usage?.reasoning),
    images: usage?.images,
    seconds: usage?.seconds,
    characters: text(usage?.characters),
    searchUnits: usage?.searchUnits,
    estimated: usage?.estimated,
    costUsd: costMicros === undefined ? undefined : usdOf(costMicros),
    cache: record.cache,
    guardrails: record.violations && [...record.violations],
    error: record.error,
  };
}

/** Sums as JSON. */
export function toSums(sums: Sums): ShownSums {
  return {
    requests: String(sums.requests),
    errors: String(sums.errors),
    stopped: String(sums.stopped),
    cacheHits: String(sums.cacheHits),
    inputTokens: String(sums.inputTokens),
    outputTokens: String(sums.outputTokens),
    cachedInputTokens: String(sums.cachedInputTokens),
    cacheWriteTokens: String(sums.cacheWriteTokens),
    reasoningTokens: String(sums.reasoningTokens),
    costUsd: usdOf(sums.costMicros),
    unpricedRequests: String(sums.unpriced),
    estimatedRequests: String(sums.estimated),
    durationMsP50: short(quantileOf(sums.durations, 0.5)),
    durationMsP95: short(quantileOf(sums.durations, 0.95)),
    firstByteMsP50: short(quantileOf(sums.firstBytes, 0.5)),
    firstByteMsP95: short(quantileOf(sums.firstBytes, 0.95)),
  };
}

function toAttempt({ model, key, ms, failure, status }: Attempt): Value<typeof RequestAttempt> {
  return { model, keyId: key, durationMs: short(ms), failure, status };
}

/** Milliseconds to a hundredth. */
function short(ms: number): number;
function short(ms: number | undefined): number | undefined;
function short(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : Math.round(ms * HUNDRED) / HUNDRED;
}

function text(count: number | undefined): string | undefined {
  return count === undefined ? undefined : String(Math.round(count));
}
