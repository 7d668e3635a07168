import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { startDaemon, svcCommand, type TestDaemon } from './support/daemon.ts';
import { startUpstream, type TestUpstream } from './support/upstream.ts';

let first: TestUpstream;
let second: TestUpstream;
let daemon: TestDaemon;

beforeAll(async () => {
  [first, second] = await Promise.all([startUpstream(), startUpstream()]);
  const providers = {
    first: { base_url: first.url, api_key: first.apiKey },
    second: { base_url: second.url, api_key: second.apiKey },
    gone: { base_url: 'http://127.0.0.1:1/v1', api_key: 'x', models: ['m'] },
  };
  daemon = await startDaemon({ env: { SVC_PROVIDERS: JSON.stringify(providers), SVC_GATEWAY_RETRIES: '0' } });
});

afterAll(async () => {
  await daemon?.stop();
  await Promise.all([first?.stop(), second?.stop()]);
});

const HELLO = 'good morning dear world';

interface Asked {
  readonly model: string;
  readonly stream?: boolean;
}

const ask = (request: Asked, headers: Record<string, string> = {}) =>
  daemon.fetch('/compat/v1/chat/completions', {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ messages: [{ role: 'user', content: HELLO }], ...request }),
  });

const put = (name: string, body: object) =>
  daemon.fetch(`/v1/model-routes/${encodeURIComponent(name)}`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

const target = (text: string) => ({ provider: text.split('/')[0], model: text.split('/')[1] });

/** The text of an answer, whole or streamed, as a client would show it. */
async function textOf(response: Response): Promise<string> {
  const text = await response.text();
  if (!response.headers.get('content-type')?.startsWith('text/event-stream'))
    return JSON.parse(text).choices[0].message.content;
  return text
    .split('\n')
    .filter((line) => line.startsWith('data: {') && !line.includes('"error"'))
    .map((line) => JSON.parse(line.slice('data: '.length)).choices[0]?.delta.content ?? '')
    .join('');
}

const BACKWARDS = 'world dear morning good ';

describe('a route', () => {
  test('is an alias: its name is a model, and its parameters replace those of the request', async () => {
    const targets = [{ ...target('first/gpt-test'), parameters: { temperature: 0.25 } }];
    expect((await put('team/fast', { targets })).status).toBe(200);
    const response = await ask({ model: 'team/fast' });
    expect(response.headers.get('x-svc-provider')).toBe('first');
    expect((await first.seen()).lastBody).toMatchObject({ model: 'gpt-test', temperature: 0.25 });
    const models = (await (await daemon.fetch('/compat/v1/models')).json()) as {
      data: Array<{ id: string }>;
    };
    expect(models.data.map(({ id }) => id)).toContain('team/fast');
  });

  test.each([
    ['broken', 'server'],
    ['hangs', 'timeout'],
  ])('goes on to the next target when the first is %s, whole and streamed', async (model, failure) => {
    await put('chain', { targets: [target(`first/${model}`), target('second/gpt-test')] });
    for (const stream of [false, true]) {
      const response = await ask({ model: 'chain', stream }, { 'x-svc-timeout-ms': '300' });
      expect(response.status).toBe(200);
      expect(Object.fromEntries(response.headers)).toMatchObject({
        'x-svc-provider': 'second',
        'x-svc-model': 'gpt-test',
        'x-svc-attempts': '2',
        'x-svc-fallback': `first/${model}; ${failure}`,
      });
      expect((await textOf(response)).trim()).toBe(BACKWARDS.trim());
    }
  });

  test('goes on after 429, and leaves the limited one alone for as long as it asked', async () => {
    await put('chain', { targets: [target('first/rate-limited'), target('second/gpt-test')] });
    const limited = await ask({ model: 'chain' });
    expect(limited.headers.get('x-svc-fallback')).toBe('first/rate-limited; rate_limit');
    const { count } = await first.seen();
    const next = await ask({ model: 'chain', stream: true });
    expect(next.headers.get('x-svc-attempts')).toBe('1');
    expect((await textOf(next)).trim()).toBe(BACKWARDS.trim());
    expect((await first.seen()).count).toBe(count);
  });

  test('says nothing twice: a stream that breaks off after its first content ends in an error', async () => {
    await put('chain', { targets: [target('first/fails-midstream'), target('second/gpt-test')] });
    const { count } = await second.seen();
    const text = await (await ask({ model: 'chain', stream: true })).text();
    const errors = text.split('\n').filter((line) => line.includes('"error"'));
    expect(errors).toHaveLength(1);
    expect(BACKWARDS).toStartWith(
      await textOf(new Response(text, { headers: { 'content-type': 'text/event-stream' } })),
    );
    expect((await second.seen()).count).toBe(count);
  });

  test('ends at once when the request itself is wrong, or the key is refused', async () => {
    for (const [model, status] of [
      ['bad-request', 400],
      ['wants-another-key', 502],
    ] as const) {
      await put('chain', { targets: [target(`first/${model}`), target('second/gpt-test')] });
      const { count } = await second.seen();
      expect((await ask({ model: 'chain' })).status).toBe(status);
      expect((await second.seen()).count).toBe(count);
    }
  });

  test('in parallel takes the first success, and leaves the others', async () => {
    await put('race', { strategy: 'parallel', targets: [target('first/hangs'), target('second/gpt-test')] });
    const { left } = await first.seen();
    const response = await ask({ model: 'race' });
    expect(response.headers.get('x-svc-provider')).toBe('second');
    const until = Date.now() + 2_000;
    while ((await first.seen()).left === left && Date.now() < until) await Bun.sleep(5);
    expect((await first.seen()).left).toBe(left + 1);
  });

  test('that fails altogether lists its attempts, and no key', async () => {
    await put('chain', { targets: [target('gone/m'), target('first/broken')] });
    const response = await ask({ model: 'chain' });
    expect(response.status).toBe(502);
    const body = (await response.json()) as { error: { message: string }; details: object[] };
    expect(body.error.message).toContain('gone/m (network), first/broken (server)');
    expect(body.details).toContainEqual(
      expect.objectContaining({
        attempts: [
          expect.objectContaining({ model: 'gone/m', failure: 'network' }),
          expect.objectContaining({ model: 'first/broken', failure: 'server', status: 500 }),
        ],
      }),
    );
    expect(JSON.stringify(body)).not.toContain(first.apiKey);
  });

  test('outlives the daemon', async () => {
    await put('kept', { targets: [target('second/gpt-test')] });
    await daemon.kill9();
    const env = {
      SVC_PROVIDERS: JSON.stringify({ second: { base_url: second.url, api_key: second.apiKey } }),
    };
    const again = await startDaemon({ dataDir: daemon.dataDir, apiKey: daemon.apiKey, env });
    try {
      const list = (await (await again.fetch('/v1/model-routes')).json()) as {
        routes: Array<{ name: string }>;
      };
      expect(list.routes.map(({ name }) => name)).toContain('kept');
    } finally {
      await again.stop({ keep: true });
      const providers = {
        first: { base_url: first.url, api_key: first.apiKey },
        second: { base_url: second.url, api_key: second.apiKey },
      };
      daemon = await startDaemon({
        dataDir: daemon.dataDir,
        apiKey: daemon.apiKey,
        env: { SVC_PROVIDERS: JSON.stringify(providers), SVC_GATEWAY_RETRIES: '0' },
      });
    }
  });
});

describe('one request', () => {
  test('names its own fallbacks', async () => {
    const response = await ask({ model: 'first/broken' }, { 'x-svc-fallback': 'second/gpt-test' });
    expect(response.headers.get('x-svc-provider')).toBe('second');
  });

  test('is tried again when it asks for that', async () => {
    const { count } = await first.seen();
    await ask({ model: 'first/broken' }, { 'x-svc-retries': '2' });
    expect((await first.seen()).count).toBe(count + 3);
  });

  test.each([
    ['x-svc-strategy', 'fastest'],
    ['x-svc-retries', '6'],
    ['x-svc-timeout-ms', 'soon'],
  ])('with %s: %s is 400 naming the header', async (name, value) => {
    const response = await ask({ model: 'first/gpt-test' }, { [name]: value });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { param: name } });
  });

  test('for a model that nobody has is 404, and names what is like it', async () => {
    const response = await ask({ model: 'gpt-tset' });
    expect(response.status).toBe(404);
    const { error } = (await response.json()) as { error: { code: string; message: string } };
    expect(error.code).toBe('model_not_found');
    expect(error.message).toContain('gpt-test');
  });
});

test('svc model route makes, lists and removes routes', async () => {
  const svc = async (...argv: string[]) => {
    const child = Bun.spawn([...svcCommand(), 'model', 'route', ...argv], {
      env: {
        PATH: process.env.PATH,
        HOME: '/nonexistent',
        SVC_API_URL: daemon.url,
        SVC_API_KEY: daemon.apiKey,
      },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    });
    const [stdout, stderr] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ]);
    return { code: await child.exited, stdout, stderr };
  };
  const made = await svc(
    'set',
    'mine',
    'first/gpt-test=3',
    'second/gpt-test',
    '--strategy',
    'weighted',
    '--param',
    'seed=7',
  );
  expect(made).toMatchObject({ code: 0, stdout: 'mine\n' });
  expect((await ask({ model: 'mine' })).status).toBe(200);
  const { routes } = JSON.parse((await svc('list', '--json')).stdout) as { routes: object[] };
  expect(routes).toContainEqual(
    expect.objectContaining({
      name: 'mine',
      strategy: 'weighted',
      targets: [
        { provider: 'first', model: 'gpt-test', weight: 3, parameters: { seed: 7 } },
        { provider: 'second', model: 'gpt-test', weight: 1, parameters: { seed: 7 } },
      ],
    }),
  );
  expect(await svc('set', 'bad', 'frist/m')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('did you mean first'),
  });
  expect((await svc('rm', 'mine')).code).toBe(0);
  expect((await ask({ model: 'mine' })).status).toBe(404);
});
