import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { cpSync, rmSync } from 'node:fs';
import OpenAI from 'openai';
import { cache } from '../src/api/gateway/cache.ts';
import { createClient } from '../src/client/client.ts';
import { type CountedUpstream, startCounted } from './support/counted-upstream.ts';
import { startDaemon, svcCommand, type TestDaemon } from './support/daemon.ts';
import { startRedis } from './support/redis-server.ts';
import { clientOf } from './support/scene.ts';
import { type Person, TwoTenants } from './support/tenants/two-tenants.ts';

let upstream: CountedUpstream;
let daemon: TestDaemon;
let client: OpenAI;

const env = (more: Readonly<Record<string, string>> = {}) => ({
  OPENAI_BASE_URL: upstream.url,
  OPENAI_API_KEY: 'sk-counted-0123456789',
  SVC_CACHE_ENABLED: 'true',
  ...more,
});

const clientFor = ({ url, apiKey }: Pick<TestDaemon, 'url' | 'apiKey'>) =>
  new OpenAI({ baseURL: `${url}/compat/v1`, apiKey, maxRetries: 0 });

beforeAll(async () => {
  upstream = startCounted();
  daemon = await startDaemon({ env: env() });
  client = clientFor(daemon);
}, 60_000);

afterAll(async () => {
  await daemon?.stop();
  await upstream?.stop();
});

const say = (content: string) => [{ role: 'user' as const, content }];

async function ask(
  content: string,
  {
    by = client,
    headers = {},
    ...more
  }: { by?: OpenAI; headers?: Record<string, string> } & Record<string, unknown> = {},
) {
  const body = { model: 'openai/gpt-test', messages: say(content), ...more };
  const { data, response } = await by.chat.completions.create(body as never, { headers }).withResponse();
  return {
    text: (data as OpenAI.ChatCompletion).choices[0]?.message.content,
    cache: response.headers.get('x-svc-cache'),
    age: response.headers.get('age'),
    model: response.headers.get('x-svc-model'),
  };
}

const chats = () => upstream.calls.get('chat/completions') ?? 0;

describe('the exact cache', () => {
  test('answers the same request from what it keeps, and does not ask the model', async () => {
    const first = await ask('one two three');
    const before = chats();
    const second = await ask('one two three');
    expect(first.cache).toBe('miss');
    expect(second).toMatchObject({ text: first.text as string, cache: 'hit', model: 'gpt-test' });
    expect(Number(second.age)).toBeGreaterThanOrEqual(0);
    expect(chats()).toBe(before);
  });

  test.each([
    ['a temperature', { temperature: 0.5 }],
    ['a seed', { seed: 7 }],
    ['tools', { tools: [{ type: 'function', function: { name: 'read', parameters: { type: 'object' } } }] }],
    ['a form of the answer', { response_format: { type: 'json_object' } }],
    ['a field that nobody here knows', { verbosity_of_tomorrow: 'high' }],
    ['another model', { model: 'openai/gpt-test-mini' }],
  ])('asks again with %s', async (_, more) => {
    await ask('what changes the answer');
    const before = chats();
    expect((await ask('what changes the answer', more)).cache).toBe('miss');
    expect(chats()).toBe(before + 1);
  });

  test('does not mind who asks', async () => {
    await ask('who asks', { user: 'ada' });
    expect((await ask('who asks', { user: 'bob', metadata: { trace: '1' } })).cache).toBe('hit');
  });

  test('keeps no stream, and answers none', async () => {
    const before = chats();
    for (let round = 0; round < 2; round++) {
      const stream = await client.chat.completions.create({
        model: 'openai/gpt-test',
        messages: say('in pieces'),
        stream: true,
      });
      for await (const _ of stream);
    }
    expect(chats()).toBe(before + 2);
    expect((await ask('in pieces')).cache).toBe('miss');
  });

  test('keeps neither failures nor what a filter cut off', async () => {
    for (const model of ['openai/fails', 'openai/filtered']) {
      await ask('not whole', { model }).catch(() => undefined);
      const before = chats();
      await ask('not whole', { model }).catch(() => undefined);
      expect(chats()).toBeGreaterThan(before);
    }
  });

  test('answers of other surfaces are kept too', async () => {
    const vectors = () => client.embeddings.create({ model: 'openai/embed', input: 'abc' });
    const first = await vectors();
    const before = upstream.calls.get('embeddings');
    expect(await vectors()).toEqual(first);
    expect(upstream.calls.get('embeddings')).toBe(before as number);
    const message = () =>
      fetch(`${daemon.url}/compat/anthropic/v1/messages`, {
        method: 'POST',
        headers: { 'x-api-key': daemon.apiKey, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'openai/gpt-test', max_tokens: 50, messages: say('a message') }),
      });
    expect((await message()).headers.get('x-svc-cache')).toBe('miss');
    expect((await message()).headers.get('x-svc-cache')).toBe('hit');
    const response = () =>
      client.responses.create({ model: 'openai/gpt-test', input: 'a response' }).withResponse();
    const made = await response();
    const again = await response();
    expect([made, again].map(({ response: { headers } }) => headers.get('x-svc-cache'))).toEqual([
      'miss',
      'hit',
    ]);
    expect(again.data.output_text).toBe(made.data.output_text);
    expect(again.data.id).not.toBe(made.data.id);
  });
});

describe('what a caller wants of it', () => {
  test('bypass and no-store neither use nor keep', async () => {
    await ask('past it');
    const ways: Record<string, string>[] = [{ 'x-svc-cache': 'bypass' }, { 'cache-control': 'no-store' }];
    for (const headers of ways) {
      const before = chats();
      expect((await ask('past it', { headers })).cache).toBe('bypass');
      expect(chats()).toBe(before + 1);
    }
    await ask('never kept', { headers: { 'x-svc-cache': 'bypass' } });
    expect((await ask('never kept')).cache).toBe('miss');
  });

  test('refresh and no-cache put a new answer in place of the old', async () => {
    const old = await ask('afresh');
    const fresh = await ask('afresh', { headers: { 'x-svc-cache': 'refresh' } });
    expect(fresh.text).not.toBe(old.text);
    expect((await ask('afresh')).text).toBe(fresh.text);
    const newest = await ask('afresh', { headers: { 'cache-control': 'no-cache' } });
    expect((await ask('afresh')).text).toBe(newest.text);
  });

  test('an answer lives as long as its caller says', async () => {
    await ask('short life', { headers: { 'x-svc-cache-ttl': '1' } });
    expect((await ask('short life')).cache).toBe('hit');
    await Bun.sleep(1100);
    expect((await ask('short life', { headers: { 'cache-control': 'max-age=60' } })).cache).toBe('miss');
  });

  test('an answer that is too old will not do', async () => {
    await ask('too old');
    await Bun.sleep(20);
    expect((await ask('too old', { headers: { 'cache-control': 'max-age=0' } })).cache).toBe('miss');
  });

  test('only-if-cached asks no model', async () => {
    const before = chats();
    const error = await ask('nowhere kept', { headers: { 'x-svc-cache': 'only-if-cached' } }).catch(
      (cause: unknown) => cause as { status: number; code: string },
    );
    expect(error).toMatchObject({ status: 504, code: 'not_cached' });
    expect(chats()).toBe(before);
  });

  test.each([
    ['x-svc-cache', 'sometimes'],
    ['x-svc-cache-ttl', '-1'],
    ['x-svc-cache-ttl', '99999999'],
  ])('%s: %s is refused by name', async (name, value) => {
    const error = await ask('bad header', { headers: { [name]: value } }).catch((cause: unknown) => cause);
    expect(error).toMatchObject({ status: 400, param: name });
  });
});

test('svc cache shows and clears it', async () => {
  await ask('to be cleared');
  await ask('to be cleared');
  const state = await clientOf(daemon).call(cache.GetCache);
  expect(state.enabled).toBe(true);
  expect(state.hits).toBeGreaterThan(0);
  expect(state.entries).toBeGreaterThan(0);
  const svc = async (...argv: string[]) => {
    const child = Bun.spawn([...svcCommand(), ...argv], {
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
    await child.exited;
    return (await new Response(child.stdout).text()) + (await new Response(child.stderr).text());
  };
  expect(await svc('cache', 'stats')).toContain('memory, 10m');
  expect(await svc('cache', 'clear')).toMatch(/Forgot \d+ answers/);
  expect((await ask('to be cleared')).cache).toBe('miss');
});

describe('after kill -9', () => {
  test('answers that were written are found again', async () => {
    const one = await startDaemon({ env: env() });
    const first = await ask('survives', { by: clientFor(one) });
    await Bun.sleep(800);
    await one.kill9();
    const two = await startDaemon({ env: env(), dataDir: one.dataDir, apiKey: one.apiKey });
    const before = chats();
    expect(await ask('survives', { by: clientFor(two) })).toMatchObject({
      text: first.text as string,
      cache: 'hit',
    });
    expect(chats()).toBe(before);
    await two.kill9();
    for (const end of ['-wal', '-shm']) rmSync(`${one.dataDir}/cache.db${end}`, { force: true });
    await Bun.write(`${one.dataDir}/cache.db`, 'no database');
    const three = await startDaemon({ env: env(), dataDir: one.dataDir, apiKey: one.apiKey });
    expect((await ask('survives', { by: clientFor(three) })).cache).toBe('miss');
    await three.stop();
  }, 60_000);
});

describe('the semantic cache', () => {
  let alike: TestDaemon;
  let by: OpenAI;

  beforeAll(async () => {
    alike = await startDaemon({
      env: env({ SVC_CACHE_SEMANTIC_ENABLED: 'true', SVC_CACHE_SEMANTIC_MODEL: 'openai/embed' }),
    });
    by = clientFor(alike);
  }, 60_000);

  afterAll(() => alike?.stop());

  test('answers what says nearly the same, and says so', async () => {
    const first = await ask('Please tell me how tall mountains are', { by });
    const before = chats();
    const second = await ask('please tell me, how tall mountains are?', { by });
    expect(second).toMatchObject({ text: first.text as string, cache: 'hit; semantic' });
    expect(chats()).toBe(before);
  });

  test.each([
    ['another number', 'How long is a walk of 12 miles', 'How long is a walk of 21 miles'],
    ['a negation', 'Should one eat the mushrooms', 'Should one not eat the mushrooms'],
    ['another name', 'What do people eat in Peru', 'What do people eat in Puer'],
  ])('%s is another question', async (_, one, other) => {
    await ask(one, { by });
    expect((await ask(other, { by })).cache).toBe('miss');
  });

  test('a vector that does not come in time is a miss', async () => {
    expect((await ask('tell me slowly', { by })).cache).toBe('miss');
    expect((await ask('tell me slowly', { by })).cache).toBe('hit');
  }, 20_000);

  test('everything else has to be the same', async () => {
    const system = (content: string) => ({
      by,
      messages: [{ role: 'system', content }, ...say('tell me about rivers')],
    });
    await ask('', system('Be brief.'));
    expect((await ask('', system('Be long.'))).cache).toBe('miss');
    expect((await ask('', { ...system('Be brief.'), temperature: 1 })).cache).toBe('miss');
    expect((await ask('', system('Be brief.'))).cache).toBe('hit');
  });
});

describe('Redis', () => {
  const PASSWORD = 'a password, for tests';

  test('is shared by nodes, and may be away', async () => {
    const redis = await startRedis(PASSWORD);
    const shared = env({
      SVC_CACHE_TYPE: 'redis',
      SVC_CACHE_REDIS_ADDRESS: `127.0.0.1:${redis.port}`,
      SVC_CACHE_REDIS_PASSWORD: PASSWORD,
    });
    const { dataDir, apiKey, stop } = await startDaemon({ env: shared });
    await stop({ keep: true });
    const copy = `${dataDir}-copy`;
    cpSync(dataDir, copy, { recursive: true });
    const one = await startDaemon({ env: shared, dataDir, apiKey });
    const two = await startDaemon({ env: shared, dataDir: copy, apiKey });
    try {
      await untilHit(() => ask('over nodes', { by: clientFor(one) }));
      await untilHit(() => ask('something else', { by: clientFor(two) }));
      const before = chats();
      expect((await ask('over nodes', { by: clientFor(two) })).cache).toBe('hit');
      expect(chats()).toBe(before);
      await redis.stop();
      expect((await ask('over nodes', { by: clientFor(two) })).cache).toBe('miss');
      expect((await ask('over nodes', { by: clientFor(two) })).cache).toBe('miss');
      expect(one.log() + two.log()).not.toContain(PASSWORD);
    } finally {
      await Promise.all([one.stop(), two.stop(), redis.stop()]);
    }
  }, 120_000);
});

async function untilHit(once: () => Promise<{ cache: string | null }>): Promise<void> {
  for (let attempt = 0; attempt < 100; attempt++) {
    if ((await once()).cache === 'hit') return;
    await Bun.sleep(50);
  }
  throw new Error('never kept');
}

describe('two tenants', () => {
  let tenants: TwoTenants;

  beforeAll(async () => {
    tenants = await TwoTenants.start({ env: env({ SVC_CACHE_SEMANTIC_ENABLED: 'true' }) });
  }, 60_000);

  afterAll(() => tenants?.stop());

  test('do not get, see or clear the answers of each other', async () => {
    const of = async (person: Person) => {
      const wanted = { type: 'API_KEY_TYPE_USER', userId: person.userId, name: 'test' };
      const { key } = await tenants.key(tenants.fromPage(person.session), wanted);
      return { url: tenants.daemon.url, apiKey: key };
    };
    const ada = await of(await tenants.member('ada', 'owner'));
    const sam = await of(await tenants.stranger('sam'));
    const first = await ask('the same words', { by: clientFor(ada) });
    const other = await ask('the same words', { by: clientFor(sam) });
    expect(other.cache).toBe('miss');
    expect(other.text).not.toBe(first.text);
    const state = await createClient(sam).call(cache.GetCache);
    expect(state).toMatchObject({ entries: 1, hits: 0, misses: 1 });
    expect(await createClient(sam).call(cache.ClearCache)).toEqual({ cleared: 1 });
    expect(await ask('the same words', { by: clientFor(ada) })).toMatchObject({
      text: first.text as string,
      cache: 'hit',
    });
  });
});
