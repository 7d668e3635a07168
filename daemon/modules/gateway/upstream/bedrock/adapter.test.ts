import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { startBedrock, type TestBedrock } from '../../../../../test/support/upstream-bedrock.ts';
import { testUpstream } from '../../testing/upstream.ts';
import type { ChatMessage, ChatRequest } from '../../wire/chat.ts';
import type { StreamedChat, WholeChat } from '../adapter.ts';
import { UpstreamError } from '../error.ts';
import { completionOf } from '../translate/chunks.ts';
import { bedrockAdapter } from './adapter.ts';

const CLAUDE = 'anthropic.claude-3-7-sonnet-20250219-v1:0';
const NEWER = 'eu.anthropic.claude-sonnet-4-5-20250929-v1:0';
const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
let fake: TestBedrock;

beforeAll(async () => {
  fake = await startBedrock();
});

afterAll(async () => {
  await fake?.stop();
});

const upstream = (secret = `${fake.accessKeyId}:${fake.secretAccessKey}`, signal?: AbortSignal) =>
  testUpstream({ dialect: 'bedrock', baseUrl: fake.url, secret, settings: { region: fake.region }, signal });
const chat = (request: ChatRequest, signal?: AbortSignal) =>
  bedrockAdapter.chat?.(request, upstream(undefined, signal));

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
const tool = (name: string, properties: object = { text: { type: 'string' } }) => ({
  type: 'function',
  function: { name, parameters: { properties } },
});
const both = { tools: [tool('read'), tool('write')], tool_choice: 'required' };
const SCHEMA = {
  type: 'json_schema',
  json_schema: {
    name: 'page',
    schema: { type: 'object', properties: { title: { type: 'string' }, size: { type: 'integer' } } },
  },
};

const CASES: Readonly<Record<string, ChatRequest>> = {
  text: { model: CLAUDE, messages: [{ role: 'system', content: 'be kind' }, ...say('one two three')] },
  thoughts: { model: CLAUDE, reasoning_effort: 'low', temperature: 0.3, messages: say('one two three') },
  'parallel calls': { model: CLAUDE, ...both, messages: say('left right') },
  'a call without input': {
    model: CLAUDE,
    tools: [tool('ping', {})],
    tool_choice: 'required',
    messages: say('a'),
  },
  'an answer by a tool': { model: CLAUDE, response_format: SCHEMA, messages: say('left right') },
  'an answer by a schema': { model: NEWER, response_format: SCHEMA, messages: say('left right') },
  'a guarded answer': { model: 'guarded', messages: say('left right') },
};

describe('an answer', () => {
  for (const [name, request] of Object.entries(CASES))
    test(`is the same whole and streamed: ${name}`, async () => {
      const [one, other] = [await ask(request), await ask(request, true)];
      expect({ ...other, id: '', created: 0 }).toEqual({ ...one, id: '', created: 0 });
      expect(one.usage?.completion_tokens).toBeGreaterThan(0);
    });

  test('is made of the request', async () => {
    const [choice] = (await ask(CASES.text as ChatRequest)).choices;
    expect(choice).toMatchObject({ message: { content: 'three two one (be kind)' }, finish_reason: 'stop' });
  });

  test('keeps to a schema, with and without a word for it, also while thinking', async () => {
    for (const name of ['an answer by a tool', 'an answer by a schema']) {
      const [choice] = (await ask(CASES[name] as ChatRequest, true)).choices;
      expect(JSON.parse(String(choice?.message.content))).toEqual({ title: 'right left', size: 10 });
      expect(choice?.finish_reason).toBe('stop');
      expect(choice?.message.tool_calls).toBeUndefined();
    }
    await ask({ ...(CASES['an answer by a schema'] as ChatRequest), reasoning_effort: 'high' });
  });

  test('arguments are JSON even when there are none', async () => {
    const [choice] = (await ask(CASES['a call without input'] as ChatRequest, true)).choices;
    expect(choice?.message.tool_calls?.[0]?.function).toEqual({ name: 'ping', arguments: '{}' });
  });

  test('counts what was cached as input', async () => {
    const part = { type: 'text', text: 'one two', cache_control: { type: 'ephemeral' } };
    const cached = (await ask({ model: CLAUDE, messages: say([part]) })).usage;
    expect(cached?.prompt_tokens_details).toEqual({ cached_tokens: 5, cache_write_tokens: 3 } as object);
    expect(Number(cached?.prompt_tokens)).toBeGreaterThan(8);
    const llama = await ask({ model: 'meta.llama3-1-70b-instruct-v1:0', messages: say([part]) });
    expect(llama.usage?.prompt_tokens_details).toBeUndefined();
  });

  test('sees pictures and documents', async () => {
    const parts = [
      { type: 'text', text: 'look here' },
      { type: 'image_url', image_url: { url: `data:image/jpg;base64,${PIXEL}` } },
      {
        type: 'file',
        file: { filename: 'my_file.v2.pdf', file_data: `data:application/pdf;base64,${PIXEL}` },
      },
    ];
    const [choice] = (await ask({ model: CLAUDE, messages: say(parts) })).choices;
    expect(choice?.message.content).toBe('here look jpeg:70 my file v2 1.pdf:70');
    const web = [{ type: 'image_url', image_url: { url: 'https://example.com/a.png' } }];
    expect((await failure(chat({ model: CLAUDE, messages: say(web) }))).message).toContain('data: URLs');
  });
});

describe('a conversation', () => {
  for (const stream of [false, true])
    test(`with tools and thoughts comes back as it was, ${stream ? 'streamed' : 'whole'}`, async () => {
      const first: ChatRequest = {
        model: `${CLAUDE}-eager`,
        reasoning_effort: 'medium',
        tools: both.tools,
        messages: say('left right'),
      };
      const message = (await ask(first, stream)).choices[0]?.message as ChatMessage;
      expect(message.tool_calls?.map((call) => call.function?.name)).toEqual(['read', 'write']);
      const results = (message.tool_calls ?? []).map(
        ({ id }, place): ChatMessage => ({ role: 'tool', tool_call_id: id, content: `done ${place}` }),
      );
      const messages = [...first.messages, message, ...results];
      const next = await ask({ ...first, messages });
      expect(next.choices[0]?.message.content).toBe('read gave done 0; write gave done 1');
      expect(
        String((next.choices[0]?.message as { reasoning_content?: string } | undefined)?.reasoning_content),
      ).toContain('I turn');
      const { provider_content: _, ...forgotten } = message;
      const without = await ask({ ...first, messages: [...first.messages, forgotten, ...results] });
      expect(without.choices[0]?.message).not.toHaveProperty('reasoning_content');
    });

  test('may begin with an answer, repeat a role, be blank, end with a blank, and have ids of others', async () => {
    const id = 'call:1|very.long'.repeat(9);
    const calls = [{ id, type: 'function', function: { name: 'read', arguments: '{}' } }];
    const messages: ChatMessage[] = [
      { role: 'assistant', content: 'hello' },
      { role: 'user', content: 'a' },
      { role: 'user', content: '  ' },
      { role: 'system', content: 'late' },
      { role: 'assistant', content: '', tool_calls: calls },
      { role: 'tool', tool_call_id: id, content: '' },
      { role: 'user', content: 'one two' },
      { role: 'assistant', content: 'prefill ' },
    ];
    for (const model of [CLAUDE, 'mistral.mistral-large-2402-v1:0']) {
      const [choice] = (await ask({ model, messages, temperature: 1.7 })).choices;
      expect(choice?.message.content).toBe('two one (late)');
    }
    const alone = await ask({ model: CLAUDE, messages: [{ role: 'system', content: 'one two' }] });
    expect(alone.choices[0]?.message.content).toBe('two one');
  });
});

describe('access', () => {
  test('by a signature, with and without a session, by a bearer, and with names that need escapes', async () => {
    const models = [
      CLAUDE,
      'arn:aws:bedrock:eu-central-1:123456789012:inference-profile/eu.anthropic.claude-x',
      "odd'(name)*!",
    ];
    const session = {
      Credentials: {
        AccessKeyId: fake.sessionKeyId,
        SecretAccessKey: fake.secretAccessKey,
        SessionToken: fake.sessionToken,
      },
    };
    const secrets = [
      `${fake.accessKeyId}:${fake.secretAccessKey}`,
      `${fake.sessionKeyId}:${fake.secretAccessKey}:${fake.sessionToken}`,
      JSON.stringify(session),
      fake.bearer,
    ];
    for (const secret of secrets)
      for (const model of models)
        expect((await bedrockAdapter.chat?.({ model, messages: say('a ü') }, upstream(secret)))?.kind).toBe(
          'whole',
        );
  });

  test('is refused for a wrong secret, which is not shown', async () => {
    const secret = `${fake.accessKeyId}:wrong-secret`;
    const error = await failure(bedrockAdapter.chat?.(CASES.text as ChatRequest, upstream(secret)));
    expect(error.kind).toBe('key');
    expect(error.message).not.toContain('wrong-secret');
  });
});

describe('failures', () => {
  const KINDS = {
    'rate-limited': 'rate_limit',
    'over-quota': 'rate_limit',
    broken: 'server',
    'model-error': 'server',
    'model-timeout': 'timeout',
    forbids: 'key',
  } as const;
  for (const [model, kind] of Object.entries(KINDS))
    for (const stream of [false, true])
      test(`${model} is ${kind}, ${stream ? 'streamed' : 'whole'}`, async () => {
        const error = await failure(chat({ model, stream, messages: say('a b c d') }));
        expect(error.kind).toBe(kind);
        expect(error.message).not.toContain(fake.secretAccessKey);
        if (model === 'rate-limited') expect(error.details.retryAfterMs).toBe(7000);
      });

  test('an exception before the first word is a failure of the call', async () => {
    const error = await failure(chat({ model: 'throttled-first', stream: true, messages: say('a b') }));
    expect(error.kind).toBe('rate_limit');
  });

  for (const [model, kind] of [
    ['throttled-midstream', 'rate_limit'],
    ['stream-error', 'server'],
    ['damaged', 'server'],
    ['fails-midstream', 'network'],
    ['ends-midstream', 'network'],
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

  test('what the service refuses comes with its words', async () => {
    const error = await failure(chat({ model: CLAUDE, messages: say('a'), tools: [tool('not a name')] }));
    expect(error).toMatchObject({ kind: 'request', details: { type: 'ValidationException' } });
    expect(error.message).toContain('toolSpec.name');
  });
});

test('embeds by Titan and by Cohere', async () => {
  const embed = async (model: string, input: string[]) => {
    const answer = await bedrockAdapter.relay?.embeddings?.({ model, input }, upstream(), {});
    return JSON.parse(String(answer?.body));
  };
  const input = Array.from({ length: 100 }, (_, place) => `text ${place}`);
  for (const model of ['amazon.titan-embed-text-v2:0', 'cohere.embed-english-v3']) {
    const { data, usage } = await embed(model, input);
    expect(new Set(data.map(({ embedding }: { embedding: number[] }) => embedding.join())).size).toBe(100);
    expect(usage.prompt_tokens).toBeGreaterThanOrEqual(100);
  }
  expect((await failure(embed(CLAUDE, ['a']))).details.param).toBe('model');
});

test('lists models and profiles that can be called', async () => {
  const models = await bedrockAdapter.models?.(upstream());
  expect(models?.map(({ id }) => id)).toEqual(['amazon.nova-lite-v1:0', NEWER]);
});
