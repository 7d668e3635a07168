import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { ChatCompletion, ChatMessage } from '../../wire/chat.ts';
import type { MessagesBlock, MessagesMessage } from '../../wire/messages.ts';
import type { Upstream } from '../adapter.ts';
import { UpstreamError } from '../error.ts';
import { completionOf } from '../translate/chunks.ts';
import { anthropicAdapter } from './adapter.ts';
import answers from './fixtures/answers.json';
import { translateRequest } from './request.ts';
import { arbitraryContent, cut, eventsOf, type WireEvent } from './testing/answers.ts';

const REQUEST = { model: 'claude-opus-4-8', messages: [{ role: 'user' as const, content: 'hi' }] };
const cases = answers.cases as unknown as {
  name: string;
  message: MessagesMessage;
  completion: ChatCompletion;
}[];

describe('an answer', () => {
  for (const { name, message, completion } of cases)
    test(`${name}, whole and streamed`, async () => {
      for (const got of [await whole(message), await streamed(eventsOf(message), [5, 40, 3])]) {
        expect(got).toMatchObject(completion as never);
        expect(got.choices[0]?.message).toEqual(completion.choices[0]?.message as never);
      }
    });

  test('says why it ended, in both dialects’ words', async () => {
    const endings = {
      end_turn: 'stop',
      stop_sequence: 'stop',
      pause_turn: 'stop',
      max_tokens: 'length',
      model_context_window_exceeded: 'length',
      tool_use: 'tool_calls',
      refusal: 'content_filter',
      something_new: 'stop',
    };
    for (const [stop_reason, finish_reason] of Object.entries(endings)) {
      const { choices } = await whole({ ...message([{ type: 'text', text: 'hi' }]), stop_reason });
      expect(choices[0]).toMatchObject({ finish_reason, native_finish_reason: stop_reason });
    }
  });

  test('that was forced into a tool is text, without what was said beside it', async () => {
    const forced = { ...REQUEST, response_format: { type: 'json_object' } };
    const call = { type: 'tool_use', id: 'toolu_1', name: 'answer_in_json', input: { a: 1 } };
    const answer = { ...message([{ type: 'text', text: 'Here it is:' }, call]), stop_reason: 'tool_use' };
    for (const got of [await whole(answer, forced), await streamed(eventsOf(answer), [9], forced)]) {
      expect(got.choices[0]).toMatchObject({ message: { content: '{"a":1}' }, finish_reason: 'stop' });
      expect(got.choices[0]?.message.tool_calls).toBeUndefined();
    }
  });

  test('streams as it is whole, wherever its bytes are cut', async () => {
    const cuts = fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 1, maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(arbitraryContent, cuts, async (content, sizes) => {
        const answer = message(content);
        const got = await streamed(eventsOf(answer), sizes);
        expect(normal(got)).toEqual(normal(await whole(answer)));
      }),
    );
  });

  test('comes back in the next request as it was', () => {
    return fc.assert(
      fc.asyncProperty(arbitraryContent, async (content) => {
        const { choices } = await whole(message(content));
        const said = choices[0]?.message as ChatMessage;
        const { messages } = translateRequest({
          ...REQUEST,
          messages: [...REQUEST.messages, said, ...REQUEST.messages],
        }).body;
        expect(messages.find(({ role }) => role === 'assistant')?.content ?? []).toEqual(canonical(content));
      }),
    );
  });
});

describe('a stream that goes wrong', () => {
  const good = eventsOf(message([{ type: 'text', text: 'one two three' }]));

  test('at its start is an error before the answer, so that another provider can be asked', async () => {
    const overloaded = [good[0] as WireEvent, error('overloaded_error')];
    const failure = await streamed(overloaded, [30]).catch((thrown: unknown) => thrown);
    expect(failure).toBeInstanceOf(UpstreamError);
    expect(failure).toMatchObject({
      kind: 'server',
      isPassing: true,
      details: { status: 529, type: 'overloaded_error' },
    });
  });

  test('in its middle gives what had come, and then the error', async () => {
    const types = {
      rate_limit_error: 'rate_limit',
      api_error: 'server',
      timeout_error: 'timeout',
      invalid_request_error: 'request',
    };
    for (const [type, kind] of Object.entries(types)) {
      const { text, failure } = await readUntilFailure([...good.slice(0, 4), error(type)]);
      expect('one two three'.startsWith(text) && text !== '').toBe(true);
      expect(failure).toMatchObject({ kind });
    }
  });

  test('by ending early is one that broke', async () => {
    const { failure } = await readUntilFailure(good.slice(0, -1));
    expect(failure).toMatchObject({ kind: 'network' });
  });

  test('with no events at all is one that said nothing', async () => {
    const failure = await streamed([], [1]).catch((thrown: unknown) => thrown);
    expect(failure).toBeInstanceOf(UpstreamError);
  });
});

describe('what the provider refuses', () => {
  const refusal = (status: number, type: string, headers = {}) => {
    const body = { type: 'error', error: { type, message: `no, sk-secret, ${type}` }, request_id: 'req_1' };
    return chat(Response.json(body, { status, headers })).catch((thrown: unknown) => thrown);
  };

  test('keeps its kind, its status and its wait, and loses the key', async () => {
    expect(await refusal(400, 'invalid_request_error')).toMatchObject({
      kind: 'request',
      details: { status: 400, type: 'invalid_request_error' },
    });
    expect(await refusal(429, 'rate_limit_error', { 'retry-after': '7' })).toMatchObject({
      kind: 'rate_limit',
      details: { retryAfterMs: 7000 },
    });
    expect(await refusal(529, 'overloaded_error')).toMatchObject({
      kind: 'server',
      details: { status: 529 },
    });
    expect(await refusal(401, 'authentication_error')).toMatchObject({ kind: 'key' });
    expect(String(await refusal(500, 'api_error'))).not.toContain('sk-secret');
  });

  test('an answer that is none is the provider’s fault', async () => {
    for (const response of [new Response('<h1>hi</h1>'), Response.json({ hi: 1 }), Response.json(null)])
      expect(await chat(response).catch((thrown: unknown) => thrown)).toMatchObject({ kind: 'server' });
  });
});

function error(type: string): WireEvent {
  return { type: 'error', error: { type, message: 'so it is' } };
}

function message(content: readonly MessagesBlock[]): MessagesMessage {
  return {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude-opus-4-8',
    content: [...content],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 3, output_tokens: 4 },
  };
}

async function chat(response: Response, request: object = REQUEST) {
  const account = {
    name: 'anthropic',
    dialect: 'anthropic',
    baseUrl: '',
    trust: 'operator',
    keys: [],
    needsKey: true,
    settings: {},
  } as const;
  const key = { id: 'pky_1', secret: 'sk-secret', weight: 1 };
  const upstream: Upstream = {
    account,
    key,
    signal: new AbortController().signal,
    fetch: async () => response,
  };
  const answer = await anthropicAdapter.chat?.({ ...REQUEST, ...request }, upstream);
  if (!answer) throw new Error('no answer');
  return answer;
}

async function whole(answer: MessagesMessage, request?: object): Promise<ChatCompletion> {
  const got = await chat(Response.json(answer), request);
  if (got.kind !== 'whole') throw new Error('not whole');
  return got.completion;
}

async function chunksOf(events: readonly WireEvent[], sizes: readonly number[], request?: object) {
  const headers = { 'content-type': 'text/event-stream; charset=utf-8' };
  const got = await chat(new Response(cut(events, sizes), { headers }), { stream: true, ...request });
  if (got.kind !== 'stream') throw new Error('not a stream');
  return got.chunks;
}

async function streamed(
  events: readonly WireEvent[],
  sizes: readonly number[],
  request?: object,
): Promise<ChatCompletion> {
  return completionOf(await Array.fromAsync(await chunksOf(events, sizes, request)));
}

async function readUntilFailure(events: readonly WireEvent[]): Promise<{ text: string; failure: unknown }> {
  let text = '';
  try {
    for await (const { choices } of await chunksOf(events, [40])) text += choices[0]?.delta.content ?? '';
  } catch (failure) {
    return { text, failure };
  }
  throw new Error('it did not fail');
}

/** Without what differs by nature: when it was made, and how arguments are spaced. */
function normal({ choices: [choice], usage }: ChatCompletion) {
  const calls = choice?.message.tool_calls?.map((call) => ({
    ...call,
    function: JSON.parse(call.function?.arguments ?? ''),
  }));
  return { ...choice?.message, tool_calls: calls, finish: choice?.finish_reason, usage };
}

/** Content as requests say it: without what only answers have, texts that touch as one, and blank ones left out. */
function canonical(content: readonly MessagesBlock[]): MessagesBlock[] {
  const joined: MessagesBlock[] = [];
  for (const { citations: _, ...block } of content) {
    const last = joined.at(-1);
    if (block.type === 'text' && last?.type === 'text')
      joined.splice(-1, 1, { type: 'text', text: `${last.text}${block.text}` });
    else joined.push(block);
  }
  return joined.filter(({ type, text }) => type !== 'text' || text?.trim() !== '');
}
