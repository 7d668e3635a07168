import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { startDaemon, type TestDaemon } from './support/daemon.ts';
import {
  type Attribute,
  type OtlpReceiver,
  type Received,
  type ReceivedSpan,
  startOtlpReceiver,
} from './support/otlp-receiver.ts';
import { until } from './support/scene.ts';
import { type Person, TwoTenants } from './support/tenants/two-tenants.ts';
import { startUpstream, type TestUpstream } from './support/upstream.ts';

setDefaultTimeout(30_000);

const SECRET_WORDS = 'the launch code is swordfish';
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';

let upstream: TestUpstream;
let receiver: OtlpReceiver;
let daemon: TestDaemon;
const got: Received[] = [];

beforeAll(async () => {
  [upstream, receiver] = await Promise.all([startUpstream(), startOtlpReceiver()]);
  daemon = await startDaemon({
    env: {
      OPENAI_BASE_URL: upstream.url,
      OPENAI_API_KEY: upstream.apiKey,
      SVC_GATEWAY_RETRIES: '0',
      SVC_GATEWAY_PRICES: JSON.stringify({ 'openai/*': { input: 1, output: 2 } }),
      SVC_TELEMETRY_ENABLED: 'true',
      SVC_TELEMETRY_COLLECTOR_URL: `${receiver.url}/v1/traces`,
      SVC_TELEMETRY_SERVICE_NAME: 'my-gateway',
      SVC_TELEMETRY_METRIC_INTERVAL: '1s',
      SVC_OUTBOUND_ALLOW: '127.0.0.1',
    },
  });
  void collect();
});

afterAll(async () => {
  await daemon?.stop();
  await Promise.all([upstream?.stop(), receiver?.stop()]);
});

async function collect(): Promise<void> {
  for (;;) got.push(await receiver.next());
}

const complete = (model: string, headers: Record<string, string> = {}, more: object = {}) =>
  daemon.fetch('/compat/v1/chat/completions', {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: SECRET_WORDS }], ...more }),
  });

const plain = (attributes: readonly Attribute[] = []) =>
  Object.fromEntries(
    attributes.map(({ key, value }) => [
      key,
      value.stringValue ?? Number(value.intValue ?? value.doubleValue),
    ]),
  );
const spansIn = (received: readonly Received[]): ReceivedSpan[] =>
  received.flatMap(({ resources }) =>
    resources.flatMap(({ scopeSpans = [] }) => scopeSpans.flatMap(({ spans }) => spans)),
  );
const traceOf = (id: string) => spansIn(got).filter(({ traceId }) => traceId === id);
const configure = async (config: object) => {
  const response = await daemon.fetch('/api/v1/config/runtime/telemetry', {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ config }),
  });
  expect(response.status).toBe(200);
};
const id = () => crypto.getRandomValues(new Uint8Array(16)).toHex();
const under = (traceId: string, flags = '01') => ({ traceparent: `00-${traceId}-${PARENT}-${flags}` });

test('a request is told as a span of the caller’s trace, with its calls of providers and its fallback', async () => {
  const response = await complete('openai/broken', {
    traceparent: `00-${TRACE}-${PARENT}-01`,
    'x-svc-fallback': 'openai/gpt-test',
  });
  expect(response.status).toBe(200);
  const spans = await until(() => (traceOf(TRACE).length === 3 ? traceOf(TRACE) : undefined));
  const root = spans.find(({ parentSpanId }) => parentSpanId === PARENT);
  expect(root).toMatchObject({ name: 'chat openai/broken', kind: 'SPAN_KIND_SERVER' });
  expect(plain(root?.attributes)).toMatchObject({
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'openai',
    'gen_ai.request.model': 'openai/broken',
    'gen_ai.response.model': 'gpt-test',
    'svc.request.id': response.headers.get('x-request-id') ?? '',
    'svc.attempts': 2,
  });
  const { usage } = (await response.json()) as {
    usage: { prompt_tokens: number; completion_tokens: number };
  };
  expect(plain(root?.attributes)['gen_ai.usage.input_tokens']).toBe(usage.prompt_tokens);
  expect(plain(root?.attributes)['gen_ai.usage.cost']).toBeCloseTo(
    (usage.prompt_tokens + 2 * usage.completion_tokens) / 1e6,
  );
  expect(root?.events?.map(({ name }) => name)).toEqual(['svc.fallback']);
  const calls = spans.filter(({ parentSpanId }) => parentSpanId === root?.spanId);
  expect(calls.map(({ name, kind }) => [name, kind])).toEqual([
    ['call openai/broken', 'SPAN_KIND_CLIENT'],
    ['call openai/gpt-test', 'SPAN_KIND_CLIENT'],
  ]);
  expect(calls[0]?.status?.code).toBe('STATUS_CODE_ERROR');
  for (const { startTimeUnixNano, endTimeUnixNano } of calls) {
    expect(BigInt(startTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(root?.startTimeUnixNano ?? 0));
    expect(BigInt(endTimeUnixNano)).toBeLessThanOrEqual(BigInt(root?.endTimeUnixNano ?? 0));
  }
  const told = got.find(({ resources }) => JSON.stringify(resources).includes(TRACE));
  expect(told?.path).toBe('/v1/traces');
  expect(plain(told?.resources[0]?.resource.attributes)).toMatchObject({ 'service.name': 'my-gateway' });
});

test('a stream, a refusal and a request without a trace are told too', async () => {
  const [stream, refused] = [id(), id()];
  await (await complete('openai/gpt-test', under(stream), { stream: true })).text();
  await complete('nowhere/at-all', under(refused));
  await complete('local/echo');
  const [root] = await until(() => (traceOf(stream).length === 2 ? traceOf(stream) : undefined));
  const attributes = plain(root?.attributes);
  expect(attributes['gen_ai.response.time_to_first_chunk']).toBeGreaterThan(0);
  const [refusal, ...none] = await until(() => (traceOf(refused).length > 0 ? traceOf(refused) : undefined));
  expect(none).toEqual([]);
  expect(plain(refusal?.attributes)).toMatchObject({
    'error.type': 'model_not_found',
    'svc.ending': 'refused',
  });
  await until(() =>
    spansIn(got).some(({ name, parentSpanId }) => name === 'chat local/echo' && !parentSpanId),
  );
});

test('metrics are told by the names of the conventions, since the start', async () => {
  await complete('openai/gpt-test');
  const points = await until(() => {
    const metrics = got
      .flatMap(({ resources }) => resources)
      .flatMap(({ scopeMetrics = [] }) => scopeMetrics.flatMap((scope) => scope.metrics));
    const last = (name: string) => metrics.findLast((metric) => metric.name === name)?.histogram?.dataPoints;
    const [duration, tokens, first] = [
      last('gen_ai.client.operation.duration'),
      last('gen_ai.client.token.usage'),
      last('gen_ai.server.time_to_first_token'),
    ];
    return duration && tokens && first && { duration, tokens, first };
  });
  const answered = points.duration.find(
    ({ attributes }) => plain(attributes)['gen_ai.response.model'] === 'gpt-test',
  );
  expect(Number(answered?.count)).toBeGreaterThan(0);
  expect(answered?.sum).toBeGreaterThan(0);
  expect(answered?.bucketCounts?.reduce((sum, count) => sum + Number(count), 0)).toBe(
    Number(answered?.count),
  );
  expect(answered?.explicitBounds?.length).toBe(14);
  const types = points.tokens.map(({ attributes }) => plain(attributes)['gen_ai.token.type']);
  expect(new Set(types)).toEqual(new Set(['input', 'output']));
});

test('Prometheus has the same in its own words', async () => {
  await complete('openai/broken', { 'x-svc-fallback': 'openai/gpt-test' });
  const text = await (await daemon.fetch('/metrics')).text();
  for (const line of [
    /^svc_gateway_requests_total\{surface="chat",provider="openai",model="gpt-test",ending="completed"\} [1-9]/m,
    /^svc_gateway_tokens_total\{provider="openai",model="gpt-test",direction="input"\} [1-9]/m,
    /^svc_gateway_cost_dollars_total\{provider="openai",model="gpt-test"\} \d/m,
    /^svc_gateway_duration_seconds_count\{surface="chat",provider="openai"\} [1-9]/m,
    /^svc_gateway_first_byte_seconds_bucket\{le="\+Inf",provider="openai",streamed="true"\} [1-9]/m,
    /^svc_gateway_attempt_failures_total\{provider="openai",kind="server"\} [1-9]/m,
    /^svc_gateway_fallbacks_total\{from="openai",to="openai",reason="server"\} [1-9]/m,
    /^svc_gateway_refusals_total\{reason="model_not_found"\} [1-9]/m,
    /^svc_gateway_circuits_open \d/m,
    /^svc_gateway_log_waiting \d/m,
    /^svc_gateway_traces_sent_total [1-9]/m,
  ])
    expect(text).toMatch(line);
  expect(text).not.toContain('at-all');
});

test('a tenant decides how much is told, and the trace id who is', async () => {
  const telemetry = { enabled: true, collectorUrl: receiver.url };
  await configure({ ...telemetry, granularity: 'minimal', samplingRate: 0.5 });
  const [low, high, unrecorded] = [
    `${'1'.repeat(20)}${'0'.repeat(12)}`,
    `${'1'.repeat(20)}${'f'.repeat(12)}`,
    `${'2'.repeat(20)}${'f'.repeat(12)}`,
  ];
  await complete('openai/gpt-test', under(low));
  await complete('openai/gpt-test', under(unrecorded, '00'));
  await complete('openai/gpt-test', under(high));
  const [root, ...more] = await until(() => (traceOf(high).length > 0 ? traceOf(high) : undefined));
  expect(more).toEqual([]);
  expect(plain(root?.attributes)).not.toHaveProperty('gen_ai.usage.input_tokens');
  expect([...traceOf(low), ...traceOf(unrecorded)]).toEqual([]);
  await configure({ enabled: false });
  const off = id();
  await complete('openai/gpt-test', under(off));
  await configure(telemetry);
  const on = id();
  await complete('openai/gpt-test', under(on));
  await until(() => traceOf(on).length > 0);
  expect(traceOf(off)).toEqual([]);
});

test('without a collector of its own, telemetry goes to the tenant’s receiver with its headers', async () => {
  await daemon.fetch('/v1/settings/otlp', {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      endpoint: `${receiver.url}/tenant`,
      headers: { authorization: 'Bearer a-secret-token-1234' },
      extra_labels: { team: 'red' },
      enabled: true,
    }),
  });
  await configure({ enabled: true, collectorUrl: '' });
  const traceId = id();
  await complete('openai/gpt-test', under(traceId));
  const received = await until(() =>
    got.find(
      ({ path, resources }) => path === '/tenant/v1/traces' && JSON.stringify(resources).includes(traceId),
    ),
  );
  expect(received.headers.authorization).toBe('Bearer a-secret-token-1234');
  expect(plain(received.resources[0]?.resource.attributes)).toMatchObject({ team: 'red' });
});

test('no word of a question or an answer is told, no key, and nothing waits for a receiver that hangs', async () => {
  const text = JSON.stringify(got);
  for (const secret of ['swordfish', 'launch', upstream.apiKey, daemon.apiKey])
    expect(text).not.toContain(secret);
  await receiver.behave({ delayMs: 60_000 });
  for (let i = 0; i < 20; i++) expect((await complete('local/echo')).status).toBe(200);
  await receiver.behave({});
});

describe('two organizations', () => {
  let tenants: TwoTenants;
  let keys: Record<'ada' | 'sam', string>;
  let receivers: Record<'ada' | 'sam', OtlpReceiver>;
  beforeAll(async () => {
    receivers = { ada: await startOtlpReceiver(), sam: await startOtlpReceiver() };
    tenants = await TwoTenants.start({ env: { SVC_OUTBOUND_ALLOW: '127.0.0.1' } });
    const [ada, sam] = [await tenants.member('ada', 'owner'), await tenants.stranger('sam')];
    const keyOf = async ({ session }: Person) =>
      (await tenants.key(tenants.fromPage(session), { name: 'observed' })).key;
    keys = { ada: await keyOf(ada), sam: await keyOf(sam) };
  });
  afterAll(async () => {
    await tenants?.stop();
    await Promise.all([receivers?.ada.stop(), receivers?.sam.stop()]);
  });

  const call = (who: 'ada' | 'sam', path: string, method = 'GET', body?: object) =>
    fetch(tenants.daemon.url + path, {
      method,
      headers: {
        'content-type': 'application/json',
        ...(path.startsWith('/compat')
          ? { authorization: `Bearer ${keys[who]}` }
          : { 'x-svc-api-key': keys[who] }),
      },
      body: body && JSON.stringify(body),
    });

  test('are each told of their own requests only, also by Prometheus', async () => {
    for (const who of ['ada', 'sam'] as const) {
      const config = { enabled: true, collectorUrl: receivers[who].url };
      expect((await call(who, '/api/v1/config/runtime/telemetry', 'PUT', { config })).status).toBe(200);
    }
    const ask = (who: 'ada' | 'sam') =>
      call(who, '/compat/v1/chat/completions', 'POST', {
        model: 'local/echo',
        messages: [{ role: 'user', content: 'x' }],
      });
    const ids = { ada: new Set<string>(), sam: new Set<string>() };
    for (let i = 0; i < 10; i++)
      for (const who of ['ada', 'sam'] as const) {
        const response = await ask(who);
        expect(response.status).toBe(200);
        ids[who].add(response.headers.get('x-request-id') ?? '');
      }
    for (const who of ['ada', 'sam'] as const) {
      const told: Received[] = [];
      while (spansIn(told).filter(({ name }) => name === 'chat local/echo').length < 10)
        told.push(await receivers[who].nextWhere(({ path }) => path === '/v1/traces'));
      const requests = spansIn(told).flatMap(({ attributes }) => plain(attributes)['svc.request.id'] ?? []);
      expect(new Set(requests.map(String))).toEqual(ids[who]);
    }
    const figures = async (who: 'ada' | 'sam') => (await call(who, '/metrics')).text();
    expect(await figures('ada')).toContain('svc_gateway_requests_total{surface="chat",provider="local"');
    expect(await figures('sam')).toContain('svc_requests_total');
    expect(await figures('sam')).not.toContain('svc_gateway_requests_total');
  });

  test('a collector that an organization names is public, unless the owner allows it', async () => {
    const strict = await TwoTenants.start();
    try {
      const { session } = await strict.stranger('sam');
      const { key } = await strict.key(strict.fromPage(session), { name: 'x' });
      const headers = { 'content-type': 'application/json', 'x-svc-api-key': key };
      const config = { enabled: true, collectorUrl: receivers.sam.url };
      await fetch(`${strict.daemon.url}/api/v1/config/runtime/telemetry`, {
        method: 'PUT',
        headers,
        body: JSON.stringify({ config }),
      });
      await fetch(`${strict.daemon.url}/compat/v1/chat/completions`, {
        method: 'POST',
        headers: { ...headers, authorization: `Bearer ${key}` },
        body: JSON.stringify({ model: 'local/echo', messages: [{ role: 'user', content: 'x' }] }),
      });
      await until(() => strict.daemon.log().includes('outbound call refused'));
      const text = await (await strict.daemon.fetch('/metrics')).text();
      expect(text).toMatch(/^svc_gateway_traces_sent_total 0$/m);
    } finally {
      await strict.stop();
    }
  });
});
