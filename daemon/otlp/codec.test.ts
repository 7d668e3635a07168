import { expect, test } from 'bun:test';
import { createRequire } from 'node:module';
import fc from 'fast-check';
import { encodeMetrics, readRejection } from './codec.ts';
import { attributes, nanos } from './messages.ts';

const require = createRequire(import.meta.url);
/** The definitions of opentelemetry-proto, as another library has them. */
const { metrics } = require('@opentelemetry/otlp-transformer/build/src/generated/root.js').opentelemetry.proto
  .collector;

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
