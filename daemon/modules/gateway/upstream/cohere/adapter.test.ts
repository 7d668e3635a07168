import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { startCohere, type TestCohere } from '../../../../../test/support/upstream-cohere.ts';
import { testUpstream } from '../../testing/upstream.ts';
import type { ChatMessage, ChatRequest } from '../../wire/chat.ts';
import type { StreamedChat, WholeChat } from '../adapter.ts';
import { UpstreamError } from '../error.ts';
import { completionOf } from '../translate/chunks.ts';
import { cohereAdapter } from './adapter.ts';

const MODEL = 'command-a-03-2025';
let fake: TestCohere;

beforeAll(async () => {
  fake = await startCohere();
});

afterAll(async () => {
  await fake?.stop();
});

const upstream = () => testUpstream({ dialect: 'cohere', baseUrl: fake.url, secret: fake.apiKey });
const chat = (request: ChatRequest) => cohereAdapter.chat?.(request, upstream());

async function ask(request: ChatRequest, stream = false) {
  const answer = (await chat({ ...request, stream })) as WholeChat | StreamedChat;
  return answer.kind === 'whole' ? answer.completion : completionOf(await Array.fromAsync(answer.chunks));
}

async function failure(work: Promise<unknown> | undefined): Promise<UpstreamError> {
  const error = await work?.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(UpstreamError);
  return error as UpstreamError;
}

const say = (content: ChatMessage['content']): ChatMessage[] => [{ role: 'user', content }];
const tool = (name: string) => ({
  type: 'function',
  function: { name, strict: true, parameters: { type: 'object', properties: { text: { type: 'string' } } } },
});
const tools = [tool('read'), tool('write')];
const json_schema = { name: 'page', schema: { type: 'object', properties: { title: { type: 'string' } } } };

const CASES: Readonly<Record<string, ChatRequest>> = {
  text: {
    model: MODEL,
    messages: [{ role: 'developer', content: 'be kind' }, ...say('one two three')],
    temperature: 1.5,
    stop: 'x',
  },
  thoughts: { model: MODEL, reasoning_effort: 'low', messages: say('one two three') },
  'parallel calls': { model: MODEL, tools, messages: say('left right') },
  'thoughts and calls': { model: MODEL, tools, reasoning_effort: 'high', messages: say('left right') },
  schema: {
    model: MODEL,
    messages: say('left right'),
    response_format: { type: 'json_schema', json_schema },
  },
};

describe('an answer', () => {
  for (const [name, request] of Object.entries(CASES))
    test(`is the same whole and streamed: ${name}`, async () => {
      const [one, other] = [await ask(request), await ask(request, true)];
      expect({ ...other, created: 0 }).toEqual({ ...one, created: 0 });
      expect(one.usage?.completion_tokens).toBeGreaterThan(1);
    });

  test('is made of the request', async () => {
    expect((await ask(CASES.text as ChatRequest)).choices[0]?.message.content).toBe('three two one');
    expect((await ask(CASES.schema as ChatRequest, true)).choices[0]?.message.content).toBe(
      '{"title":"right left"}',
    );
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } };
    const seen = await ask({ model: MODEL, messages: say([{ type: 'text', text: 'see this' }, image]) });
    expect(seen.choices[0]?.message.content).toBe('this see data:image/png;base64,');
  });

  test('of one chosen tool calls no other, and of none none', async () => {
    const named = { type: 'function', function: { name: 'write' } };
    const calls = async (tool_choice: ChatRequest['tool_choice']) =>
      (
        await ask({ ...(CASES['parallel calls'] as ChatRequest), tool_choice })
      ).choices[0]?.message.tool_calls?.map((call) => call.function?.name);
    expect(await calls(named)).toEqual(['write']);
    expect(await calls('required')).toEqual(['read', 'write']);
    expect(await calls('none')).toBeUndefined();
  });
});

for (const stream of [false, true])
  test(`results, thoughts and plans come back as they were, ${stream ? 'streamed' : 'whole'}`, async () => {
    const first = CASES['thoughts and calls'] as ChatRequest;
    const message = (await ask(first, stream)).choices[0]?.message as ChatMessage;
    expect(message.provider_content).toHaveLength(2);
    const results = (message.tool_calls ?? []).map(
      ({ id }, place): ChatMessage => ({ role: 'tool', tool_call_id: id, content: `done ${place}` }),
    );
    const next = await ask({ ...first, messages: [...first.messages, message, ...results] });
    expect(next.choices[0]?.message.content).toBe('read_0 gave done 0; write_1 gave done 1');
    const { messages } = (await fake.seen()).lastBody as {
      messages: { content?: unknown; tool_plan?: string }[];
    };
    expect(messages[1]).toMatchObject({
      content: [{ type: 'thinking', thinking: 'I turn 10 letters. ' }],
      tool_plan: 'I will call 2 tools. ',
    });
  });

describe('failures', () => {
  for (const [model, kind] of [
    ['rate-limited', 'rate_limit'],
    ['broken', 'server'],
    ['fails-inside', 'server'],
  ] as const)
    test(`${model} is ${kind}`, async () => {
      const error = await failure(chat({ model, messages: say('a b') }));
      expect(error.kind).toBe(kind);
      expect(error.message).not.toContain(fake.apiKey);
    });

  for (const [model, kind] of [
    ['fails-midstream', 'network'],
    ['ends-midstream', 'network'],
    ['fails-inside', 'server'],
  ] as const)
    test(`${model}: chunks, then ${kind}`, async () => {
      const { chunks } = (await chat({
        model,
        stream: true,
        messages: say('a b c d e f g h'),
      })) as StreamedChat;
      let text = '';
      const reading = (async () => {
        for await (const chunk of chunks) text += chunk.choices[0]?.delta.content ?? '';
      })();
      expect((await failure(reading)).kind).toBe(kind);
      expect('h g f e d c b a'.startsWith(text) && text !== '').toBe(true);
    });

  test('what is refused comes with its words', async () => {
    const stray: ChatMessage = { role: 'tool', tool_call_id: 'nobody', content: 'x' };
    const error = await failure(chat({ model: MODEL, messages: [...say('a'), stray] }));
    expect(error).toMatchObject({ kind: 'request', details: { status: 400 } });
    expect(error.message).toContain('cannot find tool call nobody');
  });
});

test('embeds in batches', async () => {
  const input = Array.from({ length: 100 }, (_, place) => `text ${place}`);
  const answer = await cohereAdapter.relay?.embeddings?.(
    { model: 'embed-v4.0', input, dimensions: 6 },
    upstream(),
    {},
  );
  const { data, usage } = JSON.parse(String(answer?.body));
  expect(data).toHaveLength(100);
  expect(data[99]).toMatchObject({ object: 'embedding', index: 99 });
  expect(data[99].embedding).toHaveLength(6);
  expect(usage).toEqual({ prompt_tokens: 200, total_tokens: 200 });
});

test('reranks in the words of /v1/rerank', async () => {
  const request = { model: 'rerank-v4.0', query: 'blue fish', topN: 2 };
  const rank = async (more: object) => {
    const answer = await cohereAdapter.relay?.rerank?.({ ...request, ...more }, upstream(), {});
    expect(answer?.usage?.searchUnits).toBe(1);
    return JSON.parse(String(answer?.body));
  };
  const documents = ['a red bird', 'one blue bird', 'two blue fish'];
  const ranked = await rank({ documents });
  expect(ranked.results).toEqual([
    { index: 2, relevanceScore: 1 },
    { index: 1, relevanceScore: 0.5 },
  ]);
  expect(ranked.meta.billedUnits.searchUnits).toBe(1);
});

test('lists models that are not deprecated, from every page', async () => {
  expect((await cohereAdapter.models?.(upstream()))?.map(({ id }) => id)).toEqual([MODEL, 'rerank-v4.0']);
});
