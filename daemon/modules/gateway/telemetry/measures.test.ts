import { expect, test } from 'bun:test';
import { Measures } from './measures.ts';
import { recordOf } from './testing.ts';

const NOW = 1_700_000_100_000;
const points = (measures: Measures, name: string) =>
  measures.tell(NOW).find((metric) => metric.name === name)?.histogram?.dataPoints ?? [];
const labels = (point: ReturnType<typeof points>[number] | undefined) =>
  Object.fromEntries((point?.attributes ?? []).map(({ key, value }) => [key, value.stringValue]));

test('times and tokens are spread over the buckets of the conventions, since the start', () => {
  const measures = new Measures(NOW - 1);
  measures.observe(recordOf());
  measures.observe(
    recordOf({ durationMs: 20, streamed: true, firstByteMs: 4, usage: { input: 5, output: 70 } }),
  );
  const [duration] = points(measures, 'gen_ai.client.operation.duration');
  expect(duration).toMatchObject({ count: 2, sum: 0.27 });
  expect(duration?.explicitBounds).toHaveLength(14);
  expect(duration?.bucketCounts.reduce((sum, count) => sum + count, 0)).toBe(2);
  expect(duration?.bucketCounts[1]).toBe(1);
  const [input, output] = points(measures, 'gen_ai.client.token.usage');
  expect([input?.sum, output?.sum]).toEqual([8, 74]);
  expect([labels(input), labels(output)].map((one) => one['gen_ai.token.type'])).toEqual(['input', 'output']);
  expect(points(measures, 'gen_ai.server.time_to_first_token')).toMatchObject([{ count: 1, sum: 0.004 }]);
});

test('it is quiet until something new comes', () => {
  const measures = new Measures(NOW);
  expect(measures.isQuiet).toBe(true);
  measures.observe(recordOf());
  expect(measures.isQuiet).toBe(false);
  measures.tell(NOW);
  expect(measures.isQuiet).toBe(true);
});

test('names that callers make up do not make series', () => {
  const measures = new Measures(NOW);
  for (let i = 0; i < 500; i++)
    measures.observe(
      recordOf({
        requestedModel: `openai/made-up-${i}`,
        model: undefined,
        error: 'upstream_rejected',
        attempts: [{ model: `openai/made-up-${i}`, ms: 1, failure: 'request' }],
      }),
    );
  const told = points(measures, 'gen_ai.client.operation.duration');
  expect(told).toHaveLength(1);
  expect(labels(told[0])).toEqual({
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'openai',
    'error.type': 'upstream_rejected',
  });
});

test('beyond two hundred series there is one for the others, and nothing is lost', () => {
  const measures = new Measures(NOW);
  for (let i = 0; i < 300; i++) measures.observe(recordOf({ model: `openai/m${i}` }));
  const told = points(measures, 'gen_ai.client.operation.duration');
  expect(told).toHaveLength(201);
  expect(told.reduce((sum, { count }) => sum + count, 0)).toBe(300);
  expect(labels(told.at(-1))).toMatchObject({
    'gen_ai.provider.name': 'other',
    'gen_ai.request.model': 'other',
  });
});
