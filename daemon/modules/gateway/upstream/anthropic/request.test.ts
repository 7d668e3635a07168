import { describe, expect, test } from 'bun:test';
import type { ChatRequest } from '../../wire/chat.ts';
import { UpstreamError } from '../error.ts';
import content from './fixtures/request-content.json';
import output from './fixtures/request-output.json';
import thinking from './fixtures/request-thinking.json';
import tools from './fixtures/request-tools.json';
import { translateRequest } from './request.ts';

const cases = [tools, content, thinking, output].flatMap((file) => file.cases as Case[]);

interface Case {
  readonly name: string;
  readonly chat: ChatRequest;
  readonly messages: object;
}

describe('a chat completion as a message', () => {
  for (const { name, chat, messages } of cases)
    test(name, () => {
      expect(translateRequest(chat).body).toEqual(messages as never);
    });

  test('streams when it is asked to', () => {
    expect(translate({ stream: true }).stream).toBe(true);
  });

  test('keeps what is said in the words of this dialect', () => {
    const own = {
      thinking: { type: 'enabled', budget_tokens: 2000 },
      top_k: 5,
      cache_control: { type: 'ephemeral' },
    };
    expect(translate({ ...own, model: 'claude-sonnet-4-5' })).toMatchObject({
      thinking: own.thinking,
      cache_control: own.cache_control,
    });
    expect(translate({ ...own, thinking: { type: 'disabled' }, model: 'claude-sonnet-4-5' }).top_k).toBe(5);
  });

  test('leaves temperatures out for a version of the API that refuses them', () => {
    const request = { model: 'claude-haiku-4-5', messages: HELLO, temperature: 0.5 };
    expect(translateRequest(request, '2023-06-01').body.temperature).toBe(0.5);
    expect(translateRequest(request, '2026-10-21').body).not.toHaveProperty('temperature');
  });

  test('searches the web by the tool of the provider', () => {
    const web_search_options = {
      user_location: { type: 'approximate', approximate: { city: 'Bern', country: 'CH' } },
    };
    expect(translate({ web_search_options }).tools).toEqual([
      {
        type: 'web_search_20250305',
        name: 'web_search',
        user_location: { type: 'approximate', city: 'Bern', country: 'CH' },
      } as never,
    ]);
  });

  const refusals: ReadonlyArray<[string, object, string]> = [
    ['several answers', { n: 2 }, 'n'],
    [
      'sound',
      {
        messages: [
          { role: 'user', content: [{ type: 'input_audio', input_audio: { data: 'aGk=', format: 'wav' } }] },
        ],
      },
      'messages.0.content.0',
    ],
    [
      'an unknown part',
      { messages: [{ role: 'user', content: [{ type: 'smell' }] }] },
      'messages.0.content.0',
    ],
    [
      'a file without anything',
      { messages: [{ role: 'user', content: [{ type: 'file', file: {} }] }] },
      'messages.0.content.0.file',
    ],
    [
      'a picture that cannot be read',
      { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:,%' } }] }] },
      'messages.0.content.0.image_url.url',
    ],
    ['a tool of another kind', { tools: [{ type: 'custom', custom: { name: 'x' } }] }, 'tools.0'],
    [
      'a choice of another kind',
      { tools: [{ type: 'function', function: { name: 'x' } }], tool_choice: { type: 'allowed_tools' } },
      'tool_choice',
    ],
  ];
  for (const [what, more, param] of refusals)
    test(`refuses ${what} with 400, and names it`, () => {
      try {
        translate(more);
        throw new Error('not refused');
      } catch (error) {
        expect(error).toBeInstanceOf(UpstreamError);
        expect(error).toMatchObject({ kind: 'request', details: { status: 400, param } });
      }
    });
});

const HELLO = [{ role: 'user' as const, content: 'hi' }];

function translate(more: object) {
  return translateRequest({ model: 'claude-opus-4-8', messages: HELLO, ...more }).body;
}
