import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import OpenAI, { APIError, BadRequestError, RateLimitError } from 'openai';
import { startDaemon, type TestDaemon } from './support/daemon.ts';
import { startMessagesUpstream, type TestMessagesUpstream } from './support/upstream-anthropic.ts';

const MODEL = 'anthropic/claude-opus-4-8';
const OLDER = 'anthropic/claude-sonnet-4-5';

let upstream: TestMessagesUpstream;
let daemon: TestDaemon;
let client: OpenAI;

beforeAll(async () => {
  upstream = await startMessagesUpstream();
  const env = { ANTHROPIC_BASE_URL: upstream.url, ANTHROPIC_API_KEY: upstream.apiKey };
  daemon = await startDaemon({ env });
  client = new OpenAI({ baseURL: `${daemon.url}/compat/v1`, apiKey: daemon.apiKey, maxRetries: 0 });
});

afterAll(async () => {
  await daemon?.stop();
  await upstream?.stop();
});

const say = (content: string) => [{ role: 'user' as const, content }];
const tool = (name: string) => ({
  type: 'function' as const,
  function: { name, parameters: { type: 'object' } },
});

type Message = OpenAI.Chat.ChatCompletionMessage & {
  reasoning_content?: string;
  provider_content?: unknown[];
};

describe('the stock client of chat completions, over a provider of the Messages dialect', () => {
  test('lists its models, all pages of them', async () => {
    const ids = (await client.models.list()).data.map(({ id }) => id);
    expect(ids).toContain('anthropic/claude-opus-4-8');
    expect(ids).toContain('anthropic/redacts');
  });

  test('completes, whole and streamed', async () => {
    const asked = { model: MODEL, messages: say('one two three'), temperature: 1.8, seed: 3 };
    const whole = await client.chat.completions.create(asked);
    const streamed = await client.chat.completions
      .stream({ ...asked, stream_options: { include_usage: true } })
      .finalChatCompletion();
    for (const { choices, usage, model } of [whole, streamed]) {
      expect(choices[0]).toMatchObject({ message: { content: 'three two one' }, finish_reason: 'stop' });
      expect(usage?.completion_tokens).toBe(3);
      expect(usage?.prompt_tokens).toBeGreaterThan(3);
      expect(model).toBe('claude-opus-4-8');
    }
    expect((await upstream.seen()).lastHeaders).toMatchObject({
      'x-api-key': upstream.apiKey,
      'anthropic-version': '2023-06-01',
    });
  });

  test('puts parallel calls together from a stream, and gives their results back', async () => {
    const tools = [tool('read'), tool('write')];
    const first = await client.chat.completions
      .stream({ model: MODEL, messages: say('left right'), tools })
      .finalChatCompletion();
    const said = first.choices[0]?.message;
    const calls = said?.tool_calls ?? [];
    expect(
      calls.map(
        (call) => call.type === 'function' && [call.function.name, JSON.parse(call.function.arguments)],
      ),
    ).toEqual([
      ['read', { text: 'right left' }],
      ['write', { text: 'right left' }],
    ]);
    expect(first.choices[0]?.finish_reason).toBe('tool_calls');
    const results = calls.map(({ id }, i) => ({
      role: 'tool' as const,
      tool_call_id: id,
      content: `result ${i}`,
    }));
    const messages = [...say('left right'), said as Message, ...results, ...say('and?')];
    const second = await client.chat.completions.create({ model: MODEL, tools, messages });
    expect(second.choices[0]?.message.content).toBe('and? 1 result 0 result');
  });

  for (const model of [MODEL, OLDER, 'anthropic/redacts'])
    test(`${model} thinks, and its thoughts go back before the calls that they led to`, async () => {
      const asked = { model, reasoning_effort: 'high' as const, tools: [tool('read')] };
      const first = await client.chat.completions.create({ ...asked, messages: say('one two') });
      const said = first.choices[0]?.message as Message;
      expect(said.reasoning_content).toBe('They said one two.');
      expect(said.provider_content).toHaveLength(model.endsWith('redacts') ? 2 : 1);
      expect(first.usage?.completion_tokens_details?.reasoning_tokens).toBeGreaterThan(0);
      const id = said.tool_calls?.[0]?.id ?? '';
      const messages = [
        ...say('one two'),
        said,
        { role: 'tool' as const, tool_call_id: id, content: 'four five' },
      ];
      const second = await client.chat.completions.create({ ...asked, messages });
      expect(second.choices[0]?.message.content).toBe('five four');
      const { provider_content: _, ...forgetful } = said;
      const third = await client.chat.completions.create({
        ...asked,
        messages: [...say('one two'), forgetful, ...messages.slice(2)],
      } as never);
      expect(third.choices[0]?.message.content).toBe('five four');
    });

  test('streams thoughts as they come', async () => {
    const asked = {
      model: MODEL,
      reasoning_effort: 'low' as const,
      messages: say('one two'),
      stream: true as const,
    };
    let [thought, text] = ['', ''];
    let kept: unknown[] = [];
    for await (const { choices } of await client.chat.completions.create(asked)) {
      const delta = (choices[0]?.delta ?? {}) as Partial<Message>;
      thought += delta.reasoning_content ?? '';
      text += delta.content ?? '';
      kept = [...kept, ...(delta.provider_content ?? [])];
    }
    expect([thought, text]).toEqual(['They said one two.', 'two one']);
    expect(kept).toMatchObject([{ block: { type: 'thinking', thinking: 'They said one two.' } }]);
  });

  for (const model of [MODEL, OLDER, 'anthropic/claude-3-5-haiku-20241022', 'anthropic/claude-opus-5-5'])
    test(`${model} answers in JSON of a schema`, async () => {
      const schema = {
        type: 'object',
        properties: { words: { type: 'string' }, count: { type: 'integer', minimum: 1 } },
      };
      const response_format = { type: 'json_schema' as const, json_schema: { name: 'answer', schema } };
      const asked = { model, messages: say('one two'), response_format };
      const whole = await client.chat.completions.create(asked);
      const streamed = await client.chat.completions.stream(asked).finalChatCompletion();
      for (const { choices } of [whole, streamed]) {
        expect(JSON.parse(choices[0]?.message.content ?? '')).toEqual({ words: 'two one', count: 2 });
        expect(choices[0]?.finish_reason).toBe('stop');
      }
    });

  test('shows pictures and documents, and keeps tokens of the cache apart', async () => {
    const content = [
      { type: 'text' as const, text: `see ${crypto.randomUUID()}`, cache_control: { type: 'ephemeral' } },
      { type: 'image_url' as const, image_url: { url: 'data:image/png;base64,aGk=' } },
      { type: 'file' as const, file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,aGk=' } },
    ];
    const ask = () => client.chat.completions.create({ model: MODEL, messages: [{ role: 'user', content }] });
    const first = await ask();
    expect(first.choices[0]?.message.content).toStartWith(
      'document:application/pdf:aGk= image:image/png:aGk=',
    );
    const written =
      (first.usage?.prompt_tokens_details as { cache_write_tokens?: number } | undefined)
        ?.cache_write_tokens ?? 0;
    const { usage } = await ask();
    expect(written).toBeGreaterThan(0);
    expect(usage?.prompt_tokens_details?.cached_tokens).toBe(written);
    expect(usage?.prompt_tokens).toBe(first.usage?.prompt_tokens as number);
  });

  test('names the pages that a search has found', async () => {
    const tools = [{ type: 'web_search_20250305', name: 'web_search' }] as never;
    const asked = { model: MODEL, messages: say('one two'), tools };
    const { choices } = await client.chat.completions.create(asked);
    const said = choices[0]?.message as Message;
    expect(said.content).toBe('I will look. two one');
    expect(said.annotations).toMatchObject([
      { url_citation: { url: 'https://example.com/a', start_index: 13, end_index: 20 } },
    ]);
    const again = await client.chat.completions.create({
      ...asked,
      messages: [...say('one two'), said, ...say('three')],
    });
    expect(again.choices[0]?.message.content).toContain('three');
  });

  test('says why an answer ended', async () => {
    const ended = async (model: string, more: object = {}) =>
      (
        await client.chat.completions.create({
          model: `anthropic/${model}`,
          messages: say('a b c d'),
          ...more,
        })
      ).choices[0];
    expect(await ended('claude-opus-4-8', { max_tokens: 2 })).toMatchObject({
      finish_reason: 'length',
      message: { content: 'd c' },
    });
    expect(await ended('claude-opus-4-8', { stop: ' b' })).toMatchObject({
      finish_reason: 'stop',
      message: { content: 'd c' },
    });
    expect(await ended('refuses')).toMatchObject({
      finish_reason: 'content_filter',
      message: { refusal: 'I will not.' },
    });
    expect(await ended('pauses')).toMatchObject({
      finish_reason: 'stop',
      native_finish_reason: 'pause_turn',
    });
    expect(await ended('fills-window')).toMatchObject({ finish_reason: 'length' });
  });

  test('takes instructions anywhere', async () => {
    const messages = [
      { role: 'system' as const, content: 'one' },
      ...say('a'),
      { role: 'assistant' as const, content: 'b' },
      { role: 'developer' as const, content: 'two' },
      ...say('c d'),
      { role: 'system' as const, content: 'three' },
    ];
    for (const model of [MODEL, OLDER]) {
      const { choices } = await client.chat.completions.create({ model, messages });
      expect(choices[0]?.message.content).toBe('d c');
    }
  });
});

describe('what the stock client makes of errors', () => {
  const ask = (model: string, more: object = {}) =>
    client.chat.completions
      .create({ model: `anthropic/${model}`, messages: say('a b c d e f'), ...more } as never)
      .then(
        () => undefined,
        (error: unknown) => error as APIError,
      );

  test('of the request: 400, in the provider’s words or ours', async () => {
    const several = await ask('claude-opus-4-8', { n: 2 });
    expect(several).toBeInstanceOf(BadRequestError);
    expect(several?.param).toBe('n');
    const named = await ask('claude-opus-4-8', { tools: [tool('no spaces here')] });
    expect(named).toBeInstanceOf(BadRequestError);
    expect(named?.type).toBe('invalid_request_error');
    expect(named?.message).toContain('tools.0');
  });

  test('of the provider: 429 with its wait, 502 else, and the key is not shown', async () => {
    const limited = await ask('rate-limited');
    expect(limited).toBeInstanceOf(RateLimitError);
    expect(limited?.headers?.get('retry-after')).toBe('7');
    for (const model of ['overloaded', 'broken', 'wants-another-key', 'page', 'fails-midstream']) {
      const error = await ask(model);
      expect(error?.status).toBeGreaterThanOrEqual(502);
      expect(error?.message).not.toContain(upstream.apiKey);
    }
  });

  for (const model of ['overloaded-midstream', 'fails-midstream', 'ends-early'])
    test(`${model}: an error after what had come`, async () => {
      const stream = await client.chat.completions.create({
        model: `anthropic/${model}`,
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
      expect('f e d c b a'.startsWith(text)).toBe(true);
      expect(thrown).toBeInstanceOf(APIError);
    });

  test('a stream that its caller leaves is left upstream', async () => {
    const { left } = await upstream.seen();
    const stream = await client.chat.completions.create({
      model: 'anthropic/hangs-midstream',
      messages: say('a b c d e f'),
      stream: true,
    });
    for await (const chunk of stream) if (chunk.choices[0]?.delta.content) break;
    while ((await upstream.seen()).left === left) await Bun.sleep(1);
  });
});
