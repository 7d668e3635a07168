import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import OpenAI, {
  APIError,
  AuthenticationError,
  BadRequestError,
  NotFoundError,
  RateLimitError,
} from 'openai';
import { startDaemon, type TestDaemon } from './support/daemon.ts';
import { failureOf, PIXEL, READ_AND_WRITE, type Said, say, streamedText } from './support/openai-calls.ts';
import { startGemini, type TestGemini } from './support/upstream-gemini.ts';

let fake: TestGemini;
let daemon: TestDaemon;
let client: OpenAI;

beforeAll(async () => {
  fake = await startGemini();
  daemon = await startDaemon({ env: { GEMINI_API_KEY: fake.apiKey, GOOGLE_GEMINI_BASE_URL: fake.url } });
  client = new OpenAI({ baseURL: `${daemon.url}/compat/v1`, apiKey: daemon.apiKey, maxRetries: 0 });
});

afterAll(async () => {
  await daemon?.stop();
  await fake?.stop();
});

const FLASH = 'google/gemini-2.5-flash';
const PRO = 'google/gemini-3-pro-preview';

describe('the stock client over Gemini', () => {
  test('completes and lists', async () => {
    const completion = await client.chat.completions.create({ model: FLASH, messages: say('one two three') });
    expect(completion.choices[0]?.message.content).toBe('three two one');
    expect(completion.usage?.total_tokens).toBeGreaterThan(3);
    const ids = (await client.models.list()).data.map(({ id }) => id);
    expect(ids).toContain(PRO);
  });

  test('streams word by word, with usage only when asked', async () => {
    const { text, events, usage } = await streamedText(client, {
      model: FLASH,
      messages: say('one two three'),
    });
    expect(text).toBe('three two one');
    expect(events).toBeGreaterThan(3);
    expect(usage).toBeUndefined();
    const counted = await streamedText(client, {
      model: FLASH,
      messages: say('one two three'),
      stream_options: { include_usage: true },
    });
    expect(counted.usage?.completion_tokens).toBe(3);
  });

  for (const model of [FLASH, PRO])
    test(`goes round with parallel tools: ${model}`, async () => {
      const stream = client.chat.completions.stream({
        model,
        messages: say('left right'),
        tools: READ_AND_WRITE,
      });
      const message = (await stream.finalChatCompletion()).choices[0]?.message as Said;
      const calls = message.tool_calls ?? [];
      expect(calls.map((call) => [call.function.name, JSON.parse(call.function.arguments)])).toEqual([
        ['read', { text: 'right left' }],
        ['write', { text: 'right left' }],
      ]);
      // A stock client sums up deltas that it knows; what is opaque has to be taken from the chunks.
      const opaque: unknown[] = [];
      for await (const { choices } of await client.chat.completions.create({
        model,
        messages: say('left right'),
        tools: READ_AND_WRITE,
        stream: true,
      }))
        opaque.push(
          ...((choices[0]?.delta as { provider_content?: unknown[] } | undefined)?.provider_content ?? []),
        );
      const answered = { ...message, provider_content: opaque } as Said;
      const results = calls.map(({ id }, place) => ({
        role: 'tool' as const,
        tool_call_id: id,
        content: `done ${place}`,
      }));
      const next = await client.chat.completions.create({
        model,
        tools: READ_AND_WRITE,
        messages: [...say('left right'), answered, ...results],
      });
      expect(next.choices[0]?.message.content).toBe(
        'read gave {"output":"done 0"}; write gave {"output":"done 1"}',
      );
    });

  test('keeps to a schema, and sees a picture', async () => {
    const schema = {
      type: 'object',
      properties: { title: { type: 'string' } },
      required: ['title'],
      additionalProperties: false,
    };
    const completion = await client.chat.completions.parse({
      model: FLASH,
      messages: say('one two'),
      response_format: { type: 'json_schema', json_schema: { name: 'page', strict: true, schema } },
    });
    expect(completion.choices[0]?.message.parsed).toEqual({ title: 'two one' } as never);
    const seen = await client.chat.completions.create({
      model: FLASH,
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'see' },
            { type: 'image_url', image_url: { url: PIXEL } },
          ],
        },
      ],
    });
    expect(seen.choices[0]?.message.content).toBe('see image/png:70');
  });

  test('thinks aloud', async () => {
    const { choices, usage } = await client.chat.completions.create({
      model: FLASH,
      reasoning_effort: 'low',
      messages: say('one two'),
    });
    expect((choices[0]?.message as { reasoning_content?: string } | undefined)?.reasoning_content).toBe(
      'I turn 7 letters. ',
    );
    expect(usage?.completion_tokens_details?.reasoning_tokens).toBe(4);
  });

  test('embeds', async () => {
    const { data } = await client.embeddings.create({
      model: 'google/gemini-embedding-001',
      input: ['a', 'b'],
      dimensions: 5,
    });
    expect(data.map(({ embedding }) => embedding.length)).toEqual([5, 5]);
    expect(data[0]?.embedding).not.toEqual(data[1]?.embedding);
  });
});

describe('what the stock client makes of failures', () => {
  const ask = (model: string, more: object = {}) =>
    failureOf(
      client.chat.completions.create({ model: `google/${model}`, messages: say('a b c d'), ...more }),
    );

  test('a limit: 429 with the time to wait', async () => {
    const error = await ask('rate-limited');
    expect(error).toBeInstanceOf(RateLimitError);
    expect(error.headers?.get('retry-after')).toBe('7');
  });

  test('a request that the provider refuses: 400 with its words', async () => {
    const tools = [{ type: 'function', function: { name: 'not a name' } }];
    const error = await ask('gemini-2.5-flash', { tools });
    expect(error).toBeInstanceOf(BadRequestError);
    expect(error.message).toContain('Invalid function name');
  });

  test('a model that leads elsewhere: 404', async () => {
    expect(await ask('../files')).toBeInstanceOf(NotFoundError);
  });

  test('a provider that fails: 502 without the key, before and in the middle of a stream', async () => {
    for (const more of [{}, { stream: true }]) {
      const error = await ask('broken', more);
      expect(error.status).toBe(502);
      expect(error.message).not.toContain(fake.apiKey);
      expect(error).not.toBeInstanceOf(AuthenticationError);
    }
    const cut = await failureOf(
      streamedText(client, { model: 'google/throttled-midstream', messages: say('a b c d') }),
    );
    expect(cut).toBeInstanceOf(APIError);
  });

  test('a client that leaves: the provider is left too', async () => {
    const { left } = await fake.seen();
    const stream = await client.chat.completions.create({
      model: 'google/hangs-midstream',
      stream: true,
      messages: say('a b c d'),
    });
    for await (const chunk of stream) if (chunk.choices[0]?.delta.content) break;
    while ((await fake.seen()).left === left) await Bun.sleep(1);
  });
});

test('the key stands in a header and never in an address or the log', async () => {
  const { lastUrl, lastHeaders } = await fake.seen();
  expect(lastUrl).not.toContain(fake.apiKey);
  expect(lastHeaders['x-goog-api-key']).toBe(fake.apiKey);
  expect(daemon.log()).not.toContain(fake.apiKey);
});
