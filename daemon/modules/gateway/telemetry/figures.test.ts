import { expect, test } from 'bun:test';
import { createMetrics } from '../../../metrics/metrics.ts';
import { RequestFigures } from './figures.ts';
import { recordOf } from './testing.ts';

function scene() {
  const metrics = createMetrics();
  const figures = new RequestFigures(metrics);
  const samples = async () =>
    new Map((await metrics.render()).split('\n').map((line) => [line.slice(0, line.lastIndexOf(' ')), line]));
  const value = async (name: string) => Number((await samples()).get(name)?.split(' ').at(-1));
  return { figures, samples, value };
}

test('a request that went well is counted with its tokens, its cost and its times', async () => {
  const { figures, value } = scene();
  const usage = { input: 10, output: 4, cachedInput: 6, reasoning: 1 };
  figures.finished(recordOf({ usage, cache: 'miss', streamed: true }));
  const who = 'provider="openai",model="gpt-test"';
  expect(await value(`svc_gateway_requests_total{surface="chat",${who},ending="completed"}`)).toBe(1);
  for (const [direction, count] of [
    ['input', 10],
    ['output', 4],
    ['input_cached', 6],
    ['output_reasoning', 1],
  ] as const)
    expect(await value(`svc_gateway_tokens_total{${who},direction="${direction}"}`)).toBe(count);
  expect(await value(`svc_gateway_cost_dollars_total{${who}}`)).toBe(1);
  expect(await value('svc_gateway_duration_seconds_sum{surface="chat",provider="openai"}')).toBe(0.25);
  expect(await value('svc_gateway_first_byte_seconds_count{provider="openai",streamed="true"}')).toBe(1);
  expect(await value('svc_gateway_cache_total{result="miss"}')).toBe(1);
});

test('failures, fallbacks and refusals are counted by why', async () => {
  const { figures, value } = scene();
  figures.finished(recordOf());
  figures.finished(
    recordOf({
      model: 'groq/llama',
      attempts: [
        { model: 'openai/gpt-test', ms: 1, failure: 'rate_limit' },
        { model: 'openai/gpt-test', ms: 1, failure: 'server' },
        { model: 'groq/llama', ms: 1 },
      ],
    }),
  );
  figures.finished(recordOf({ ending: 'refused', error: 'budget_spent', model: undefined, attempts: [] }));
  const failures = (kind: string) =>
    value(`svc_gateway_attempt_failures_total{provider="openai",kind="${kind}"}`);
  expect([await failures('rate_limit'), await failures('server')]).toEqual([1, 1]);
  expect(await value('svc_gateway_fallbacks_total{from="openai",to="groq",reason="server"}')).toBe(1);
  expect(await value('svc_gateway_refusals_total{reason="budget_spent"}')).toBe(1);
});

test('a hundred models have series, whatever callers make up', async () => {
  const { figures, samples } = scene();
  for (let i = 0; i < 1_000; i++) {
    figures.finished(recordOf({ requestedModel: `made-up-${i}`, model: undefined, attempts: [] }));
    figures.finished(recordOf({ model: `p${i}/m${i}`, attempts: [{ model: `p${i}/m${i}`, ms: 1 }] }));
  }
  const requests = (await samples()).keys().filter((name) => name.startsWith('svc_gateway_requests_total{'));
  expect(requests.toArray().length).toBeLessThanOrEqual(102);
  const total = (await samples())
    .entries()
    .filter(([name]) => name.startsWith('svc_gateway_requests_total{'))
    .reduce((sum, [, line]) => sum + Number(line.split(' ').at(-1)), 0);
  expect(total).toBe(2_000);
});
