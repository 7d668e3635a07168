import { SECOND_MS } from '../../../../src/kit/time.ts';
import {
  attributes,
  fractions,
  type KeyValue,
  nanos,
  type Span,
  type SpanEvent,
} from '../../../otlp/messages.ts';
import type { TelemetryValue } from '../../settings/index.ts';
import type { Attempt, RequestRecord } from '../pipeline/record.ts';
import { answererOf, operationOf, providerName, splitModel } from './semantics.ts';
import { randomHex, type TraceContext } from './trace-context.ts';

/** How much of a request is told. */
export type Detail = Pick<
  TelemetryValue,
  'granularity' | 'traceProviderCalls' | 'traceFallbacks' | 'traceStreamChunks'
>;

const MICROS = 1_000_000;
/** Callers make up names of models; of one so much is told. */
const LONGEST_NAME = 128;
const [UNSET, ERROR] = [0, 2] as const;
const [SERVER, CLIENT] = [2, 3] as const;

/**
 * A request as a span, and each attempt as a child of it (OpenTelemetry GenAI conventions). Numbers, names and codes: no
 * text of a request, an answer or an error is in it.
 */
export function toSpans(record: RequestRecord, { traceId, parentId }: TraceContext, detail: Detail): Span[] {
  const ids = { traceId: Uint8Array.fromHex(traceId), spanId: Uint8Array.fromHex(randomHex(8)) };
  const isFull = detail.granularity !== 'minimal';
  const root: Span = {
    ...ids,
    parentSpanId: parentId === undefined ? undefined : Uint8Array.fromHex(parentId),
    name: `${operationOf(record.surface)} ${record.requestedModel.slice(0, LONGEST_NAME)}`,
    kind: SERVER,
    startTimeUnixNano: nanos(record.startedAt),
    endTimeUnixNano: nanos(record.startedAt + record.durationMs),
    attributes: [...whatAndWho(record), ...(isFull ? howItWent(record, detail) : [])],
    events: isFull ? eventsOf(record, detail) : [],
    status: isError(record) ? { code: ERROR, message: record.error } : { code: UNSET },
  };
  if (!isFull || !detail.traceProviderCalls) return [root];
  const calls = record.attempts.map((attempt, index) => callOf(record, attempt, index, detail));
  return [root, ...calls.map((call) => ({ ...ids, ...call, parentSpanId: ids.spanId }))];
}

function isError({ ending }: RequestRecord): boolean {
  return ending === 'failed' || ending === 'refused';
}

function whatAndWho(record: RequestRecord): KeyValue[] {
  const { provider, model } = answererOf(record);
  return attributes({
    'gen_ai.operation.name': operationOf(record.surface),
    'gen_ai.provider.name': provider && providerName(provider),
    'gen_ai.request.model': record.requestedModel.slice(0, LONGEST_NAME),
    'gen_ai.response.model': model,
    'error.type': record.error,
  });
}

function howItWent(record: RequestRecord, { granularity }: Detail): KeyValue[] {
  const { usage, firstByteMs, streamed } = record;
  const isDetailed = granularity === 'detailed';
  const told = attributes({
    'gen_ai.request.stream': streamed ? true : undefined,
    'gen_ai.usage.input_tokens': usage?.input,
    'gen_ai.usage.output_tokens': usage?.output,
    'gen_ai.usage.cache_read.input_tokens': usage?.cachedInput,
    'gen_ai.usage.cache_creation.input_tokens': usage?.cacheWrite,
    'gen_ai.usage.reasoning.output_tokens': usage?.reasoning,
    'http.response.status_code': record.status,
    'svc.request.id': record.requestId,
    'svc.surface': record.surface,
    'svc.ending': record.ending,
    'svc.routing': record.resolvedBy,
    'svc.attempts': record.attempts.length,
    'svc.cache': record.cache,
    'svc.caller': isDetailed ? record.actor : undefined,
    'svc.usage.estimated': isDetailed ? usage?.estimated : undefined,
    'svc.usage.images': isDetailed ? usage?.images : undefined,
    'svc.usage.seconds': isDetailed ? usage?.seconds : undefined,
    'svc.usage.characters': isDetailed ? usage?.characters : undefined,
    'svc.usage.search_units': isDetailed ? usage?.searchUnits : undefined,
  });
  const measured = fractions({
    'gen_ai.response.time_to_first_chunk': streamed && firstByteMs ? firstByteMs / SECOND_MS : undefined,
    'gen_ai.usage.cost': record.costMicros === undefined ? undefined : record.costMicros / MICROS,
  });
  return [...told, ...measured];
}

function eventsOf(record: RequestRecord, detail: Detail): SpanEvent[] {
  const at = (ms: number) => nanos(record.startedAt + ms);
  const events: SpanEvent[] = (record.violations ?? []).map((guardrail) => ({
    timeUnixNano: at(record.firstByteMs ?? 0),
    name: 'svc.guardrail',
    attributes: attributes({ 'svc.guardrail.name': guardrail }),
  }));
  if (detail.traceFallbacks) events.push(...fallbacks(record, at));
  if (detail.traceStreamChunks && record.streamed && record.firstByteMs !== undefined)
    events.push(
      { timeUnixNano: at(record.firstByteMs), name: 'svc.stream.first_chunk', attributes: [] },
      { timeUnixNano: at(record.durationMs), name: 'svc.stream.end', attributes: [] },
    );
  return events;
}

/** The times when another model was asked because one had failed. */
function fallbacks({ attempts }: RequestRecord, at: (ms: number) => Span['endTimeUnixNano']): SpanEvent[] {
  return attempts.flatMap((attempt, index) => {
    const next = attempts[index + 1];
    if (!next || attempt.failure === undefined || next.model === attempt.model) return [];
    return {
      timeUnixNano: at((attempt.startMs ?? 0) + attempt.ms),
      name: 'svc.fallback',
      attributes: attributes({
        'svc.fallback.from': attempt.model.slice(0, LONGEST_NAME),
        'svc.fallback.to': next.model.slice(0, LONGEST_NAME),
        'error.type': attempt.failure,
      }),
    };
  });
}

/** The call of a provider that an attempt is. The one that answered goes on until its answer has ended. */
function callOf(record: RequestRecord, attempt: Attempt, index: number, { granularity }: Detail) {
  const { provider, model } = splitModel(attempt.model);
  const startMs = attempt.startMs ?? 0;
  const hasAnswered = attempt.failure === undefined;
  return {
    spanId: Uint8Array.fromHex(randomHex(8)),
    name: `call ${attempt.model.slice(0, LONGEST_NAME)}`,
    kind: CLIENT,
    startTimeUnixNano: nanos(record.startedAt + startMs),
    endTimeUnixNano: nanos(record.startedAt + (hasAnswered ? record.durationMs : startMs + attempt.ms)),
    attributes: attributes({
      'gen_ai.provider.name': providerName(provider),
      'gen_ai.request.model': model.slice(0, LONGEST_NAME),
      'error.type': attempt.failure,
      'http.response.status_code': attempt.status,
      'svc.attempt': index + 1,
      'svc.key.id': granularity === 'detailed' ? attempt.key : undefined,
    }),
    status: hasAnswered ? { code: UNSET } : { code: ERROR, message: attempt.failure },
  };
}
