import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AppError } from '../../../src/errors/app-error.ts';
import { systemClock } from '../../../src/kit/time.ts';
import { startUpstream, type TestUpstream } from '../../../test/support/upstream.ts';
import { Config } from '../../config/config.ts';
import type { Call } from '../../http/route.ts';
import { createLog, type Log } from '../../log/log.ts';
import { createMetrics } from '../../metrics/metrics.ts';
import { createOutbound } from '../../outbound/outbound.ts';
import { openTestApp } from '../../testing/app.ts';
import { createProvidersModule } from '../providers/index.ts';
import { createSettingsModule } from '../settings/index.ts';
import { createGatewayModule } from './index.ts';

const dir = mkdtempSync(join(tmpdir(), 'svc-gateway-'));
const lines: string[] = [];
const log: Log = createLog({ level: 'debug', format: 'json', write: (line) => lines.push(line) });
const metrics = createMetrics();
let upstream: TestUpstream;
let gateway: ReturnType<typeof createGatewayModule>;
let routes: typeof gateway.routes;

beforeAll(async () => {
  upstream = await startUpstream();
  const { url, apiKey, resetUrl, unlistedUrl } = upstream;
  const refused = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } });
  const providers = {
    openai: { base_url: url, api_key: apiKey },
    reset: { base_url: resetUrl, models: ['m'] },
    unlisted: { base_url: unlistedUrl, api_key: apiKey },
    refused: { base_url: `http://127.0.0.1:${refused.port}/v1`, models: ['m'] },
    metadata: { base_url: 'http://169.254.169.254/v1', models: ['m'] },
  };
  refused.stop(true);
  const config = new Config({ env: { SVC_DATA_DIR: dir, SVC_PROVIDERS: JSON.stringify(providers) } });
  const app = {
    ...openTestApp(systemClock, { 'data.dir': dir }),
    config,
    log,
    outbound: createOutbound(config, log),
  };
  const settings = createSettingsModule(app).runtime;
  gateway = createGatewayModule(app, {
    directory: createProvidersModule(app, { instanceTenant: 'org_test' }).directory,
    settings,
    instanceTenant: 'org_test',
    metrics,
  });
  await gateway.start?.();
  routes = gateway.routes;
});

afterAll(async () => {
  await gateway.stop?.();
  await upstream.stop();
  rmSync(dir, { recursive: true });
});

/** Calls an operation as the edge does; `undefined` becomes the code of the error. */
async function invoke(id: string, part: Partial<Call> & { body?: unknown }): Promise<unknown> {
  const route = routes.find(({ endpoint }) => endpoint.id === id);
  const call = {
    params: {},
    query: {},
    signal: new AbortController().signal,
    headers: new Headers(),
    request: new Request('http://127.0.0.1/'),
    requestId: 'req_test',
    caller: { tenant: 'org_test', role: 'member', actor: 'key_test', via: 'api-key' },
    peer: '',
    ...part,
  };
  return route?.handle(call as unknown as Call);
}

const HELLO = [{ role: 'user', content: 'good morning dear world' }];

const chat = (body: Record<string, unknown>, signal?: AbortSignal) =>
  invoke('ChatCompletion', {
    body: { messages: HELLO, ...body },
    ...(signal ? { signal } : {}),
  }) as Promise<Response>;

const failure = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => (error instanceof AppError ? error : undefined),
  );

const outputTokens = async () =>
  Number(
    /^svc_gateway_tokens_total\{.*model="gpt-test",direction="output"\} (\d+)/m.exec(
      await metrics.render(),
    )?.[1] ?? 0,
  );

const eventsIn = (text: string) => text.split('\n').filter((line) => line !== '');

/** What the upstream itself answers, asked directly. */
const direct = (body: Record<string, unknown>) =>
  fetch(`${upstream.url}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${upstream.apiKey}` },
    body: JSON.stringify({ messages: HELLO, ...body }),
  });

describe('a completion', () => {
  test('reaches the upstream with its model renamed and everything else as it came', async () => {
    const extra = { temperature: 0.5, seed: 7, unknown_field: { deep: [1, null] }, user: 'u' };
    const response = await chat({ model: 'openai/gpt-test', ...extra });
    expect(response.status).toBe(200);
    const { lastBody, lastHeaders } = await upstream.seen();
    expect(lastBody).toEqual({ model: 'gpt-test', messages: HELLO, ...extra });
    expect(lastHeaders.authorization).toBe(`Bearer ${upstream.apiKey}`);
    expect(lastHeaders['accept-encoding']).toBeUndefined();
  });

  test('comes back byte for byte, with the headers that are for the caller', async () => {
    const ours = await chat({ model: 'gpt-test' });
    expect(await ours.text()).toBe(await (await direct({ model: 'gpt-test' })).text());
    expect(Object.fromEntries(ours.headers)).toMatchObject({
      'openai-version': '2020-10-01',
      'x-upstream-request-id': 'up_1',
      'x-ratelimit-remaining-requests': '59',
    });
    expect(ours.headers.has('set-cookie')).toBe(false);
  });

  test('reports its tokens', async () => {
    const before = await outputTokens();
    await chat({ model: 'gpt-test' });
    expect((await outputTokens()) - before).toBe(4);
  });
});

describe('a stream', () => {
  test('comes back event for event, cut wherever the upstream cuts it', async () => {
    const tools = [
      { type: 'function', function: { name: 'a' } },
      { type: 'function', function: { name: 'b' } },
    ];
    const asked = { stream_options: { include_usage: true } };
    for (const more of [{}, asked, { tools }]) {
      const body = { model: 'gpt-test', stream: true, ...more };
      const ours = await chat(body);
      const theirs = eventsIn(await (await direct({ ...body, ...asked })).text());
      const wanted = more === asked ? theirs : theirs.filter((event) => !event.includes('"prompt_tokens"'));
      expect(eventsIn(await ours.text())).toEqual(wanted);
      expect(Object.fromEntries(ours.headers)).toMatchObject({
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-cache',
        'x-accel-buffering': 'no',
      });
    }
  });

  test('has its tokens counted, whether or not the caller asked for them', async () => {
    for (const more of [{}, { stream_options: { include_usage: true } }]) {
      const before = await outputTokens();
      const text = await (await chat({ model: 'gpt-test', stream: true, ...more })).text();
      expect((await outputTokens()) - before).toBe(4);
      expect(text.includes('"prompt_tokens"')).toBe('stream_options' in more);
    }
  });

  test('is passed on while it grows', async () => {
    const response = await chat({ model: 'trickles', stream: true });
    const reader = response.body?.getReader();
    const first = await reader?.read();
    const bytes = (await (await direct({ model: 'gpt-test', stream: true })).bytes()).length;
    expect(first?.value?.byteLength).toBeLessThan(bytes / 4);
    await reader?.cancel();
  });

  test('that breaks off ends in an error that clients read, after what had come', async () => {
    const text = await (await chat({ model: 'fails-midstream', stream: true })).text();
    expect(text).toContain('"content":"world "');
    const parsed = text
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line.replace('data: ', '')));
    const { error } = parsed.at(-1);
    expect(error).toMatchObject({ type: 'api_error', code: 'upstream_failed' });
    expect(error.message).toContain('openai');
  });
});

describe('a caller that leaves', () => {
  const cases = [
    ['hangs', false],
    ['hangs', true],
    ['hangs-midstream', true],
    ['trickles', true],
  ] as const;
  for (const [model, stream] of cases)
    test(`stops an upstream that ${model}${stream ? ', streaming' : ''}`, async () => {
      const before = await upstream.seen();
      const controller = new AbortController();
      const pending = chat({ model, stream }, controller.signal);
      const outcome = failure(pending.then((response) => response.text()));
      while ((await upstream.seen()).count === before.count) await Bun.sleep(1);
      if (model !== 'hangs') await (await pending).body;
      controller.abort();
      while ((await upstream.seen()).left === before.left) await Bun.sleep(1);
      if (model === 'hangs') expect((await outcome)?.code).toBe('cancelled');
    });

  test('by closing its body stops the upstream too', async () => {
    const { left } = await upstream.seen();
    const response = await chat({ model: 'hangs-midstream', stream: true });
    const reader = response.body?.getReader();
    await reader?.read();
    await reader?.cancel();
    while ((await upstream.seen()).left === left) await Bun.sleep(1);
  });
});

describe('an upstream that fails', () => {
  test('with an error of the request: its status and words pass', async () => {
    const error = await failure(chat({ model: 'bad-request', stream: true }));
    expect(error?.data).toMatchObject({ status: 400, said: { code: 'invalid_value', type: 'test_error' } });
    expect(error?.message).toBe('temperature is too hot');
  });

  test('because it is asked too often: its Retry-After passes', async () => {
    const error = await failure(chat({ model: 'rate-limited' }));
    expect(error).toMatchObject({ code: 'rate_limited', http: 429, data: { retryAfterSeconds: 7 } });
    expect(error?.message).toContain('slow down');
  });

  const cases = [
    ['wants-another-key', 502, 'refused the key of this instance (401)'],
    ['forbids', 502, 'refused the key of this instance (403)'],
    ['broken', 502, 'answered 500: something broke'],
    ['lost', 502, 'Check the address of the provider: svc provider show openai'],
    ['page', 502, 'answered with text/html'],
    ['moved', 502, 'answered 302'],
    ['fails-midstream', 503, 'closed the connection before its answer was complete'],
    ['reset/m', 503, 'the connection was closed'],
    ['refused/m', 503, 'the connection was refused'],
    ['metadata/m', 502, 'link-local or metadata'],
  ] as const;
  for (const [model, status, words] of cases)
    test(`${model}: ${status} ${words}, and never its key`, async () => {
      const error = await failure(chat({ model }));
      expect(error?.http).toBe(status);
      expect(error?.message).toContain(words);
      expect(error?.message).toContain(
        `The provider ${model.includes('/') ? model.split('/')[0] : 'openai'}`,
      );
      expect(JSON.stringify(error?.toWire('req_1')) + lines.join('')).not.toContain(upstream.apiKey);
    });

  test('by staying silent: 504', async () => {
    const request = new Request('http://127.0.0.1/', {
      headers: { 'x-svc-timeout-ms': '50', 'x-svc-retries': '0' },
    });
    const error = await failure(
      invoke('ChatCompletion', { body: { messages: HELLO, model: 'hangs' }, request }) as Promise<Response>,
    );
    expect(error?.code).toBe('upstream_timeout');
    expect(error?.http).toBe(504);
  });
});

describe('the models', () => {
  const list = async () =>
    ((await invoke('ListCompatModels', {})) as { data: ReadonlyArray<Record<string, unknown>> }).data;

  test('are those of every provider, and one that cannot list its own breaks nothing', async () => {
    const models = await list();
    expect(models).toContainEqual({
      id: 'local/echo',
      object: 'model',
      created: 0,
      owned_by: 'local',
    });
    const listed = { id: 'openai/gpt-test', object: 'model', created: 1_700_000_000, owned_by: 'openai' };
    expect(models).toContainEqual(listed);
    expect(models.filter(({ owned_by }) => owned_by === 'unlisted')).toEqual([]);
    expect(lines.some((line) => line.includes('could not be listed'))).toBe(true);
  });

  test('are asked of an upstream once a minute, not once a call', async () => {
    await list();
    const { lists } = await upstream.seen();
    for (let i = 0; i < 5; i++) await list();
    expect((await upstream.seen()).lists).toBe(lists);
  });

  test('are had one by one', async () => {
    expect(await invoke('GetCompatModel', { params: { model: 'local/echo' } as never })).toMatchObject({
      owned_by: 'local',
    });
    const error = await failure(invoke('GetCompatModel', { params: { model: 'local/eco' } as never }));
    expect(error?.code).toBe('model_not_found');
    expect(error?.hint).toContain('local/echo');
  });

  test('local/echo answers without any upstream, and for no other name', async () => {
    const { count } = await upstream.seen();
    const response = await chat({ model: 'local/echo' });
    expect(await response.json()).toMatchObject({
      choices: [{ message: { content: 'good morning dear world' } }],
    });
    expect((await failure(chat({ model: 'local/gpt-test' })))?.code).toBe('model_not_found');
    expect((await upstream.seen()).count).toBe(count);
  });
});
