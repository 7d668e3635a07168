import { type INamespace, Root, type Type } from 'protobufjs/light.js';
import type { ResourceMetrics, ResourceSpans } from './messages.ts';

const repeated = (type: string, id: number) => ({ rule: 'repeated' as const, type, id });
const field = (type: string, id: number) => ({ type, id });
const packed = (type: string, id: number) => ({
  rule: 'repeated' as const,
  type,
  id,
  options: { packed: true },
});

/** The messages of OTLP 1.x that svc writes, by the field numbers of opentelemetry-proto. */
const MESSAGES: INamespace = {
  nested: {
    Metrics: { fields: { resourceMetrics: repeated('ResourceMetrics', 1) } },
    Traces: { fields: { resourceSpans: repeated('ResourceSpans', 1) } },
    Answer: { fields: { partialSuccess: field('PartialSuccess', 1) } },
    PartialSuccess: { fields: { rejected: field('int64', 1), errorMessage: field('string', 2) } },
    Resource: { fields: { attributes: repeated('KeyValue', 1) } },
    Scope: { fields: { name: field('string', 1), version: field('string', 2) } },
    KeyValue: { fields: { key: field('string', 1), value: field('AnyValue', 2) } },
    AnyValue: {
      oneofs: { value: { oneof: ['stringValue', 'boolValue', 'intValue', 'doubleValue'] } },
      fields: {
        stringValue: field('string', 1),
        boolValue: field('bool', 2),
        intValue: field('int64', 3),
        doubleValue: field('double', 4),
      },
    },
    ResourceMetrics: {
      fields: { resource: field('Resource', 1), scopeMetrics: repeated('ScopeMetrics', 2) },
    },
    ScopeMetrics: { fields: { scope: field('Scope', 1), metrics: repeated('Metric', 2) } },
    Metric: {
      oneofs: { data: { oneof: ['gauge', 'sum', 'histogram'] } },
      fields: {
        name: field('string', 1),
        description: field('string', 2),
        unit: field('string', 3),
        gauge: field('Gauge', 5),
        sum: field('Sum', 7),
        histogram: field('Histogram', 9),
      },
    },
    Gauge: { fields: { dataPoints: repeated('NumberDataPoint', 1) } },
    Sum: {
      fields: {
        dataPoints: repeated('NumberDataPoint', 1),
        aggregationTemporality: field('int32', 2),
        isMonotonic: field('bool', 3),
      },
    },
    Histogram: {
      fields: {
        dataPoints: repeated('HistogramDataPoint', 1),
        aggregationTemporality: field('int32', 2),
      },
    },
    HistogramDataPoint: {
      fields: {
        startTimeUnixNano: field('fixed64', 2),
        timeUnixNano: field('fixed64', 3),
        count: field('fixed64', 4),
        sum: field('double', 5),
        bucketCounts: packed('fixed64', 6),
        explicitBounds: packed('double', 7),
        attributes: repeated('KeyValue', 9),
      },
    },
    NumberDataPoint: {
      oneofs: { value: { oneof: ['asDouble', 'asInt'] } },
      fields: {
        startTimeUnixNano: field('fixed64', 2),
        timeUnixNano: field('fixed64', 3),
        asDouble: field('double', 4),
        asInt: field('sfixed64', 6),
        attributes: repeated('KeyValue', 7),
      },
    },
    ResourceSpans: { fields: { resource: field('Resource', 1), scopeSpans: repeated('ScopeSpans', 2) } },
    ScopeSpans: { fields: { scope: field('Scope', 1), spans: repeated('Span', 2) } },
    Span: {
      fields: {
        traceId: field('bytes', 1),
        spanId: field('bytes', 2),
        parentSpanId: field('bytes', 4),
        name: field('string', 5),
        kind: field('int32', 6),
        startTimeUnixNano: field('fixed64', 7),
        endTimeUnixNano: field('fixed64', 8),
        attributes: repeated('KeyValue', 9),
        events: repeated('Event', 11),
        status: field('Status', 15),
      },
    },
    Event: {
      fields: {
        timeUnixNano: field('fixed64', 1),
        name: field('string', 2),
        attributes: repeated('KeyValue', 3),
      },
    },
    Status: { fields: { message: field('string', 2), code: field('int32', 3) } },
  },
};

const root = Root.fromJSON(MESSAGES);
const types: Record<'metrics' | 'traces' | 'answer', Type> = {
  metrics: root.lookupType('Metrics'),
  traces: root.lookupType('Traces'),
  answer: root.lookupType('Answer'),
};

/** An export request for metrics (ExportMetricsServiceRequest). */
export function encodeMetrics(resourceMetrics: readonly ResourceMetrics[]): Uint8Array {
  return types.metrics.encode({ resourceMetrics }).finish();
}

/** An export request for spans (ExportTraceServiceRequest). */
export function encodeSpans(resourceSpans: readonly ResourceSpans[]): Uint8Array {
  return types.traces.encode({ resourceSpans }).finish();
}

/** What a receiver did not take of a request; undefined when it took all, or its answer cannot be read. */
export function readRejection(answer: Uint8Array): { rejected: number; message: string } | undefined {
  try {
    const { partialSuccess } = types.answer.toObject(types.answer.decode(answer), { longs: Number });
    const [rejected, message] = [
      Number(partialSuccess?.rejected ?? 0),
      String(partialSuccess?.errorMessage ?? ''),
    ];
    return rejected > 0 || message !== '' ? { rejected, message } : undefined;
  } catch {
    return undefined;
  }
}
