import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import OpenAI, { APIError, BadRequestError, RateLimitError } from 'openai';
import { startDaemon, type TestDaemon } from './support/daemon.ts';
import { failureOf, PIXEL, READ_AND_WRITE, type Said, say, streamedText } from './support/openai-calls.ts';
import { startCohere, type TestCohere } from './support/upstream-cohere.ts';

let fake: TestCohere;
let daemon: TestDaemon;
let client: OpenAI;

beforeAll(async () => {
  fake = await startCohere();
  daemon = await startDaemon({ env: { CO_API_KEY: fake.apiKey, CO_API_URL: fake.url } });
  client = new OpenAI({ baseURL: `${daemon.url}/compat/v1`, apiKey: daemon.apiKey, maxRetries: 0 });
});

afterAll(async () => {
  await daemon?.stop();
  await fake?.stop();
});

const MODEL = 'cohere/command-a-03-2025';

describe('the stock client over Cohere', () => {
  test('completes, lists and streams', async () => {
    const completion = await client.chat.completions.create({ model: MODEL, messages: say('one two three') });
    expect(completion.choices[0]?.message.content).toBe('three two one');
    expect((await client.models.list()).data.map(({ id }) => id)).toContain(MODEL);
    const { text, events } = await streamedText(client, { model: MODEL, messages: say('one two three') });
    expect(text).toBe('three two one');
    expect(events).toBeGreaterThan(3);
  });

  test('goes round with parallel tools', async () => {
    const stream = client.chat.completions.stream({
      model: MODEL,
      messages: say('left right'),
      tools: READ_AND_WRITE,
    });
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
    const next = await client.chat.completions.create({ model: MODEL, tools: READ_AND_WRITE, messages });
    expect(next.choices[0]?.message.content).toBe('read_0 gave done 0; write_1 gave done 1');
  });

  test('keeps to a schema, and sees a picture', async () => {
    const schema = {
      type: 'object',
      properties: { title: { type: 'string' } },
      required: ['title'],
      additionalProperties: false,
    };
    const completion = await client.chat.completions.parse({
      model: MODEL,
      messages: say('one two'),
      response_format: { type: 'json_schema', json_schema: { name: 'page', strict: true, schema } },
    });
    expect(completion.choices[0]?.message.parsed).toEqual({ title: 'two one' } as never);
    const content = [
      { type: 'text' as const, text: 'see' },
      { type: 'image_url' as const, image_url: { url: PIXEL } },
    ];
    const seen = await client.chat.completions.create({
      model: MODEL,
      messages: [{ role: 'user', content }],
    });
    expect(seen.choices[0]?.message.content).toBe('see data:image/png;base64,');
  });

  test('embeds', async () => {
    const { data, usage } = await client.embeddings.create({
      model: 'cohere/embed-v4.0',
      input: ['a', 'b'],
      dimensions: 5,
    });
    expect(data.map(({ embedding }) => embedding.length)).toEqual([5, 5]);
    expect(usage.prompt_tokens).toBe(4);
  });

  test('reranks', async () => {
    const documents = ['a red bird', 'one blue bird', 'two blue fish'];
    const body = JSON.stringify({
      model: 'cohere/rerank-v4.0',
      query: 'blue fish',
      documents,
      topN: 2,
      returnDocuments: true,
    });
    const response = await daemon.fetch('/v1/rerank', {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json' },
    });
    const { results, meta } = (await response.json()) as { results: object[]; meta: { billedUnits: object } };
    expect(results).toEqual([
      { index: 2, relevanceScore: 1, document: 'two blue fish' },
      { index: 1, relevanceScore: 0.5, document: 'one blue bird' },
    ]);
    expect(meta.billedUnits).toMatchObject({ searchUnits: 1 });
  });

  test('fails as the stock client expects', async () => {
    const ask = (model: string, more: object = {}) =>
      failureOf(
        client.chat.completions.create({ model: `cohere/${model}`, messages: say('a b c d'), ...more }),
      );
    const limited = await ask('rate-limited');
    expect(limited).toBeInstanceOf(RateLimitError);
    expect(limited.headers?.get('retry-after')).toBe('7');
    const stray = [...say('a'), { role: 'tool', tool_call_id: 'nobody', content: 'x' }];
    expect(await ask('command', { messages: stray })).toBeInstanceOf(BadRequestError);
    const broken = await ask('broken');
    expect(broken.status).toBe(502);
    expect(broken.message).not.toContain(fake.apiKey);
    const cut = streamedText(client, { model: 'cohere/fails-midstream', messages: say('a b c d e f') });
    expect(await failureOf(cut)).toBeInstanceOf(APIError);
  });
});
