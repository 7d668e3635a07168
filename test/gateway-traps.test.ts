import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { startDaemon, type TestDaemon } from './support/daemon.ts';
import type { FakeProvider } from './support/fake-provider.ts';
import { startHostile } from './support/upstream-hostile.ts';

/** What callers and upstreams that mean no good do to gateways, and what must not follow from it. */

const KEY = 'sk-proj-4f9a1c7e2b8d6053-never-shown-Zq81';

let upstream: FakeProvider;
let daemon: TestDaemon;

beforeAll(async () => {
  upstream = await startHostile();
  daemon = await startDaemon({ env: environment() });
});

afterAll(async () => {
  await daemon?.stop();
  await upstream?.stop();
});

function environment() {
  const provider = { base_url: `${upstream.origin}/v1`, api_key: KEY };
  return {
    SVC_PROVIDERS: JSON.stringify({ openai: provider, second: provider }),
    SVC_GATEWAY_PRICES: JSON.stringify({ 'second/*': { input: 10_000, output: 10_000 } }),
  };
}

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

async function post(
  path: string,
  body: object | string,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const response = await daemon.fetch(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

const HELLO = [{ role: 'user', content: 'hello' }];

function ask(model: string, more: object = {}, headers: Record<string, string> = {}): Promise<Answer> {
  return post('/compat/v1/chat/completions', { model, messages: HELLO, ...more }, headers);
}

interface Sums {
  readonly requests: string;
  readonly inputTokens: string;
}

async function sumsOf(model: string): Promise<Sums | undefined> {
  const response = await daemon.fetch('/v1/usage');
  const { groups } = (await response.json()) as { groups: ReadonlyArray<Sums & { group: string }> };
  return groups.find(({ group }) => group === model);
}

async function until(check: () => Promise<boolean>): Promise<boolean> {
  for (let i = 0; i < 60; i++) {
    if (await check()) return true;
    await Bun.sleep(100);
  }
  return false;
}

function residentMb(): number {
  const status = readFileSync(`/proc/${daemon.pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
}

describe('names of models', () => {
  test.each(['gpt-😀', 'gpt\nx-evil: 1', 'gpt\u0000', '\ud800', 'mö'])(
    'of any letters are answered, and written down once: %j',
    async (name) => {
      const { status, headers } = await ask(`openai/${name}`);
      expect(status).toBe(200);
      expect(decodeURIComponent(headers.get('x-svc-model') ?? '')).toBe(name.toWellFormed());
      expect(headers.get('x-evil')).toBeNull();
    },
  );

  test('that are longer than any model has are unknown, and answers do not repeat them', async () => {
    const { status, text, headers } = await ask(`openai/${'y'.repeat(4_000_000)}`);
    expect(status).toBe(404);
    expect(text.length).toBeLessThan(2000);
    expect(headers.get('x-svc-attempts')).toBeNull();
  });
});

describe('the key of a provider is not shown', () => {
  test.each([
    ['repeats-the-key', false],
    ['repeats-the-key-as-200', false],
    ['repeats-the-key-in-a-stream', true],
  ])('by an upstream that repeats it: %s', async (model, stream) => {
    const paths = ['/compat/v1/chat/completions', '/compat/anthropic/v1/messages'];
    for (const path of paths) {
      const { status, text } = await post(path, {
        model: `openai/${model}`,
        max_tokens: 9,
        messages: HELLO,
        stream,
      });
      expect(status).toBeGreaterThanOrEqual(400);
      expect(text).toContain('[redacted]');
      for (const secret of [KEY, encodeURIComponent(KEY), btoa(KEY), KEY.slice(0, 20)])
        expect(text).not.toContain(secret);
    }
    expect(daemon.log()).not.toContain(KEY.slice(0, 20));
  });
});

describe('what an upstream counts', () => {
  test('may be absurd: the sums of everybody else go on, also after a restart', async () => {
    expect((await ask('openai/counts-absurdly')).status).toBe(200);
    expect((await ask('openai/gpt-4o')).status).toBe(200);
    expect(await until(async () => (await sumsOf('openai/gpt-4o'))?.requests === '1')).toBe(true);
    expect((await sumsOf('openai/counts-absurdly'))?.inputTokens).toBe('1000000000');
    await daemon.kill9();
    daemon = await startDaemon({ dataDir: daemon.dataDir, apiKey: daemon.apiKey, env: environment() });
    expect((await ask('openai/gpt-4o')).status).toBe(200);
    expect(await until(async () => (await sumsOf('openai/gpt-4o'))?.requests === '2')).toBe(true);
  }, 20_000);
});

describe('an upstream', () => {
  test('that wants to be left alone for ever is believed for a day', async () => {
    const { status, headers } = await ask('openai/waits-for-ever');
    expect(status).toBe(429);
    expect(headers.get('retry-after')).toBe(String(24 * 60 * 60));
  });

  test('that ends a stream without its end has failed, and the caller hears of it', async () => {
    const { text } = await ask('openai/stops-in-the-middle', { stream: true });
    expect(text).toContain(' answer');
    expect(text).toContain('"code":"upstream_failed"');
    const whole = await ask('openai/ends-without-done', { stream: true });
    expect(whole.text).toContain('whole');
    expect(whole.text).not.toContain('"error"');
  });

  test.each(['/compat/v1/chat/completions', '/compat/anthropic/v1/messages', '/compat/v1/responses'])(
    'that answers nonsense has failed, and that is in the books: %s',
    async (path) => {
      const request = { model: 'openai/answers-nonsense', max_tokens: 9, messages: HELLO, input: 'hello' };
      const { status, headers } = await post(path, request, { 'x-svc-retries': '0' });
      expect(status).toBe(502);
      const response = await daemon.fetch(`/v1/usage/requests/${headers.get('x-request-id')}`);
      expect(await response.json()).toMatchObject({ ending: 'failed', error: 'upstream_failed' });
    },
  );

  test('whose answer does not end is left, and what has come of it is let go', async () => {
    const { status } = await ask('openai/has-no-end', {}, { 'x-svc-retries': '0' });
    expect(status).toBe(502);
    expect(residentMb()).toBeLessThan(900);
  }, 30_000);
});

describe('a caller', () => {
  test('that has no patience takes no key out of service: others are still answered by it first', async () => {
    for (let i = 0; i < 8; i++)
      expect(
        (await ask('openai/is-slow', {}, { 'x-svc-timeout-ms': '5', 'x-svc-retries': '0' })).status,
      ).toBe(504);
    const { headers } = await ask(
      'openai/is-slow',
      {},
      {
        'x-svc-timeout-ms': '50',
        'x-svc-retries': '0',
        'x-svc-fallback': 'second/gpt-4o',
      },
    );
    expect(headers.get('x-svc-fallback')).toBe('openai/is-slow; timeout');
  });

  test('may name a field as it likes: what is not known passes', async () => {
    const { status, text } = await post('/compat/v1/embeddings', {
      model: 'openai/text-embedding-3-small',
      input: 'four',
      form: { of: 'words' },
    });
    expect(status).toBe(200);
    expect(JSON.parse(text)).toMatchObject({ data: [{ embedding: [4] }], form: { of: 'words' } });
  });

  test('that nests deeply is refused before anybody else has to wait for it', async () => {
    const deep = '['.repeat(40_000) + ']'.repeat(40_000);
    const call = JSON.stringify({ id: 'c', type: 'function', function: { name: 'f', arguments: deep } });
    const bodies = [
      `{"model":"openai/gpt-4o","messages":[{"role":"user","content":"x"}],"other":${deep}}`,
      `{"model":"openai/gpt-4o","messages":[{"role":"assistant","tool_calls":[${call}]}]}`,
    ];
    const started = performance.now();
    const [first, second] = [
      await ask('openai/gpt-4o'),
      await post('/compat/v1/chat/completions', bodies[0] ?? ''),
    ];
    expect([first.status, second.status]).toEqual([200, 400]);
    for (const path of [
      '/compat/v1/chat/completions',
      '/compat/anthropic/v1/messages',
      '/compat/v1/responses',
    ])
      await post(path, bodies[1] ?? '');
    expect(performance.now() - started).toBeLessThan(2000);
  });
});

interface Standing {
  readonly spentUsd: number;
  readonly reservedUsd: number;
}

async function standing(): Promise<Standing> {
  const { budgets } = (await (await daemon.fetch('/v1/budgets')).json()) as {
    budgets: [{ total: Standing }];
  };
  return budgets[0].total;
}

describe('money', () => {
  test('callers who come all at once do not spend more than the budget, and each answer is booked once', async () => {
    await daemon.fetch('/v1/budgets/tenant', {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ totalUsd: 2 }),
    });
    const before = await standing();
    const answers = await Promise.all(
      Array.from({ length: 60 }, () => ask('second/gpt-4o', { max_tokens: 2 })),
    );
    const answered = answers.filter(({ status }) => status === 200).length;
    const refused = answers.filter(({ text }) => text.includes('insufficient_quota')).length;
    expect(answered).toBeGreaterThan(0);
    expect(answered + refused).toBe(60);
    const { spentUsd, reservedUsd } = await standing();
    expect(reservedUsd).toBe(0);
    expect(spentUsd).toBeCloseTo(before.spentUsd + answered * 0.05, 6);
    expect(spentUsd).toBeLessThanOrEqual(2);
  });
});
