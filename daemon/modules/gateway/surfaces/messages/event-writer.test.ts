import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { ChatChunk, ChatCompletion } from '../../wire/chat.ts';
import type { MessagesBlock, MessagesEvent, MessagesMessage } from '../../wire/messages.ts';
import { EventWriter } from './event-writer.ts';
import answers from './fixtures/answers.json';
import { toMessage } from './message.ts';

const cases = answers.cases as unknown as {
  name: string;
  completion: ChatCompletion;
  message: MessagesMessage;
}[];

describe('a chat completion as a message', () => {
  for (const { name, completion, message } of cases)
    test(name, () => {
      expect(toMessage(completion)).toEqual(message);
      expect(collect(write(chunksOf(completion, 3)))).toEqual(message);
    });

  test('that ends with stop after calls has used tools', () => {
    const call = { id: 'c', type: 'function', function: { name: 'now', arguments: '{}' } };
    const message = { role: 'assistant' as const, content: null, tool_calls: [call] };
    const completion = completionOf({ choices: [{ index: 0, message, finish_reason: 'stop' }] });
    expect(toMessage(completion).stop_reason).toBe('tool_use');
  });

  test('streams as it is whole, however its chunks are cut and its calls take turns', () => {
    const word = fc.string({ maxLength: 20 });
    const call = fc.record({
      name: word,
      input: fc.dictionary(word, word, { maxKeys: 3, noNullPrototype: true }),
    });
    const said = fc.record({ thinking: word, text: word, calls: fc.array(call, { maxLength: 4 }) });
    fc.assert(
      fc.property(said, fc.integer({ min: 1, max: 9 }), ({ thinking, text, calls }, size) => {
        const tool_calls = calls.map(({ name, input }, i) => ({
          id: `call_${i}`,
          type: 'function',
          function: { name, arguments: JSON.stringify(input) },
        }));
        const message = {
          role: 'assistant' as const,
          content: text,
          reasoning_content: thinking,
          tool_calls,
        };
        const completion = completionOf({
          choices: [{ index: 0, message, finish_reason: calls.length > 0 ? 'tool_calls' : 'stop' }],
        });
        expect(collect(write(chunksOf(completion, size)))).toEqual(toMessage(completion));
      }),
    );
  });
});

describe('the events', () => {
  test('begin and end as clients expect, with one block open at a time', () => {
    const events = write(chunksOf(cases[0]?.completion as ChatCompletion, 4));
    expect(events.slice(0, 2).map(({ type }) => type)).toEqual(['message_start', 'ping']);
    expect(events.slice(-2).map(({ type }) => type)).toEqual(['message_delta', 'message_stop']);
    let open: number | undefined;
    let next = 0;
    for (const { type, index } of events.slice(2, -2)) {
      if (type === 'content_block_start') {
        expect(open).toBeUndefined();
        expect(index).toBe(next++);
        open = index;
      } else expect(index).toBe(open as number);
      if (type === 'content_block_stop') open = undefined;
    }
    expect(open).toBeUndefined();
  });

  test('of a call go out as its arguments come, also when another has begun', () => {
    const writer = new EventWriter();
    const call = (index: number, name: string | undefined, given: string): MessagesEvent[] =>
      writer.take(
        chunk({
          tool_calls: [
            { index, ...(name ? { id: name, type: 'function' } : {}), function: { name, arguments: given } },
          ],
        }),
      );
    const types = (events: readonly MessagesEvent[]) => events.map(({ type, index }) => `${type} ${index}`);
    call(0, 'read', '');
    expect(types(call(0, undefined, '{"a":'))).toEqual(['content_block_delta 0']);
    expect(types(call(1, 'now', '{}'))).toEqual([]);
    expect(types(call(0, undefined, '1}'))).toEqual([
      'content_block_delta 0',
      'content_block_stop 0',
      'content_block_start 1',
      'content_block_delta 1',
    ]);
  });

  test('give back what has to come back, when no thought can carry it', () => {
    const writer = new EventWriter();
    writer.take(chunk({ content: 'hi', provider_content: [{ type: 'google.text' }] }));
    const hidden = writer.end().find(({ content_block }) => content_block?.type === 'redacted_thinking');
    expect(hidden?.content_block?.data).toStartWith('svc1.');
  });
});

function chunk(delta: ChatChunk['choices'][number]['delta'], finish_reason: string | null = null): ChatChunk {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm-1',
    choices: [{ index: 0, delta, finish_reason }],
  };
}

function completionOf(more: Pick<ChatCompletion, 'choices'>): ChatCompletion {
  return { id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: 'm-1', ...more };
}

/** The chunks of a completion: thinking, text, then calls by turns, each so many characters at a time. */
function chunksOf({ choices: [choice], usage, id, model }: ChatCompletion, size: number): ChatChunk[] {
  const {
    content,
    refusal,
    tool_calls = [],
    provider_content,
    ...rest
  } = (choice?.message ?? {}) as ChatCompletion['choices'][number]['message'];
  const { reasoning_content = '' } = rest as { reasoning_content?: string };
  const calls = tool_calls.map((call) => pieces(call.function?.arguments ?? '', size));
  const rounds = Math.max(0, ...calls.map(({ length }) => length));
  const all = [
    chunk({ role: 'assistant', content: '' }),
    ...pieces(reasoning_content, size).map((text) => chunk({ reasoning_content: text } as never)),
    ...(provider_content ? [chunk({ provider_content })] : []),
    ...pieces(typeof content === 'string' ? content : '', size).map((text) => chunk({ content: text })),
    ...(refusal ? [chunk({ refusal })] : []),
    ...tool_calls.map((call, index) =>
      chunk({
        tool_calls: [
          {
            index,
            id: call.id,
            type: 'function',
            function: { name: call.function?.name ?? '', arguments: '' },
          },
        ],
      }),
    ),
    ...Array.from({ length: rounds }, (_, round) =>
      calls.flatMap((texts, index) => {
        const text = texts[round];
        return text === undefined ? [] : [chunk({ tool_calls: [{ index, function: { arguments: text } }] })];
      }),
    ).flat(),
    chunk({}, choice?.finish_reason),
    { ...chunk({}), choices: [], usage },
  ];
  return all.map((one) => ({ ...one, id, model }));
}

function pieces(text: string, size: number): string[] {
  return Array.from({ length: Math.ceil(text.length / size) }, (_, i) =>
    text.slice(i * size, (i + 1) * size),
  );
}

function write(chunks: readonly ChatChunk[]): MessagesEvent[] {
  const writer = new EventWriter();
  return [...chunks.flatMap((one) => writer.take(one)), ...writer.end()];
}

/** Puts events together as clients of this dialect do. */
function collect(events: readonly MessagesEvent[]): MessagesMessage {
  let message = {} as { -readonly [K in keyof MessagesMessage]: MessagesMessage[K] };
  const blocks: Record<string, unknown>[] = [];
  const json: string[] = [];
  for (const { type, index = 0, message: begun, content_block, delta, usage } of events) {
    if (type === 'message_start') message = { ...(begun as MessagesMessage) };
    else if (type === 'content_block_start') blocks[index] = { ...content_block };
    else if (type === 'message_delta') Object.assign(message, delta, { usage });
    else if (delta?.partial_json !== undefined) json[index] = (json[index] ?? '') + delta.partial_json;
    else
      for (const name of ['text', 'thinking', 'signature'] as const)
        if (delta?.[name] !== undefined)
          blocks[index] = { ...blocks[index], [name]: `${blocks[index]?.[name]}${delta[name]}` };
  }
  json.forEach((text, index) => {
    blocks[index] = { ...blocks[index], input: JSON.parse(text) };
  });
  return { ...message, content: blocks as unknown as MessagesBlock[] };
}
