import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { rmSync } from 'node:fs';
import { budgets } from '../src/api/gateway/budgets.ts';
import { type LoggedRequest, usage } from '../src/api/gateway/usage.ts';
import type { Value } from '../src/api/schema.ts';
import { type Client, createClient } from '../src/client/client.ts';
import { startDaemon, svcCommand, type TestDaemon } from './support/daemon.ts';
import { clientOf, until } from './support/scene.ts';
import { TwoTenants } from './support/tenants/two-tenants.ts';
import { startUpstream, type TestUpstream } from './support/upstream.ts';

setDefaultTimeout(120_000);

/** How many requests are made of every kind together. */
const REQUESTS = Number(process.env.SVC_TEST_USAGE_REQUESTS ?? 500);
/** How often the daemon is killed under load. */
const KILLS = Number(process.env.SVC_TEST_USAGE_KILLS ?? 1);
const AT_ONCE = 8;

type Logged = Value<typeof LoggedRequest>;

let upstream: TestUpstream;
const settings = () => ({
  OPENAI_BASE_URL: upstream.url,
  OPENAI_API_KEY: upstream.apiKey,
  SVC_GATEWAY_RETRIES: '0',
  SVC_GATEWAY_TIMEOUT: '300ms',
  SVC_LOG_LEVEL: 'warn',
  SVC_SANDBOX_DRIVER: 'docker',
  SVC_DOCKER_SOCKET: '/nonexistent/docker.sock',
});

beforeAll(async () => {
  upstream = await startUpstream();
});

afterAll(async () => {
  await upstream?.stop();
});

/** What was asked, and the id under which it must be in the log. */
interface Asked {
  readonly requestId: string;
  readonly at: number;
}

const say = (content: string) => [{ role: 'user', content }];

function ask(
  daemon: Pick<TestDaemon, 'url' | 'apiKey'>,
  body: object,
  signal?: AbortSignal,
): Promise<Response> {
  return fetch(`${daemon.url}/compat/v1/chat/completions`, {
    method: 'POST',
    headers: { 'x-svc-api-key': daemon.apiKey, 'content-type': 'application/json' },
    body: JSON.stringify({ messages: say('one two three'), ...body }),
    signal,
  });
}

/** Asks and reads the answer to its end, or to where it breaks. */
async function whole(daemon: TestDaemon, body: object): Promise<Asked> {
  const response = await ask(daemon, body);
  await response.text().catch(() => undefined);
  return { requestId: response.headers.get('x-request-id') ?? '', at: Date.now() };
}

/** Asks for a stream and leaves it after its first piece. */
async function leave(daemon: TestDaemon): Promise<Asked> {
  const leaving = new AbortController();
  const response = await ask(
    daemon,
    { model: 'openai/hangs-midstream', stream: true, messages: say('a b c d') },
    leaving.signal,
  );
  await response.body?.getReader().read();
  leaving.abort();
  return { requestId: response.headers.get('x-request-id') ?? '', at: Date.now() };
}

interface Kind {
  readonly expected: Partial<Logged>;
  make(daemon: TestDaemon): Promise<Asked>;
}

const KINDS: readonly Kind[] = [
  {
    expected: {
      ending: 'completed',
      status: 200,
      model: 'openai/gpt-4o',
      outputTokens: '3',
      streamed: false,
    },
    make: (daemon) => whole(daemon, { model: 'openai/gpt-4o' }),
  },
  {
    expected: { ending: 'completed', status: 200, model: 'openai/gpt-4o', outputTokens: '3', streamed: true },
    make: (daemon) => whole(daemon, { model: 'openai/gpt-4o', stream: true }),
  },
  {
    expected: { ending: 'completed', status: 200, model: 'local/echo', costUsd: 0 },
    make: (daemon) => whole(daemon, { model: 'local/echo' }),
  },
  { expected: { ending: 'stopped', streamed: true, estimated: true }, make: leave },
  {
    expected: { ending: 'failed', streamed: true },
    make: (daemon) =>
      whole(daemon, { model: 'openai/fails-midstream', stream: true, messages: say('a b c d e f') }),
  },
  {
    expected: { ending: 'failed', status: 504, error: 'upstream_timeout' },
    make: (daemon) => whole(daemon, { model: 'openai/hangs' }),
  },
  {
    expected: { ending: 'failed', status: 429, error: 'rate_limited' },
    make: (daemon) => whole(daemon, { model: 'openai/rate-limited' }),
  },
  {
    expected: { ending: 'refused', status: 404, error: 'model_not_found' },
    make: (daemon) => whole(daemon, { model: 'nobody/has-this' }),
  },
];

async function exported(client: Client, query: object = {}): Promise<Logged[]> {
  const text = await (await client.open(usage.ExportRequests, { query })).text();
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Logged);
}

/** That the sums of the days are those of the log, to the token and the millionth of a dollar. */
async function expectBalanced(client: Client): Promise<void> {
  const log = await exported(client);
  const { total = {} } = await client.call(usage.GetUsage);
  const sum = (read: (one: Logged) => number) => log.reduce((all, one) => all + read(one), 0);
  expect(Number(total.requests)).toBe(log.length);
  expect(Number(total.inputTokens)).toBe(sum(({ inputTokens = '0' }) => Number(inputTokens)));
  expect(Number(total.outputTokens)).toBe(sum(({ outputTokens = '0' }) => Number(outputTokens)));
  expect(Math.round((total.costUsd ?? 0) * 1e6)).toBe(sum(({ costUsd = 0 }) => Math.round(costUsd * 1e6)));
}

async function inCrowd<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const left = items.values();
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (const item of left) await work(item);
    }),
  );
}

describe('the log of requests', () => {
  let daemon: TestDaemon;
  let client: Client;
  beforeAll(async () => {
    daemon = await startDaemon({ env: settings() });
    client = clientOf(daemon);
  });
  afterAll(async () => daemon?.stop());

  test(`has each of ${REQUESTS} requests once, however it ended, with what it took; so have its watchers`, async () => {
    const expected = new Map<string, Partial<Logged>>();
    const watched: string[] = [];
    const leaving = new AbortController();
    const watching = (async () => {
      for await (const { data } of client.stream(
        usage.WatchRequests,
        { query: { after: '0' } },
        { signal: leaving.signal },
      ))
        watched.push((JSON.parse(data) as { requestId: string }).requestId);
    })().catch(() => undefined);
    const kinds = Array.from({ length: REQUESTS }, (_, i) => KINDS[i % KINDS.length] as Kind);
    await inCrowd(kinds, async ({ expected: want, make }) => {
      expected.set((await make(daemon)).requestId, want);
    });
    const log = await until(async () => {
      const found = await exported(client);
      return found.length >= REQUESTS && found;
    });
    expect(expected.size).toBe(REQUESTS);
    expect(log.map(({ requestId }) => requestId).sort()).toEqual([...expected.keys()].sort());
    for (const request of log) expect(request).toMatchObject({ ...expected.get(request.requestId ?? '') });
    for (const { inputTokens, ending, attempts } of log) {
      if (ending !== 'refused') expect(attempts?.length).toBe(1);
      if (ending === 'completed' || ending === 'stopped') expect(Number(inputTokens)).toBeGreaterThan(0);
    }
    await expectBalanced(client);
    await until(() => watched.length >= REQUESTS);
    leaving.abort();
    await watching;
    expect(watched.toSorted()).toEqual([...expected.keys()].sort());
  });

  test('prices what is known, and never calls the unknown 0', async () => {
    const { requests = [] } = await client.call(usage.ListRequests, {
      query: { model: 'openai/gpt-4o', limit: 1 },
    });
    const [priced] = requests;
    const dollars = (Number(priced?.inputTokens) * 2.5 + Number(priced?.outputTokens) * 10) / 1e6;
    expect(priced?.costUsd).toBeCloseTo(dollars, 5);
    const { requestId } = await whole(daemon, { model: 'openai/gpt-unheard-of' });
    const unknown = await client.call(usage.GetRequest, { params: { requestId } });
    expect(unknown.inputTokens).toBeDefined();
    expect(unknown.costUsd).toBeUndefined();
    const { groups = [] } = await client.call(usage.GetUsage, { query: { groupBy: 'model' } });
    expect(groups.find(({ group }) => group === 'openai/gpt-unheard-of')).toMatchObject({
      unpricedRequests: '1',
      costUsd: 0,
    });
  });

  test('holds nothing of what was said, and no key of a provider', async () => {
    const secret = 'the-words-of-the-prompt';
    await whole(daemon, { model: 'openai/gpt-4o', messages: say(secret) });
    const text = JSON.stringify(await exported(client));
    expect(text).not.toContain(secret);
    expect(text).not.toContain(upstream.apiKey);
  });

  test('comes as CSV too, and names the field of a wrong question', async () => {
    const response = await daemon.fetch('/v1/usage/requests/export?format=csv&ending=refused');
    expect(response.headers.get('content-type')).toContain('text/csv');
    const [head, ...lines] = (await response.text()).trim().split('\r\n');
    expect(head).toStartWith('requestId,startedAt,');
    expect(lines.length).toBeGreaterThan(0);
    for (const [query, field] of [
      ['since=2026-01-02T00:00:00Z&until=2026-01-01T00:00:00Z', 'since'],
      ['cursor=abc', 'cursor'],
      ['status=9xx', 'status'],
      ['limit=0', 'limit'],
    ]) {
      const wrong = await daemon.fetch(`/v1/usage/requests?${query}`);
      expect(wrong.status).toBe(400);
      expect(await wrong.text()).toContain(`"field":"${field}"`);
    }
    expect((await daemon.fetch('/v1/usage?from=soon')).status).toBe(400);
    expect((await daemon.fetch('/v1/usage/requests/req_nobody')).status).toBe(404);
  });

  const start = (...argv: string[]) =>
    Bun.spawn([...svcCommand(), ...argv], {
      env: {
        PATH: process.env.PATH,
        HOME: daemon.dataDir,
        SVC_API_URL: daemon.url,
        SVC_API_KEY: daemon.apiKey,
      },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    });

  test('is followed by the command line, from where its list ends', async () => {
    const before = await whole(daemon, { model: 'local/echo' });
    const child = start('logs', '-f', '-n', '1', '--model', 'local/*');
    let text = '';
    const reading = (async () => {
      for await (const piece of child.stdout.pipeThrough(new TextDecoderStream())) text += piece;
    })();
    await until(() => text.includes(before.requestId));
    await whole(daemon, { model: 'openai/gpt-4o' });
    const after = [
      await whole(daemon, { model: 'local/echo' }),
      await whole(daemon, { model: 'local/echo' }),
    ];
    await until(() => after.every(({ requestId }) => text.includes(requestId)));
    child.kill('SIGINT');
    await reading;
    const lines = text.trim().split('\n');
    expect(lines.map((line) => line.split('\t').at(-1))).toEqual(
      [before, ...after].map(({ requestId }) => requestId),
    );
  });

  test('is shown by the command line', async () => {
    const svc = async (...argv: string[]) => {
      const child = start(...argv);
      const stdout = await new Response(child.stdout).text();
      return { code: await child.exited, stdout };
    };
    const { requestId } = await whole(daemon, { model: 'openai/gpt-4o' });
    const line = (await svc('logs', '-n', '1')).stdout.trim().split('\t');
    expect([line[1], line[2], line[3], line.at(-1)]).toEqual([
      '200',
      'completed',
      'openai/gpt-4o',
      requestId,
    ]);
    expect((await svc('logs', '--status', '404', '--json', '-n', '1')).stdout).toContain('"model_not_found"');
    expect((await svc('logs', 'show', requestId)).stdout).toContain('asked for\topenai/gpt-4o');
    expect(JSON.parse((await svc('logs', 'show', requestId, '--json')).stdout)).toMatchObject({ requestId });
    expect((await svc('logs', 'show', 'req_nobody')).code).toBe(5);
    expect((await svc('logs', 'export', '--ending', 'refused')).stdout.split('\n').length).toBeGreaterThan(1);
    expect((await svc('usage', '--by', 'model')).stdout).toMatch(/^openai\/gpt-4o\t\d+\t0\t/m);
    expect(
      (await svc('budget', 'set', 'tenant', '--day', '100', '--total', '1000', '--json')).stdout,
    ).toContain('"limitUsd": 100');
    expect((await svc('budget', 'list')).stdout).toMatch(/^tenant\tday\t100\t[\d.e-]+\t0\t/);
    expect((await svc('budget', 'rm', 'tenant')).code).toBe(0);
    expect((await svc('budget', 'rm', 'tenant')).code).toBe(5);
    expect((await svc('budget', 'set', 'tenant')).code).toBe(2);
  });
});

describe('a budget', () => {
  test('is 429 insufficient_quota when it is spent, for the key that spent it, and in time', async () => {
    const daemon = await startDaemon({ env: settings() });
    try {
      const client = clientOf(daemon);
      await whole(daemon, { model: 'openai/gpt-4o' });
      await client.call(budgets.SetBudget, { params: { subject: 'tenant' }, body: { dayUsd: 0.01 } });
      // Each may cost about $0.001: a crowd may not get more of them through than there is room for.
      const statuses = await Promise.all(
        Array.from({ length: 40 }, async () => {
          const response = await ask(daemon, { model: 'openai/gpt-4o', max_tokens: 100 });
          return { status: response.status, headers: response.headers, text: await response.text() };
        }),
      );
      expect(statuses.some(({ status }) => status === 200)).toBe(true);
      expect(statuses.some(({ status }) => status === 429)).toBe(true);
      const refused = statuses.find(({ status }) => status === 429);
      expect(JSON.parse(refused?.text ?? '{}').error).toMatchObject({
        code: 'insufficient_quota',
        type: 'insufficient_quota',
      });
      expect(refused?.headers.get('x-should-retry')).toBe('false');
      expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(0);
      const { budgets: [budget] = [] } = await client.call(budgets.ListBudgets);
      expect(budget?.day?.spentUsd).toBeLessThanOrEqual(0.01);
      expect(budget?.day?.reservedUsd).toBe(0);
      const { total } = await client.call(usage.GetUsage);
      expect(budget?.day?.spentUsd).toBeCloseTo(total?.costUsd ?? 0, 6);
    } finally {
      await daemon.stop();
    }
  });
});

describe('callers that leave', () => {
  test('at any moment are in the log once, and hold no money back', async () => {
    const daemon = await startDaemon({ env: settings() });
    try {
      const client = clientOf(daemon);
      await client.call(budgets.SetBudget, { params: { subject: 'tenant' }, body: { totalUsd: 1000 } });
      const models = [
        'openai/gpt-4o',
        'openai/hangs',
        'openai/trickles',
        'openai/hangs-midstream',
        'local/echo',
      ];
      const leavers = Array.from({ length: 200 }, (_, i) => i);
      await inCrowd(leavers, async (i) => {
        const leaving = new AbortController();
        const timer = setTimeout(() => leaving.abort(), (i * 7) % 60);
        const body = { model: models[i % models.length], stream: i % 3 > 0 };
        await ask(daemon, body, leaving.signal)
          .then((response) => response.text())
          .catch(() => undefined);
        clearTimeout(timer);
      });
      const budget = await until(async () => {
        const { budgets: [one] = [] } = await client.call(budgets.ListBudgets);
        return one?.total?.reservedUsd === 0 && one;
      });
      await expectBalanced(client);
      const { total } = await client.call(usage.GetUsage);
      expect(budget.total?.spentUsd).toBeCloseTo(total?.costUsd ?? 0, 6);
      expect(Number(total?.stopped)).toBeGreaterThan(0);
    } finally {
      await daemon.stop();
    }
  });
});

describe('a limit', () => {
  test('is in the headers of every answer, and of the 429 that it makes', async () => {
    const limited = {
      ...settings(),
      SVC_GATEWAY_RATE_LIMIT_ENABLED: 'true',
      SVC_GATEWAY_RATE_LIMIT_REQUESTS_PER_MINUTE: '6',
      SVC_GATEWAY_RATE_LIMIT_BURST: '3',
    };
    const daemon = await startDaemon({ env: limited });
    try {
      const headersOf = async (body: object) => {
        const response = await ask(daemon, body);
        await response.text();
        const read = (name: string) => Number(response.headers.get(name) ?? Number.NaN);
        const { status } = response;
        const left = ['x-ratelimit-limit', 'x-ratelimit-remaining'].map(read);
        return { status, left, reset: read('x-ratelimit-reset'), retry: read('retry-after') };
      };
      const now = Date.now() / 1000;
      const answers = [
        await headersOf({ model: 'local/echo' }),
        await headersOf({ model: 'local/echo', stream: true }),
        await headersOf({ model: 'nobody/has-this' }),
        await headersOf({ model: 'local/echo' }),
      ];
      expect(answers.map(({ status, left }) => [status, ...left])).toEqual([
        [200, 3, 2],
        [200, 3, 1],
        [404, 3, 0],
        [429, 3, 0],
      ]);
      const last = answers.at(-1);
      expect(last?.retry).toBeGreaterThan(0);
      expect(last?.retry).toBeLessThanOrEqual(10);
      expect(last?.reset).toBeGreaterThan(now + 20);
      expect(last?.reset).toBeLessThan(now + 40);
      const client = clientOf(daemon);
      expect((await exported(client, { status: '429' })).map(({ ending }) => ending)).toEqual(['refused']);
    } finally {
      await daemon.stop();
    }
  });
});

/** Kills a daemon among requests. Answers the ids of those that were answered a second before. */
async function killUnderLoad(daemon: TestDaemon): Promise<string[]> {
  const answered: Asked[] = [];
  const crowd = Array.from({ length: AT_ONCE }, async (_, i) => {
    for (;;) answered.push(await whole(daemon, { model: 'openai/gpt-4o', stream: i % 2 === 0 }));
  }).map((work) => work.catch(() => undefined));
  await until(() => answered.length > 100);
  await Bun.sleep(1000 + Math.random() * 500);
  const killedAt = Date.now();
  await daemon.kill9();
  await Promise.all(crowd);
  return answered.filter(({ at }) => at < killedAt - 1000).map(({ requestId }) => requestId);
}

describe('an end', () => {
  test(
    `without warning, ${KILLS} times: the sums are the log, and what was answered a second before is in it once`,
    async () => {
      let daemon = await startDaemon({ env: settings() });
      const { dataDir, apiKey } = daemon;
      const kept: string[] = [];
      try {
        const limit = { params: { subject: 'tenant' }, body: { totalUsd: 100 } };
        await clientOf(daemon).call(budgets.SetBudget, limit);
        for (let kill = 0; kill < KILLS; kill++) {
          kept.push(...(await killUnderLoad(daemon)));
          daemon = await startDaemon({ env: settings(), dataDir, apiKey });
          const client = clientOf(daemon);
          const ids = (await exported(client)).map(({ requestId = '' }) => requestId);
          expect(new Set(ids).size).toBe(ids.length);
          expect(new Set(kept).difference(new Set(ids))).toEqual(new Set());
          await expectBalanced(client);
          const { budgets: [budget] = [] } = await client.call(budgets.ListBudgets);
          const { total } = await client.call(usage.GetUsage);
          expect(budget?.total?.spentUsd).toBeCloseTo(total?.costUsd ?? 0, 6);
        }
      } finally {
        await daemon.stop();
        rmSync(dataDir, { recursive: true, force: true });
      }
    },
    60_000 + KILLS * 10_000,
  );

  test('by a stop: all is in the log, also what the stop has cut off', async () => {
    const env = { ...settings(), SVC_SERVER_STOP_TIMEOUT: '200ms' };
    const daemon = await startDaemon({ env });
    const asked: string[] = [];
    for (let i = 0; i < 20; i++) asked.push((await whole(daemon, { model: 'openai/gpt-4o' })).requestId);
    const open = await ask(daemon, {
      model: 'openai/hangs-midstream',
      stream: true,
      messages: say('a b c d'),
    });
    await open.body?.getReader().read();
    asked.push(open.headers.get('x-request-id') ?? '');
    await daemon.stop({ keep: true });
    const again = await startDaemon({ env, dataDir: daemon.dataDir, apiKey: daemon.apiKey });
    try {
      const ids = (await exported(clientOf(again))).map(({ requestId }) => requestId);
      expect(ids.sort()).toEqual(asked.sort());
    } finally {
      await again.stop();
    }
  });
});

describe('two tenants', () => {
  test('see their own requests, sums and budgets, and no others', async () => {
    const tenants = await TwoTenants.start({ env: settings() });
    try {
      const { daemon } = tenants;
      const stranger = await tenants.stranger('sam');
      const key = await tenants.key(tenants.fromPage(stranger.session), {
        type: 'API_KEY_TYPE_USER',
        userId: stranger.userId,
        name: 'theirs',
      });
      const own = clientOf(daemon);
      const theirs = createClient({ url: daemon.url, apiKey: key.key });
      const { requestId } = await whole(daemon, { model: 'local/echo' });
      const other = await ask({ url: daemon.url, apiKey: key.key }, { model: 'local/echo' });
      const otherId = other.headers.get('x-request-id') ?? '';
      await own.call(budgets.SetBudget, { params: { subject: 'tenant' }, body: { dayUsd: 5 } });
      for (const [client, mine, foreign] of [
        [own, requestId, otherId],
        [theirs, otherId, requestId],
      ] as const) {
        expect((await exported(client)).map((one) => one.requestId)).toEqual([mine]);
        expect((await client.call(usage.GetUsage)).total?.requests).toBe('1');
        expect(client.call(usage.GetRequest, { params: { requestId: foreign } })).rejects.toThrow(
          'There is no request',
        );
      }
      expect((await theirs.call(budgets.ListBudgets)).budgets).toEqual([]);
      expect(theirs.call(budgets.DeleteBudget, { params: { subject: 'tenant' } })).rejects.toThrow(
        'There is no budget',
      );
    } finally {
      await tenants.stop();
    }
  });
});
