import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import OpenAI, { APIError, AuthenticationError, BadRequestError, RateLimitError } from 'openai';
import { startDaemon, type TestDaemon } from './support/daemon.ts';
import { failureOf, PIXEL, READ_AND_WRITE, type Said, say, streamedText } from './support/openai-calls.ts';
import { startBedrock, type TestBedrock } from './support/upstream-bedrock.ts';

let fake: TestBedrock;
let daemon: TestDaemon;
let client: OpenAI;

beforeAll(async () => {
  fake = await startBedrock();
  const env = {
    AWS_ACCESS_KEY_ID: fake.sessionKeyId,
    AWS_SECRET_ACCESS_KEY: fake.secretAccessKey,
    AWS_SESSION_TOKEN: fake.sessionToken,
    AWS_REGION: fake.region,
    AWS_ENDPOINT_URL_BEDROCK_RUNTIME: fake.url,
  };
  daemon = await startDaemon({ env });
  client = new OpenAI({ baseURL: `${daemon.url}/compat/v1`, apiKey: daemon.apiKey, maxRetries: 0 });
});

afterAll(async () => {
  await daemon?.stop();
  await fake?.stop();
});

const CLAUDE = 'bedrock/anthropic.claude-3-7-sonnet-20250219-v1:0';
const NEWER = 'bedrock/eu.anthropic.claude-sonnet-4-5-20250929-v1:0';

describe('the stock client over Bedrock, with signatures', () => {
  test('completes and lists', async () => {
    const completion = await client.chat.completions.create({
      model: CLAUDE,
      messages: say('one two three'),
    });
    expect(completion.choices[0]?.message.content).toBe('three two one');
    expect((await client.models.list()).data.map(({ id }) => id)).toContain(NEWER);
    expect((await fake.seen()).lastHeaders.authorization).toContain(`/${fake.region}/bedrock/aws4_request`);
  });

  test('streams word by word', async () => {
    const { text, events, usage } = await streamedText(client, {
      model: CLAUDE,
      messages: say('one two three'),
      stream_options: { include_usage: true },
    });
    expect(text).toBe('three two one');
    expect(events).toBeGreaterThan(3);
    expect(usage?.total_tokens).toBeGreaterThan(3);
  });

  test('goes round with parallel tools', async () => {
    const request = { model: CLAUDE, tools: READ_AND_WRITE, tool_choice: 'required' as const };
    const stream = client.chat.completions.stream({ ...request, messages: say('left right') });
    const message = (await stream.finalChatCompletion()).choices[0]?.message as Said;
    const calls = message.tool_calls ?? [];
    expect(calls.map((call) => [call.function.name, JSON.parse(call.function.arguments)])).toEqual([
      ['read', { text: 'right left' }],
      ['write', { text: 'right left' }],
    ]);
    const results = calls.map(({ id }, place) => ({
      role: 'tool' as const,
      tool_call_id: id,
      content: `done ${place}`,
    }));
    const messages = [...say('left right'), message, ...results];
    const next = await client.chat.completions.create({ model: CLAUDE, tools: READ_AND_WRITE, messages });
    expect(next.choices[0]?.message.content).toBe('read gave done 0; write gave done 1');
  });

  test('keeps to a schema with and without a word for it, and sees a picture', async () => {
    const schema = {
      type: 'object',
      properties: { title: { type: 'string' } },
      required: ['title'],
      additionalProperties: false,
    };
    for (const model of [CLAUDE, NEWER]) {
      const completion = await client.chat.completions.parse({
        model,
        messages: say('one two'),
        response_format: { type: 'json_schema', json_schema: { name: 'page', strict: true, schema } },
      });
      expect(completion.choices[0]?.message.parsed).toEqual({ title: 'two one' } as never);
    }
    const content = [
      { type: 'text' as const, text: 'see' },
      { type: 'image_url' as const, image_url: { url: PIXEL } },
    ];
    const seen = await client.chat.completions.create({
      model: CLAUDE,
      messages: [{ role: 'user', content }],
    });
    expect(seen.choices[0]?.message.content).toBe('see png:70');
  });

  test('embeds', async () => {
    const { data } = await client.embeddings.create({
      model: 'bedrock/amazon.titan-embed-text-v2:0',
      input: ['a', 'b'],
      dimensions: 5,
    });
    expect(data.map(({ embedding }) => embedding.length)).toEqual([5, 5]);
  });
});

describe('what the stock client makes of failures', () => {
  const ask = (model: string, more: object = {}) =>
    failureOf(
      client.chat.completions.create({ model: `bedrock/${model}`, messages: say('a b c d'), ...more }),
    );

  test('a limit: 429, also when it comes as the first event of a stream', async () => {
    const error = await ask('rate-limited');
    expect(error).toBeInstanceOf(RateLimitError);
    expect(error.headers?.get('retry-after')).toBe('7');
    expect(await ask('throttled-first', { stream: true })).toBeInstanceOf(RateLimitError);
  });

  test('a request that is refused: 400 with its words', async () => {
    const error = await ask('x', { tools: [{ type: 'function', function: { name: 'not a name' } }] });
    expect(error).toBeInstanceOf(BadRequestError);
    expect(error.message).toContain('toolSpec.name');
  });

  test('a provider that fails: no secret of ours, and no fault of the caller’s key', async () => {
    const broken = await ask('broken');
    expect(broken.status).toBe(502);
    expect(broken.message).not.toContain(fake.secretAccessKey);
    const forbidden = await ask('forbids');
    expect(forbidden.status).toBe(502);
    expect(forbidden).not.toBeInstanceOf(AuthenticationError);
  });

  for (const model of ['throttled-midstream', 'damaged', 'fails-midstream'])
    test(`a stream that breaks off, ${model}: an error after what had come`, async () => {
      expect(
        await failureOf(streamedText(client, { model: `bedrock/${model}`, messages: say('a b c d e f') })),
      ).toBeInstanceOf(APIError);
    });
});

test('no part of the key is in the log', () => {
  for (const secret of [fake.secretAccessKey, fake.sessionToken]) expect(daemon.log()).not.toContain(secret);
});
