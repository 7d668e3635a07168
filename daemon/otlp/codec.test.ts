import { expect, test } from 'bun:test';
import { createRequire } from 'node:module';
import fc from 'fast-check';
import { encodeMetrics, encodeSpans, readRejection } from './codec.ts';
import { attributes, nanos } from './messages.ts';

const require = createRequire(import.meta.url);
/** The definitions of opentelemetry-proto, as another library has them. */
const { metrics, trace } = require('@opentelemetry/otlp-transformer/build/src/generated/root.js')
  .opentelemetry.proto.collector;

test('another library reads what is written, to the nanosecond and the byte', () => {
  const time = fc.integer({ min: 0, max: 4_102_444_800_000 });
  const count = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER });
  fc.assert(
    fc.property(time, count, fc.double({ noNaN: true }), fc.string(), (ms, asInt, asDouble, text) => {
      const timeUnixNano = nanos(ms);
      const dataPoints = [
        { attributes: attributes({ text, number: 7, share: 0.5, none: undefined }), timeUnixNano, asInt },
        { attributes: [], timeUnixNano, asDouble },
      ];
      const metric = { name: 'm', description: '', unit: 'By', gauge: { dataPoints } };
      const scope = { name: 'svc', version: '1' };
      const bytes = encodeMetrics([
        { resource: { attributes: [] }, scopeMetrics: [{ scope, metrics: [metric] }] },
      ]);
      const request = metrics.v1.ExportMetricsServiceRequest;
      const decoded = request.toObject(request.decode(bytes), { longs: String });
      const [first, second] = decoded.resourceMetrics[0].scopeMetrics[0].metrics[0].gauge.dataPoints;
      expect(first.timeUnixNano).toBe(String(BigInt(ms) * 1_000_000n));
      expect(first.asInt).toBe(String(asInt));
      expect(second.asDouble).toBe(asDouble);
      const values = [
        ...(text === '' ? [] : [{ stringValue: text }]),
        { intValue: '7' },
        { doubleValue: 0.5 },
      ];
      expect(first.attributes.map(({ value }: { value: object }) => value)).toEqual(values);
    }),
  );
});

test('an answer says what was not taken; bytes that are none say nothing', () => {
  const response = metrics.v1.ExportMetricsServiceResponse;
  const partialSuccess = { rejectedDataPoints: 3, errorMessage: 'too old' };
  expect(readRejection(response.encode({ partialSuccess }).finish())).toEqual({
    rejected: 3,
    message: 'too old',
  });
  expect(readRejection(response.encode({}).finish())).toBeUndefined();
  fc.assert(fc.property(fc.uint8Array(), (bytes) => void readRejection(bytes)));
});

test('spans keep their parents and events, histograms their buckets', () => {
  const id = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });
  fc.assert(
    fc.property(
      id(16),
      id(8),
      id(8),
      fc.array(fc.nat(), { maxLength: 5 }),
      (traceId, spanId, parentSpanId, counts) => {
        const at = nanos(1_700_000_000_000.25);
        const events = [{ timeUnixNano: at, name: 'e', attributes: attributes({ yes: true }) }];
        const times = { startTimeUnixNano: at, endTimeUnixNano: at };
        const span = {
          traceId,
          spanId,
          parentSpanId,
          name: 's',
          kind: 3 as const,
          ...times,
          attributes: [],
          events,
        };
        const scope = { name: 'svc', version: '1' };
        const resource = { attributes: [] };
        const spans = encodeSpans([
          { resource, scopeSpans: [{ scope, spans: [{ ...span, status: { code: 2, message: 'm' } }] }] },
        ]);
        const traces = trace.v1.ExportTraceServiceRequest;
        const [told] = traces.toObject(traces.decode(spans), { longs: String }).resourceSpans[0].scopeSpans[0]
          .spans;
        expect([...told.parentSpanId]).toEqual([...parentSpanId]);
        expect(told).toMatchObject({
          kind: 3,
          startTimeUnixNano: '1700000000000250000',
          status: { code: 2 },
        });
        expect(told.events[0]).toMatchObject({ name: 'e', attributes: [{ value: { boolValue: true } }] });
        const sum = counts.reduce((total, count) => total + count, 0);
        const point = { attributes: [], startTimeUnixNano: at, timeUnixNano: at, count: sum, sum };
        const dataPoints = [{ ...point, bucketCounts: counts, explicitBounds: counts.slice(1) }];
        const metric = {
          name: 'm',
          description: '',
          unit: 's',
          histogram: { dataPoints, aggregationTemporality: 2 as const },
        };
        const request = metrics.v1.ExportMetricsServiceRequest;
        const bytes = encodeMetrics([{ resource, scopeMetrics: [{ scope, metrics: [metric] }] }]);
        const decoded = request.toObject(request.decode(bytes), { longs: Number, arrays: true });
        const { histogram } = decoded.resourceMetrics[0].scopeMetrics[0].metrics[0];
        expect(histogram.dataPoints[0]).toMatchObject({
          sum,
          bucketCounts: counts,
          explicitBounds: counts.slice(1),
        });
      },
    ),
  );
});
