import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { startGemini, type TestGemini } from '../../../../../test/support/upstream-gemini.ts';
import { testUpstream } from '../../testing/upstream.ts';
import type { ChatChunk, ChatMessage, ChatRequest } from '../../wire/chat.ts';
import type { StreamedChat, WholeChat } from '../adapter.ts';
import { UpstreamError } from '../error.ts';
import { completionOf } from '../translate/chunks.ts';
import { geminiAdapter } from './adapter.ts';

let fake: TestGemini;

beforeAll(async () => {
  fake = await startGemini();
});

afterAll(async () => {
  await fake?.stop();
});

const upstream = (signal?: AbortSignal) =>
  testUpstream({ dialect: 'gemini', baseUrl: fake.url, secret: fake.apiKey, signal });
const chat = (request: ChatRequest, signal?: AbortSignal) => geminiAdapter.chat?.(request, upstream(signal));

async function whole(request: ChatRequest) {
  return ((await chat(request)) as WholeChat).completion;
}

async function streamed(request: ChatRequest): Promise<ChatChunk[]> {
  const { chunks } = (await chat({ ...request, stream: true })) as StreamedChat;
  return Array.fromAsync(chunks);
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
  function: { name, parameters: { type: 'object', properties: { text: { type: 'string' } } } },
});
const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const CASES: Readonly<Record<string, ChatRequest>> = {
  text: {
    model: 'gemini-2.5-flash',
    messages: [{ role: 'system', content: 'be kind' }, ...say('one two three')],
  },
  'several answers': { model: 'gemini-2.5-flash', n: 2, messages: say('one two three') },
  thoughts: { model: 'gemini-2.5-flash', reasoning_effort: 'low', messages: say('one two three') },
  'signed text': { model: 'gemini-3-pro-preview', messages: say('one two three') },
  'parallel calls': {
    model: 'gemini-2.5-flash',
    tools: [tool('read'), tool('write')],
    messages: say('left right'),
  },
  'signed calls': {
    model: 'gemini-3-pro-preview',
    reasoning_effort: 'high',
    tools: [tool('read'), tool('write')],
    messages: say('left right'),
  },
  likelihoods: { model: 'gemini-2.5-flash', logprobs: true, top_logprobs: 1, messages: say('one two') },
  'a blocked prompt': { model: 'blocked-prompt', messages: say('one two') },
  'a blocked answer': { model: 'blocked-answer', messages: say('one two') },
};

describe('an answer', () => {
  for (const [name, request] of Object.entries(CASES))
    test(`is the same whole and streamed: ${name}`, async () => {
      const [one, chunks] = [await whole(request), await streamed(request)];
      const other = completionOf(chunks);
      // Where a text is cut, its signature stands on a piece of its own.
      const plain = (text: object) =>
        JSON.parse(
          JSON.stringify(text, (key, value) =>
            key === 'created' || key === 'provider_content' ? undefined : value,
          ),
        );
      expect(plain(other)).toEqual(plain(one));
      expect(chunks.at(-1)?.choices).toEqual([]);
      expect(chunks.at(-1)?.usage?.total_tokens).toBeGreaterThan(0);
    });

  test('is made of the request', async () => {
    const { choices, model, usage } = await whole(CASES.text as ChatRequest);
    expect(choices[0]?.message.content).toBe('three two one (be kind)');
    expect(choices[0]?.finish_reason).toBe('stop');
    expect(model).toBe('gemini-2.5-flash-001');
    expect(usage?.completion_tokens).toBe(5);
  });

  test('counts thoughts as output and cached tokens as input', async () => {
    const request = {
      ...CASES.thoughts,
      extra_body: { google: { cached_content: 'cachedContents/1' } },
    } as ChatRequest;
    const { usage, choices } = await whole(request);
    expect(choices[0]?.message).toMatchObject({
      reasoning_content: 'I turn 13 letters. ',
      content: 'three two one',
    });
    expect(usage?.completion_tokens_details?.reasoning_tokens).toBe(4);
    expect(usage?.completion_tokens).toBe(7);
    expect(usage?.prompt_tokens_details?.cached_tokens).toBe(2);
  });

  test('of a blocked prompt or text says so', async () => {
    const prompt = (await whole(CASES['a blocked prompt'] as ChatRequest)).choices[0];
    expect(prompt?.finish_reason).toBe('content_filter');
    expect(prompt?.message.refusal).toContain('PROHIBITED_CONTENT');
    expect((await whole(CASES['a blocked answer'] as ChatRequest)).choices[0]?.finish_reason).toBe(
      'content_filter',
    );
  });

  test('keeps to a schema with references and constants', async () => {
    const schema = {
      $schema: 'http://json-schema.org/draft-07/schema#',
      type: 'object',
      properties: {
        title: { $ref: '#/$defs/title', description: 'of the page' },
        kind: { const: 'page' },
        size: { allOf: [{ type: 'integer' }] },
      },
      $defs: { title: { type: 'string' } },
    };
    const request: ChatRequest = {
      model: 'gemini-2.5-flash',
      messages: say('one two'),
      response_format: { type: 'json_schema', json_schema: { name: 'page', schema } },
    };
    const [choice] = (await whole(request)).choices;
    expect(JSON.parse(String(choice?.message.content))).toEqual({ title: 'two one', kind: 'page', size: 7 });
  });

  test('sees pictures, inline and by address', async () => {
    const parts = [
      { type: 'text', text: 'look here' },
      { type: 'image_url', image_url: { url: `data:image/png;base64,${PIXEL}` } },
      { type: 'image_url', image_url: { url: 'https://example.com/cat.webp?x=1' } },
      { type: 'file', file: { filename: 'a.pdf', file_data: `data:application/pdf;base64,${PIXEL}` } },
    ];
    const [choice] = (await whole({ model: 'gemini-2.5-flash', messages: say(parts) })).choices;
    expect(choice?.message.content).toBe(
      'here look image/png:70 image/webp:https://example.com/cat.webp?x=1 application/pdf:70',
    );
  });
});

describe('a conversation with tools', () => {
  const talk = async (
    model: string,
    stream: boolean,
    change: (message: ChatMessage) => ChatMessage = (message) => message,
  ) => {
    const tools = [tool('read'), tool('write')];
    const request: ChatRequest = { model, tools, messages: say('left right') };
    const { choices } = stream ? completionOf(await streamed(request)) : await whole(request);
    const message = JSON.parse(JSON.stringify(choices[0]?.message)) as ChatMessage;
    const results = (message.tool_calls ?? []).map(
      ({ id }, place): ChatMessage => ({ role: 'tool', tool_call_id: id, content: `done ${place}` }),
    );
    return whole({ model, tools, messages: [...say('left right'), change(message), ...results] });
  };

  for (const stream of [false, true])
    for (const model of ['gemini-2.5-flash', 'gemini-3-pro-preview'])
      test(`gives calls, signatures and results back as they were: ${model}, ${stream ? 'streamed' : 'whole'}`, async () => {
        const { choices } = await talk(model, stream);
        expect(choices[0]?.message.content).toBe(
          'read gave {"output":"done 0"}; write gave {"output":"done 1"}',
        );
      });

  test('takes results in any order', async () => {
    const tools = [tool('read'), tool('write')];
    const request: ChatRequest = { model: 'gemini-2.5-flash', tools, messages: say('left right') };
    const message = (await whole(request)).choices[0]?.message as ChatMessage;
    const [first, second] = (message.tool_calls ?? []).map(
      ({ id }, place): ChatMessage => ({ role: 'tool', tool_call_id: id, content: `done ${place}` }),
    );
    const { choices } = await whole({
      ...request,
      messages: [...request.messages, message, second as ChatMessage, first as ChatMessage],
    });
    expect(choices[0]?.message.content).toBe('read gave {"output":"done 0"}; write gave {"output":"done 1"}');
  });

  test('goes on when another model has made the calls', async () => {
    const foreign = ({ provider_content: _, ...message }: ChatMessage): ChatMessage => message;
    const { choices } = await talk('gemini-3-pro-preview', false, foreign);
    expect(choices[0]?.message.content).toContain('write gave');
  });

  test('ids are the same whole and streamed, and differ in one answer', async () => {
    const request = CASES['parallel calls'] as ChatRequest;
    const ids = (await whole(request)).choices[0]?.message.tool_calls?.map(({ id }) => id) ?? [];
    expect(completionOf(await streamed(request)).choices[0]?.message.tool_calls?.map(({ id }) => id)).toEqual(
      ids,
    );
    expect(new Set(ids).size).toBe(2);
  });

  test('a choice of one tool leaves the others uncalled', async () => {
    const choice = { type: 'function', function: { name: 'write' } };
    const { choices } = await whole({ ...(CASES['parallel calls'] as ChatRequest), tool_choice: choice });
    expect(choices[0]?.message.tool_calls?.map((call) => call.function?.name)).toEqual(['write']);
    expect(choices[0]?.finish_reason).toBe('tool_calls');
  });
});

describe('a signed text', () => {
  test('comes back with its signature on the right part', async () => {
    const model = 'gemini-3-pro-preview';
    for (const stream of [false, true]) {
      const request: ChatRequest = { model, messages: say('one two') };
      const { choices } = stream ? completionOf(await streamed(request)) : await whole(request);
      const message = choices[0]?.message as ChatMessage;
      expect(message.provider_content?.length).toBe(1);
      const next = await whole({ model, messages: [...say('one two'), message, ...say('three four')] });
      expect(next.choices[0]?.message.content).toBe('four three');
      const wrong = { ...message, content: `x${message.content}` };
      if (!stream)
        expect(
          (await failure(whole({ model, messages: [...say('a'), wrong, ...say('b')] }))).message,
        ).toContain('signature');
    }
  });
});

describe('failures', () => {
  const KINDS = {
    'rate-limited': 'rate_limit',
    broken: 'server',
    'broken-in-array': 'server',
    forbids: 'key',
    page: 'server',
    'malformed-call': 'server',
  } as const;
  for (const [model, kind] of Object.entries(KINDS))
    for (const stream of [false, true])
      test(`${model} is ${kind}, ${stream ? 'streamed' : 'whole'}`, async () => {
        const error = await failure(chat({ model, stream, messages: say('a b c d') }));
        expect(error.kind).toBe(kind);
        expect(error.message).not.toContain(fake.apiKey);
        if (kind === 'rate_limit') expect(error.details.retryAfterMs).toBe(7000);
      });

  test('a key that is not valid is no fault of the request', async () => {
    const other = testUpstream({ dialect: 'gemini', baseUrl: fake.url, secret: 'AIzaWrong' });
    const error = await failure(geminiAdapter.chat?.(CASES.text as ChatRequest, other));
    expect(error.kind).toBe('key');
    expect(error.message).not.toContain('AIzaWrong');
  });

  test('what the model cannot have is 400 with the words of the provider', async () => {
    const error = await failure(
      chat({ model: 'gemini-2.5-flash', messages: say('a'), tools: [tool('not a name')] }),
    );
    expect(error.kind).toBe('request');
    expect(error.message).toContain('Invalid function name');
  });

  for (const [model, kind] of [
    ['fails-midstream', 'network'],
    ['ends-midstream', 'network'],
    ['throttled-midstream', 'rate_limit'],
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

  test('a reader that leaves is felt upstream', async () => {
    const { left } = await fake.seen();
    const { chunks } = (await chat({
      model: 'hangs-midstream',
      stream: true,
      messages: say('a b c d'),
    })) as StreamedChat;
    for await (const _ of chunks) break;
    while ((await fake.seen()).left === left) await Bun.sleep(1);
  });

  test('a signal that fires before the first word is felt upstream', async () => {
    const leave = new AbortController();
    const { left } = await fake.seen();
    const waiting = chat({ model: 'hangs', stream: true, messages: say('a') }, leave.signal)?.then(
      () => 'answered',
      String,
    );
    setTimeout(() => leave.abort(), 20);
    expect(await waiting).not.toBe('answered');
    while ((await fake.seen()).left === left) await Bun.sleep(1);
  });

  test('a name that leads elsewhere is no model', async () => {
    for (const model of ['..', '../files', 'a/../../b'])
      expect((await failure(chat({ model, messages: say('a') }))).details.status).toBe(404);
  });
});

test('embeds, in batches, as floats and base64', async () => {
  const input = Array.from({ length: 120 }, (_, place) => `text ${place}`);
  const embed = geminiAdapter.relay?.embeddings;
  const read = async (encoding_format: string) =>
    JSON.parse(
      String(
        (
          await embed?.(
            { model: 'gemini-embedding-001', input, dimensions: 3, encoding_format },
            upstream(),
            {},
          )
        )?.body,
      ),
    );
  const floats = await read('float');
  const packed = await read('base64');
  expect(floats.data).toHaveLength(120);
  expect(
    new Set(floats.data.map(({ embedding }: { embedding: number[] }) => embedding.join())).size,
  ).toBeGreaterThan(115);
  const unpacked = packed.data.map(({ embedding }: { embedding: string }) => [
    ...new Float32Array(Uint8Array.from(Buffer.from(embedding, 'base64')).buffer),
  ]);
  expect(unpacked).toEqual(floats.data.map(({ embedding }: { embedding: number[] }) => embedding));
  expect(floats.usage.prompt_tokens).toBeGreaterThan(0);
});

test('lists the models that can be called, from every page', async () => {
  const models = await geminiAdapter.models?.(upstream());
  expect(models?.map(({ id }) => id)).toEqual([
    'gemini-2.5-flash',
    'gemini-3-pro-preview',
    'gemini-embedding-001',
  ]);
});
