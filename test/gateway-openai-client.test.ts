import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import OpenAI, {
  APIError,
  AuthenticationError,
  BadRequestError,
  NotFoundError,
  RateLimitError,
} from 'openai';
import { startDaemon, type TestDaemon } from './support/daemon.ts';
import { startUpstream, type TestUpstream } from './support/upstream.ts';

let upstream: TestUpstream;
let daemon: TestDaemon;
let client: OpenAI;

beforeAll(async () => {
  upstream = await startUpstream();
  const env = { OPENAI_BASE_URL: upstream.url, OPENAI_API_KEY: upstream.apiKey };
  daemon = await startDaemon({ env });
  client = new OpenAI({ baseURL: `${daemon.url}/compat/v1`, apiKey: daemon.apiKey, maxRetries: 0 });
});

afterAll(async () => {
  await daemon?.stop();
  await upstream?.stop();
});

const say = (content: string) => [{ role: 'user' as const, content }];

describe('the stock client', () => {
  test('lists the models of every provider, and gets one', async () => {
    const models = await client.models.list();
    const ids = models.data.map(({ id }) => id);
    expect(ids).toContain('local/echo');
    expect(ids).toContain('openai/gpt-test');
    const echo = await client.models.retrieve('local/echo');
    expect(echo).toMatchObject({ id: 'local/echo', object: 'model', owned_by: 'local' });
  });

  test('completes with local/echo', async () => {
    const completion = await client.chat.completions.create({
      model: 'local/echo',
      messages: say('one two three'),
    });
    expect(completion.choices[0]?.message.content).toBe('one two three');
    expect(completion.model).toBe('local/echo');
    expect(completion.usage?.total_tokens).toBe(6);
  });

  test('streams from local/echo word by word', async () => {
    const stream = await client.chat.completions.create({
      model: 'local/echo',
      messages: say('one two three'),
      stream: true,
      stream_options: { include_usage: true },
    });
    const words: string[] = [];
    let total = 0;
    for await (const chunk of stream) {
      const word = chunk.choices[0]?.delta.content;
      if (word) words.push(word);
      total = chunk.usage?.total_tokens ?? total;
    }
    expect(words).toEqual(['one ', 'two ', 'three']);
    expect(total).toBe(6);
  });

  test('completes through an upstream, by a name with and without its provider', async () => {
    for (const model of ['openai/gpt-test', 'gpt-test', 'openai/gpt-not-listed']) {
      const completion = await client.chat.completions.create({ model, messages: say('one two three') });
      expect(completion.choices[0]?.message.content).toBe('three two one');
      expect(completion.model).toBe(`${model.replace('openai/', '')}-2026-01-01`);
    }
    expect((await upstream.seen()).lastHeaders.authorization).toBe(`Bearer ${upstream.apiKey}`);
  });

  test('streams through an upstream, its usage at the end', async () => {
    const stream = client.chat.completions.stream({
      model: 'openai/gpt-test',
      messages: say('one two three'),
      stream_options: { include_usage: true },
    });
    const final = await stream.finalChatCompletion();
    expect(final.choices[0]?.message.content).toBe('three two one ');
    expect(final.choices[0]?.finish_reason).toBe('stop');
    expect(final.usage?.completion_tokens).toBe(3);
  });

  test('puts parallel tool calls together from a stream', async () => {
    const tool = (name: string) => ({
      type: 'function' as const,
      function: { name, parameters: { type: 'object' } },
    });
    const stream = client.chat.completions.stream({
      model: 'openai/gpt-test',
      messages: say('left right'),
      tools: [tool('read'), tool('write')],
    });
    const calls = (await stream.finalChatCompletion()).choices[0]?.message.tool_calls ?? [];
    const named = calls.map((call) =>
      call.type === 'function' ? [call.function.name, JSON.parse(call.function.arguments)] : [],
    );
    expect(named).toEqual([
      ['read', { text: 'right left' }],
      ['write', { text: 'right left' }],
    ]);
  });

  test('leaves a stream, and the upstream is left too', async () => {
    const { left } = await upstream.seen();
    const stream = await client.chat.completions.create({
      model: 'hangs-midstream',
      messages: say('a b c d'),
      stream: true,
    });
    for await (const chunk of stream) if (chunk.choices[0]?.delta.content) break;
    while ((await upstream.seen()).left === left) await Bun.sleep(1);
  });
});

describe('what the stock client makes of errors', () => {
  const ask = (model: string, more: object = {}) =>
    client.chat.completions.create({ model, messages: say('a b c d e f'), ...more } as never).then(
      () => undefined,
      (error: unknown) => error as APIError,
    );

  test('a model that does not exist: 404 with the nearest name', async () => {
    const error = await ask('local/ehco');
    expect(error).toBeInstanceOf(NotFoundError);
    expect(error?.code).toBe('model_not_found');
    expect(error?.message).toContain('local/echo');
  });

  test('a body without messages: 400 that names them', async () => {
    const error = await ask('local/echo', { messages: undefined });
    expect(error).toBeInstanceOf(BadRequestError);
    expect(error?.param).toBe('messages');
    const typed = await ask('local/echo', { temperature: 'hot' });
    expect(typed).toBeInstanceOf(BadRequestError);
    expect(typed?.param).toBe('temperature');
  });

  test('a limit of the upstream: 429 with its Retry-After', async () => {
    const error = await ask('rate-limited');
    expect(error).toBeInstanceOf(RateLimitError);
    expect(error?.headers?.get('retry-after')).toBe('7');
    expect(error?.message).toContain('slow down');
  });

  test('a key that the upstream refuses is not the caller’s own', async () => {
    const error = await ask('wants-another-key');
    expect(error).not.toBeInstanceOf(AuthenticationError);
    expect(error?.status).toBe(502);
    expect(error?.message).toContain('openai');
    expect(error?.message).not.toContain(upstream.apiKey);
  });

  test('a key of its own that is wrong: 401', async () => {
    const stranger = client.withOptions({ apiKey: `s_${'x'.repeat(43)}` });
    const error = await stranger.models.list().then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(AuthenticationError);
  });

  test('a stream that breaks off: an error after what had come', async () => {
    const stream = await client.chat.completions.create({
      model: 'fails-midstream',
      messages: say('a b c d e f'),
      stream: true,
    });
    let text = '';
    let thrown: unknown;
    try {
      for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
    } catch (error) {
      thrown = error;
    }
    expect('f e d c b a '.startsWith(text) && text !== '').toBe(true);
    expect(thrown).toBeInstanceOf(APIError);
    expect(String(thrown)).toContain('closed the connection');
  });
});
