import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import Anthropic, {
  APIError,
  AuthenticationError,
  BadRequestError,
  InternalServerError,
  NotFoundError,
  OverloadedError,
  RateLimitError,
} from '@anthropic-ai/sdk';
import { startDaemon, type TestDaemon } from './support/daemon.ts';
import { startUpstream, type TestUpstream } from './support/upstream.ts';
import { startMessagesUpstream, type TestMessagesUpstream } from './support/upstream-anthropic.ts';

let same: TestMessagesUpstream;
let other: TestUpstream;
let daemon: TestDaemon;
let client: Anthropic;

beforeAll(async () => {
  [same, other] = await Promise.all([startMessagesUpstream(), startUpstream()]);
  const env = {
    ANTHROPIC_BASE_URL: same.url,
    ANTHROPIC_API_KEY: same.apiKey,
    OPENAI_BASE_URL: other.url,
    OPENAI_API_KEY: other.apiKey,
  };
  daemon = await startDaemon({ env });
  client = new Anthropic({ baseURL: `${daemon.url}/compat/anthropic`, apiKey: daemon.apiKey, maxRetries: 0 });
});

afterAll(async () => {
  await daemon?.stop();
  await same?.stop();
  await other?.stop();
});

const say = (content: string) => [{ role: 'user' as const, content }];
const tool = (name: string) => ({ name, input_schema: { type: 'object' as const } });
const without = (headers: Record<string, string>) => ({
  headers: { authorization: null, 'x-api-key': null, ...headers },
});

describe.each([
  ['a provider of its dialect', 'anthropic/claude-opus-4-8'],
  ['a provider of chat completions', 'openai/gpt-test'],
])('the stock client of the Messages dialect, over %s', (_, model) => {
  test('gets a message', async () => {
    const message = await client.messages.create({ model, max_tokens: 50, messages: say('one two three') });
    expect(message.content).toMatchObject([{ type: 'text', text: 'three two one' }]);
    expect(message).toMatchObject({ type: 'message', role: 'assistant', stop_reason: 'end_turn' });
    expect(message.usage.input_tokens).toBeGreaterThan(0);
    expect(message.usage.output_tokens).toBe(3);
    expect(message._request_id).toStartWith('req_');
  });

  test('streams one, its usage at the end', async () => {
    const stream = client.messages.stream({ model, max_tokens: 50, messages: say('one two three') });
    const heard: string[] = [];
    stream.on('text', (text) => heard.push(text));
    const message = await stream.finalMessage();
    expect(heard.length).toBeGreaterThan(1);
    expect(heard.join('').trim()).toBe('three two one');
    expect(message.content).toMatchObject([{ type: 'text', text: heard.join('') }]);
    expect(message.usage.input_tokens).toBeGreaterThan(0);
    expect(message.usage.output_tokens).toBe(3);
  });

  test('gets parallel calls of tools, whole and streamed', async () => {
    const asked = {
      model,
      max_tokens: 500,
      messages: say('left right'),
      tools: [tool('read'), tool('write')],
    };
    for (const message of [
      await client.messages.create(asked),
      await client.messages.stream(asked).finalMessage(),
    ]) {
      const calls = message.content.filter((block) => block.type === 'tool_use');
      expect(calls.map(({ name, input }) => [name, input])).toEqual([
        ['read', { text: 'right left' }],
        ['write', { text: 'right left' }],
      ]);
      expect(message.stop_reason).toBe('tool_use');
    }
  });

  test('leaves a stream, and the upstream is left too', async () => {
    const upstream = model.startsWith('anthropic') ? same : other;
    const { left } = await upstream.seen();
    const provider = model.slice(0, model.indexOf('/'));
    const stream = client.messages.stream({
      model: `${provider}/hangs-midstream`,
      max_tokens: 50,
      messages: say('a b c d e f'),
    });
    for await (const event of stream) if (event.type === 'content_block_delta') break;
    while ((await upstream.seen()).left === left) await Bun.sleep(1);
  });
});

test('the stock client lists the models of every provider', async () => {
  const ids: string[] = [];
  for await (const { id, type } of client.models.list()) if (type === 'model') ids.push(id);
  for (const id of ['local/echo', 'openai/gpt-test', 'anthropic/claude-opus-4-8']) expect(ids).toContain(id);
});

describe('over a provider of its dialect', () => {
  const model = 'anthropic/claude-opus-4-8';

  test('everything goes on as it came, the headers of the dialect among it', async () => {
    const body = {
      max_tokens: 5000,
      messages: say('one two'),
      system: [{ type: 'text' as const, text: 'be brief', cache_control: { type: 'ephemeral' as const } }],
      thinking: { type: 'adaptive' as const },
      metadata: { user_id: 'u_1' },
    };
    await client.messages.create(
      { model, ...body },
      { headers: { 'anthropic-beta': 'context-1m-2025-08-07' } },
    );
    const { lastBody, lastHeaders } = await same.seen();
    expect(lastBody).toEqual({ model: 'claude-opus-4-8', ...body });
    expect(lastHeaders).toMatchObject({
      'anthropic-version': '2026-10-21',
      'anthropic-beta': 'context-1m-2025-08-07',
      'x-api-key': same.apiKey,
    });
    expect(lastHeaders.authorization).toBeUndefined();
  });

  test('thinks, and its thoughts go back with their signatures', async () => {
    const asked = { model, max_tokens: 5000, thinking: { type: 'adaptive' as const }, tools: [tool('read')] };
    const first = await client.messages.stream({ ...asked, messages: say('one two') }).finalMessage();
    expect(first.content[0]).toMatchObject({ type: 'thinking', thinking: 'They said one two.' });
    const call = first.content.find((block) => block.type === 'tool_use');
    const result = { type: 'tool_result' as const, tool_use_id: call?.id ?? '', content: 'four five' };
    const messages = [
      ...say('one two'),
      { role: 'assistant' as const, content: first.content },
      { role: 'user' as const, content: [result] },
    ];
    const second = await client.messages.create({ ...asked, messages });
    expect(second.content.at(-1)).toMatchObject({ type: 'text', text: 'five four' });
  });

  test('tokens of the cache are written once and read after that', async () => {
    const system = [
      {
        type: 'text' as const,
        text: `long ${crypto.randomUUID()}`,
        cache_control: { type: 'ephemeral' as const },
      },
    ];
    const ask = () => client.messages.create({ model, max_tokens: 50, system, messages: say('hi') });
    expect((await ask()).usage.cache_creation_input_tokens).toBeGreaterThan(0);
    expect((await ask()).usage.cache_read_input_tokens).toBeGreaterThan(0);
  });

  test('tokens are counted by the provider', async () => {
    const { input_tokens } = await client.messages.countTokens({ model, messages: say('one two three') });
    expect(input_tokens).toBeGreaterThan(10);
    const refused = await client.messages
      .countTokens({ model: 'openai/gpt-test', messages: say('x') })
      .catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(BadRequestError);
    expect(String(refused)).toContain('count tokens');
  });

  test('thoughts of another provider are left behind when a conversation moves here', async () => {
    const content = [
      { type: 'thinking' as const, thinking: 'Hm.', signature: '' },
      { type: 'text' as const, text: 'three' },
    ];
    const messages = [...say('one'), { role: 'assistant' as const, content }, ...say('four five')];
    const message = await client.messages.create({ model, max_tokens: 50, messages });
    expect(message.content).toMatchObject([{ type: 'text', text: 'five four' }]);
  });
});

describe('over a provider of chat completions', () => {
  test('the conversation is said in its words', async () => {
    await client.messages.create({
      model: 'openai/gpt-test',
      max_tokens: 50,
      system: 'be brief',
      stop_sequences: ['END'],
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'look' },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGk=' } },
          ],
        },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'read', input: { a: 1 } }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'done' }] },
      ],
      tools: [tool('read')],
    });
    const { lastBody } = await other.seen();
    expect(lastBody).toMatchObject({
      model: 'gpt-test',
      max_completion_tokens: 50,
      stop: ['END'],
      messages: [
        { role: 'system', content: 'be brief' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'look' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } },
          ],
        },
        {
          role: 'assistant',
          tool_calls: [{ id: 'toolu_1', function: { name: 'read', arguments: '{"a":1}' } }],
        },
        { role: 'tool', tool_call_id: 'toolu_1', content: 'done' },
      ],
      tools: [{ type: 'function', function: { name: 'read' } }],
    });
  });
});

describe('what the stock client makes of errors', () => {
  const ask = (model: string, more: object = {}, using = client) =>
    using.messages.create({ model, max_tokens: 50, messages: say('a b c d e f'), ...more } as never).then(
      () => undefined,
      (error: unknown) => error as APIError,
    );

  test('a model that does not exist: 404 with the nearest name', async () => {
    const error = await ask('local/ehco');
    expect(error).toBeInstanceOf(NotFoundError);
    expect(error).toMatchObject({ type: 'not_found_error', errorCode: 'model_not_found' });
    expect(error?.message).toContain('local/echo');
    expect(error?.requestID).toStartWith('req_');
  });

  test('a body that is wrong: 400 that names the field, by us and by the provider', async () => {
    for (const [model, more, word] of [
      ['local/echo', { max_tokens: undefined }, 'max_tokens'],
      ['local/echo', { messages: [{ role: 'robot', content: 'hi' }] }, 'messages.0.role'],
      ['openai/gpt-test', { tools: [{ type: 'web_search_20250305', name: 'web_search' }] }, 'tools.0'],
      ['anthropic/claude-opus-4-8', { temperature: 0.5 }, 'temperature'],
    ] as const) {
      const error = await ask(model, more);
      expect(error).toBeInstanceOf(BadRequestError);
      expect(error?.type).toBe('invalid_request_error');
      expect(error?.message).toContain(word);
    }
  });

  test('no key and a wrong one: 401, in either header', async () => {
    for (const headers of [
      {},
      { 'x-api-key': `s_${'x'.repeat(43)}` },
      { authorization: `Bearer s_${'x'.repeat(43)}` },
    ]) {
      const error = await client.messages
        .create(
          { model: 'local/echo', max_tokens: 5, messages: say('hi') },
          without(headers as Record<string, string>),
        )
        .catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(AuthenticationError);
      expect(error).toMatchObject({ type: 'authentication_error' });
    }
    const answer = await client.messages.create(
      { model: 'local/echo', max_tokens: 5, messages: say('hi') },
      without({ 'x-api-key': daemon.apiKey }),
    );
    expect(answer.content).toMatchObject([{ text: 'hi' }]);
  });

  test('limits, overload and failures of the provider keep their kind, and the key is not shown', async () => {
    const limited = await ask('anthropic/rate-limited');
    expect(limited).toBeInstanceOf(RateLimitError);
    expect(limited?.headers?.get('retry-after')).toBe('7');
    expect(await ask('anthropic/overloaded')).toBeInstanceOf(OverloadedError);
    const refused = await ask('anthropic/wants-another-key');
    expect(refused?.status).toBe(502);
    const broken = await ask('anthropic/broken');
    expect(broken).toBeInstanceOf(InternalServerError);
    for (const error of [limited, refused, broken]) expect(error?.message).not.toContain(same.apiKey);
  });

  test('an overload in the first event is one before the answer', async () => {
    const error = await ask('anthropic/overloaded-at-once', { stream: true });
    expect(error).toBeInstanceOf(OverloadedError);
  });

  for (const model of [
    'anthropic/overloaded-midstream',
    'anthropic/fails-midstream',
    'openai/fails-midstream',
  ])
    test(`${model}: an error after what had come`, async () => {
      const stream = await client.messages.create({
        model,
        max_tokens: 50,
        messages: say('a b c d e f'),
        stream: true,
      });
      let text = '';
      let thrown: unknown;
      try {
        for await (const event of stream)
          if (event.type === 'content_block_delta' && event.delta.type === 'text_delta')
            text += event.delta.text;
      } catch (error) {
        thrown = error;
      }
      expect('f e d c b a '.startsWith(text)).toBe(true);
      expect(thrown).toBeInstanceOf(APIError);
      expect(thrown).toMatchObject({ type: model.includes('overloaded') ? 'overloaded_error' : 'api_error' });
    });

  test('a place that does not exist: 404 in the dialect', async () => {
    const response = await fetch(`${daemon.url}/compat/anthropic/v1/nothing`, {
      headers: { 'x-api-key': daemon.apiKey },
    });
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ type: 'error', error: { type: 'not_found_error' } });
  });
});

test('another provider answers when the first is overloaded', async () => {
  const headers = { 'x-svc-fallback': 'openai/gpt-test', 'x-svc-retries': '0' };
  const message = await client.messages
    .stream({ model: 'anthropic/overloaded-at-once', max_tokens: 50, messages: say('one two') }, { headers })
    .finalMessage();
  expect(message.content).toMatchObject([{ type: 'text', text: 'two one ' }]);
  expect(message.model).toContain('gpt-test');
});
