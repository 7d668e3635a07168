import { expect, test } from 'bun:test';
import type { KeyValue, Span } from '../../../otlp/messages.ts';
import type { RequestRecord } from '../pipeline/record.ts';
import { type Detail, toSpans } from './spans.ts';
import { recordOf } from './testing.ts';

const context = { traceId: 'ab'.repeat(16), parentId: 'cd'.repeat(8) };
const standard: Detail = {
  granularity: 'standard',
  traceProviderCalls: true,
  traceFallbacks: true,
  traceStreamChunks: false,
};

const plain = (attributes: readonly KeyValue[]) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
const ms = ({ low, high }: Span['startTimeUnixNano']) =>
  Number(((BigInt(high) << 32n) + BigInt(low)) / 1_000_000n) - 1_700_000_000_000;
const shown = (record: RequestRecord, detail: Partial<Detail> = {}) =>
  toSpans(record, context, { ...standard, ...detail }).map((span) => ({
    ...span,
    attributes: plain(span.attributes),
    events: (span.events ?? []).map(({ name, attributes, timeUnixNano }) => ({
      name,
      at: ms(timeUnixNano),
      ...plain(attributes),
    })),
    from: ms(span.startTimeUnixNano),
    to: ms(span.endTimeUnixNano),
    id: span.spanId.toHex(),
    parent: span.parentSpanId?.toHex(),
  }));

const fallen = recordOf({
  model: 'bedrock/claude',
  attempts: [
    { model: 'openai/gpt-test', key: 'pky_1', ms: 50, startMs: 1, failure: 'rate_limit', status: 429 },
    { model: 'bedrock/claude', key: 'env', ms: 40, startMs: 60 },
  ],
});

test('a request is a span under the caller’s, with a child for each call of a provider', () => {
  const [root, first, second, ...more] = shown(fallen);
  expect(more).toEqual([]);
  expect(root).toMatchObject({
    name: 'chat openai/gpt-test',
    kind: 2,
    parent: context.parentId,
    from: 0,
    to: 250,
    status: { code: 0 },
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'aws.bedrock',
      'gen_ai.request.model': 'openai/gpt-test',
      'gen_ai.response.model': 'claude',
      'gen_ai.usage.input_tokens': 3,
      'gen_ai.usage.output_tokens': 4,
      'gen_ai.usage.cost': 1,
      'svc.attempts': 2,
    },
  });
  expect(first).toMatchObject({
    name: 'call openai/gpt-test',
    kind: 3,
    parent: root?.id,
    from: 1,
    to: 51,
    status: { code: 2, message: 'rate_limit' },
    attributes: { 'gen_ai.provider.name': 'openai', 'http.response.status_code': 429 },
  });
  expect(second).toMatchObject({ parent: root?.id, from: 60, to: 250, status: { code: 0 } });
  expect(new Set([root, first, second].map((span) => span?.traceId.toHex()))).toEqual(
    new Set([context.traceId]),
  );
  expect(new Set([root?.id, first?.id, second?.id]).size).toBe(3);
});

test('tokens stand in one span of a trace, so that nobody counts them twice', () => {
  const [, ...calls] = shown(fallen, { granularity: 'detailed' });
  for (const { attributes } of calls) expect(Object.keys(attributes).join()).not.toContain('usage');
});

test.each([
  ['minimal', {}, 1, []],
  ['standard', {}, 3, ['svc.fallback']],
  ['standard', { traceProviderCalls: false }, 1, ['svc.fallback']],
  ['standard', { traceFallbacks: false }, 3, []],
] as const)('%s with %p tells %p spans and the events %p', (granularity, detail, spans, events) => {
  const told = shown(fallen, { granularity, ...detail });
  expect(told).toHaveLength(spans);
  expect(told[0]?.events.map(({ name }) => name)).toEqual([...events]);
});

test('who called, and with which key, is told in detail only', () => {
  const standardText = JSON.stringify(shown(fallen));
  const detailedText = JSON.stringify(shown(fallen, { granularity: 'detailed' }));
  for (const id of ['key_1', 'pky_1']) {
    expect(standardText).not.toContain(id);
    expect(detailedText).toContain(id);
  }
});

test('a fallback, a guardrail and the pieces of a stream are events', () => {
  const record = { ...fallen, streamed: true, violations: ['pii'] };
  const [root] = shown(record, { traceStreamChunks: true });
  expect<unknown>(root?.events).toEqual([
    { name: 'svc.guardrail', at: 100, 'svc.guardrail.name': 'pii' },
    {
      name: 'svc.fallback',
      at: 51,
      'svc.fallback.from': 'openai/gpt-test',
      'svc.fallback.to': 'bedrock/claude',
      'error.type': 'rate_limit',
    },
    { name: 'svc.stream.first_chunk', at: 100 },
    { name: 'svc.stream.end', at: 250 },
  ]);
});

test.each([
  ['failed', 'upstream_failed', 2],
  ['refused', 'budget_spent', 2],
  ['stopped', 'cancelled', 0],
] as const)('a request that was %s has the status %#', (ending, error, code) => {
  const [root] = shown(recordOf({ ending, error, model: undefined, usage: undefined }));
  expect(root?.status.code).toBe(code);
  expect(root?.attributes['error.type']).toBe(error);
  expect(root?.attributes).not.toHaveProperty('gen_ai.response.model');
});

test('a name that a caller made up does not fill the trace', () => {
  const [root] = shown(recordOf({ requestedModel: 'x'.repeat(100_000), model: undefined, attempts: [] }));
  expect(JSON.stringify(root).length).toBeLessThan(4_000);
});
