import { version } from '../version.ts';

/** Who measures. */
export const SCOPE = { name: 'svc', version };

/** What is sent to a receiver. */
export type Signal = 'metrics' | 'traces';

/** A 64-bit integer as protobufjs takes it without a further library. */
export interface Fixed64 {
  readonly low: number;
  readonly high: number;
}

/** An attribute (opentelemetry.proto.common.v1.KeyValue). */
export interface KeyValue {
  readonly key: string;
  readonly value: {
    readonly stringValue?: string;
    readonly intValue?: number;
    readonly doubleValue?: number;
    readonly boolValue?: boolean;
  };
}

/** One value of a series. Numbers of bytes and counts are whole; seconds and shares are not. */
export interface DataPoint {
  readonly attributes: readonly KeyValue[];
  readonly startTimeUnixNano?: Fixed64;
  readonly timeUnixNano: Fixed64;
  readonly asDouble?: number;
  readonly asInt?: number;
}

/** How values of a series are spread, since the start. */
export interface HistogramPoint {
  readonly attributes: readonly KeyValue[];
  readonly startTimeUnixNano: Fixed64;
  readonly timeUnixNano: Fixed64;
  readonly count: number;
  readonly sum: number;
  /** One more than bounds: the last is what is above all of them. */
  readonly bucketCounts: readonly number[];
  /** Upper bounds, included. */
  readonly explicitBounds: readonly number[];
}

/** A metric with its values: a gauge, a sum or a histogram since the start. */
export interface Metric {
  readonly name: string;
  readonly description: string;
  readonly unit: string;
  readonly gauge?: { readonly dataPoints: readonly DataPoint[] };
  readonly sum?: {
    readonly dataPoints: readonly DataPoint[];
    readonly aggregationTemporality: 2;
    readonly isMonotonic: boolean;
  };
  readonly histogram?: {
    readonly dataPoints: readonly HistogramPoint[];
    readonly aggregationTemporality: 2;
  };
}

/** Something that happened at a point in time while a span went on. */
export interface SpanEvent {
  readonly timeUnixNano: Fixed64;
  readonly name: string;
  readonly attributes: readonly KeyValue[];
}

/** Something that took time (opentelemetry.proto.trace.v1.Span). */
export interface Span {
  readonly traceId: Uint8Array;
  readonly spanId: Uint8Array;
  /** Absent for the first of a trace. */
  readonly parentSpanId?: Uint8Array;
  readonly name: string;
  /** 1 is internal, 2 answers a call, 3 makes one. */
  readonly kind: 1 | 2 | 3;
  readonly startTimeUnixNano: Fixed64;
  readonly endTimeUnixNano: Fixed64;
  readonly attributes: readonly KeyValue[];
  readonly events?: readonly SpanEvent[];
  /** 0 says nothing, 1 is ok, 2 an error. */
  readonly status: { readonly code: 0 | 1 | 2; readonly message?: string };
}

interface Scope {
  readonly name: string;
  readonly version: string;
}

/** The metrics of one thing that is measured. */
export interface ResourceMetrics {
  readonly resource: { readonly attributes: readonly KeyValue[] };
  readonly scopeMetrics: ReadonlyArray<{ readonly scope: Scope; readonly metrics: readonly Metric[] }>;
}

/** The spans of one thing that works. */
export interface ResourceSpans {
  readonly resource: { readonly attributes: readonly KeyValue[] };
  readonly scopeSpans: ReadonlyArray<{ readonly scope: Scope; readonly spans: readonly Span[] }>;
}

const MICROS = 1000;
const NANOS = 1000;
const WORD = 2 ** 32;

/** Milliseconds, not negative, as the nanoseconds of OTLP, to the microsecond. A BigInt would cost more than the rest of a span. */
export function nanos(ms: number): Fixed64 {
  const micros = Math.round(ms * MICROS);
  const low = (micros % WORD) * NANOS;
  return { low: low % WORD, high: Math.floor(micros / WORD) * NANOS + Math.floor(low / WORD) };
}

/** Attributes from a plain object; absent and empty values are left out. */
export function attributes(
  values: Readonly<Record<string, string | number | boolean | undefined>>,
): KeyValue[] {
  const list: KeyValue[] = [];
  for (const key in values) {
    const value = values[key];
    if (value === undefined || value === '') continue;
    if (typeof value === 'string') list.push({ key, value: { stringValue: value } });
    else if (typeof value === 'boolean') list.push({ key, value: { boolValue: value } });
    else list.push({ key, value: Number.isInteger(value) ? { intValue: value } : { doubleValue: value } });
  }
  return list;
}

/** As `attributes`, for numbers that are fractions by nature: a whole one is told in the same form. */
export function fractions(values: Readonly<Record<string, number | undefined>>): KeyValue[] {
  return Object.entries(values).flatMap(([key, value]) =>
    value === undefined ? [] : { key, value: { doubleValue: value } },
  );
}
