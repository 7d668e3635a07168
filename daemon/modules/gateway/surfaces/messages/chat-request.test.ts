import { describe, expect, test } from 'bun:test';
import type { ChatRequest } from '../../wire/chat.ts';
import type { MessagesRequest } from '../../wire/messages.ts';
import { withoutOthersThoughts } from './carried.ts';
import { toChatRequest } from './chat-request.ts';
import requests from './fixtures/requests.json';
import { tasteOf } from './taste.ts';

const EVERYTHING = { limit: 'max_completion_tokens', marks: true, thoughts: true, ownWords: false } as const;
const cases = requests.cases as unknown as { name: string; messages: MessagesRequest; chat: ChatRequest }[];
const [FIRST, , , THOUGHTFUL] = cases.map(({ messages }) => messages);

describe('a message as a chat completion', () => {
  for (const { name, messages, chat } of cases)
    test(name, () => {
      expect(toChatRequest(messages, EVERYTHING)).toEqual(chat);
    });

  test('says nothing that an upstream of that dialect may refuse', () => {
    for (const request of [FIRST, THOUGHTFUL]) {
      const plain = JSON.stringify(
        toChatRequest(request as MessagesRequest, tasteOf({ name: 'openai', dialect: 'openai' })),
      );
      for (const word of ['cache_control', 'reasoning_content', 'provider_content', '"top_k"'])
        expect(plain).not.toContain(word);
    }
  });

  test('says thinking and top_k as they came to adapters that read them', () => {
    const own = { thinking: { type: 'enabled', budget_tokens: 5000 }, top_k: 5 };
    const request = { ...(FIRST as MessagesRequest), ...own };
    expect(toChatRequest(request, tasteOf({ name: 'vertex', dialect: 'vertex' }))).toMatchObject(own);
    expect(toChatRequest(request, tasteOf({ name: 'groq', dialect: 'openai' }))).not.toHaveProperty(
      'thinking',
    );
  });

  test('limits the answer by the word that the upstream knows', () => {
    const limited = (name: string, dialect: 'openai' | 'azure' | 'gemini') =>
      toChatRequest(FIRST as MessagesRequest, tasteOf({ name, dialect }));
    expect(limited('openai', 'openai')).toMatchObject({ max_completion_tokens: 100 });
    expect(limited('mine', 'azure')).toMatchObject({ max_completion_tokens: 100 });
    expect(limited('google', 'gemini')).toMatchObject({ max_completion_tokens: 100 });
    expect(limited('mistral', 'openai')).toMatchObject({ max_tokens: 100 });
  });

  const refusals: ReadonlyArray<[string, object, string]> = [
    [
      'a tool that another provider runs',
      { tools: [{ type: 'web_search_20250305', name: 'web_search' }] },
      'tools.0',
    ],
    [
      'a picture in another provider’s store',
      { messages: [{ role: 'user', content: [{ type: 'image', source: { type: 'file', file_id: 'f' } }] }] },
      'messages.0.content.0.source',
    ],
    [
      'a block of an unknown type',
      { messages: [{ role: 'user', content: [{ type: 'smell' }] }] },
      'messages.0.content.0',
    ],
    [
      'a choice of an unknown type',
      { tools: [{ name: 'now', input_schema: {} }], tool_choice: { type: 'perhaps' } },
      'tool_choice.type',
    ],
    [
      'a result in the wrong turn',
      { messages: [{ role: 'assistant', content: [{ type: 'tool_result', tool_use_id: 'x' }] }] },
      'messages.0.content.0',
    ],
  ];
  for (const [what, more, param] of refusals)
    test(`refuses ${what}, and names it`, () => {
      const request = {
        model: 'm',
        max_tokens: 1,
        messages: [{ role: 'user', content: 'hi' }],
        ...more,
      } as MessagesRequest;
      let thrown: unknown;
      try {
        toChatRequest(request, EVERYTHING);
      } catch (error) {
        thrown = error;
      }
      expect(thrown).toMatchObject({ kind: 'request', details: { status: 400, param } });
    });
});

describe('thoughts of other providers', () => {
  test('are left out of a request to the provider of this dialect', () => {
    const content = THOUGHTFUL?.messages[1]?.content;
    const kept = withoutOthersThoughts(THOUGHTFUL as MessagesRequest).messages[1]?.content;
    expect(kept).toEqual(Array.isArray(content) ? content.slice(1) : []);
  });

  test('a request without any stays the very same', () => {
    const request = {
      messages: [
        { role: 'user' as const, content: 'hi' },
        { role: 'assistant' as const, content: [{ type: 'thinking', thinking: 'x', signature: 'c2ln' }] },
      ],
    };
    expect(withoutOthersThoughts(request)).toBe(request);
  });
});
