import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { ProviderAccount } from '../../../../providers/index.ts';
import { UpstreamError } from '../../../upstream/error.ts';
import { itemsOf, keptItem } from '../items.ts';
import { nativeRequestOf } from '../native/request.ts';
import type { Item, ResponseRequest } from '../wire.ts';
import { chatRequestOf } from './request.ts';
import { sealContent } from './sealed.ts';

const account: ProviderAccount = {
  name: 'plain',
  dialect: 'openai',
  baseUrl: 'https://plain.example/v1',
  trust: 'operator',
  keys: [],
  needsKey: false,
  settings: {},
};
const chatOf = (request: Partial<ResponseRequest>, on: Partial<ProviderAccount> = {}) => {
  const whole = { model: 'm', ...request } as ResponseRequest;
  return chatRequestOf(whole, itemsOf(whole.input), { ...account, ...on }, new Map([['rs_other', 'other']]));
};
const messagesOf = (...input: Item[]) => chatOf({ input }, { dialect: 'anthropic' }).messages;

const CALL = { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'f', arguments: '{"a":1}' };
const CHAT_CALL = { id: 'call_1', type: 'function', function: { name: 'f', arguments: '{"a":1}' } };

describe('a conversation as messages', () => {
  test('a text, with instructions', () => {
    expect(chatOf({ input: 'hi', instructions: 'Be brief.' }).messages).toEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'hi' },
    ]);
  });

  test('a turn of thinking, words and parallel calls is one message; results follow', () => {
    const items: Item[] = [
      { role: 'user', content: 'go' },
      {
        type: 'reasoning',
        summary: [{ type: 'summary_text', text: 'hm' }],
        encrypted_content: sealContent([{ signature: 's' }]),
      },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'I look.' }] },
      CALL,
      { ...CALL, call_id: 'call_2' },
      { type: 'function_call_output', call_id: 'call_1', output: '1' },
      { type: 'function_call_output', call_id: 'call_2', output: [{ type: 'input_text', text: '2' }] },
    ];
    expect(messagesOf(...items)).toEqual([
      { role: 'user', content: 'go' },
      {
        role: 'assistant',
        content: 'I look.',
        reasoning_content: 'hm',
        provider_content: [{ signature: 's' }],
        tool_calls: [CHAT_CALL, { ...CHAT_CALL, id: 'call_2' }],
      } as never,
      { role: 'tool', tool_call_id: 'call_1', content: '1' },
      { role: 'tool', tool_call_id: 'call_2', content: '2' },
    ]);
  });

  test('pictures, files and sound', () => {
    const content = [
      { type: 'input_text', text: 'see' },
      { type: 'input_image', image_url: 'data:image/png;base64,AA==', detail: 'low' },
      { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,AA==' },
      { type: 'input_file', file_url: 'https://example.com/a.pdf' },
      { type: 'input_audio', input_audio: { data: 'AA==', format: 'wav' } },
    ];
    expect(messagesOf({ role: 'user', content })).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'see' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==', detail: 'low' } },
          { type: 'file', file: { file_data: 'data:application/pdf;base64,AA==', filename: 'a.pdf' } },
          { type: 'file', file: { file_data: 'https://example.com/a.pdf' } },
          { type: 'input_audio', input_audio: { data: 'AA==', format: 'wav' } },
        ],
      },
    ]);
  });

  test('what a vendor did by itself, and thoughts that nobody can open, are left out', () => {
    const lost = { type: 'reasoning', summary: [], encrypted_content: 'of another vendor' };
    expect(
      messagesOf(lost, { type: 'web_search_call', id: 'ws_1' }, { role: 'user', content: 'on' }),
    ).toEqual([{ role: 'user', content: 'on' }]);
  });

  test('the family gets thoughts back for calls that are being answered, and nothing of others', () => {
    const thought = (id: string) => ({
      type: 'reasoning',
      id,
      summary: [{ type: 'summary_text', text: `by ${id}` }],
    });
    const result = { type: 'function_call_output', call_id: 'call_1', output: '1' };
    const items = [
      thought('rs_own'),
      { role: 'assistant' as const, content: 'a' },
      { role: 'user' as const, content: 'go' },
    ];
    const { messages } = chatOf({ input: [...items, thought('rs_own'), thought('rs_other'), CALL, result] });
    expect(messages).toEqual([
      { role: 'assistant', content: 'a' },
      { role: 'user', content: 'go' },
      { role: 'assistant', content: null, reasoning_content: 'by rs_own', tool_calls: [CHAT_CALL] } as never,
      { role: 'tool', tool_call_id: 'call_1', content: '1' },
    ]);
  });

  test('a developer is the system', () => {
    expect(messagesOf({ role: 'developer', content: 'x' })).toEqual([{ role: 'system', content: 'x' }]);
  });

  test('a refusal stays one', () => {
    const content = [{ type: 'refusal', refusal: 'No.' }];
    expect(messagesOf({ role: 'assistant', content })).toEqual([
      { role: 'assistant', content: null, refusal: 'No.' },
    ]);
  });
});

describe('what is asked for', () => {
  const tool = {
    type: 'function',
    name: 'f',
    description: 'd',
    parameters: { type: 'object' },
    strict: true,
  };
  const CASES: ReadonlyArray<[string, Partial<ResponseRequest>, object]> = [
    ['a limit', { max_output_tokens: 5 }, { max_tokens: 5 }],
    ['an effort', { reasoning: { effort: 'low', summary: 'auto' } }, { reasoning_effort: 'low' }],
    ['verbosity', { text: { format: { type: 'text' }, verbosity: 'low' } }, { verbosity: 'low' }],
    ['JSON', { text: { format: { type: 'json_object' } } }, { response_format: { type: 'json_object' } }],
    [
      'a schema',
      { text: { format: { type: 'json_schema', name: 's', schema: { type: 'object' }, strict: true } } },
      {
        response_format: {
          type: 'json_schema',
          json_schema: { name: 's', schema: { type: 'object' }, strict: true },
        },
      },
    ],
    [
      'tools',
      { tools: [tool], tool_choice: 'required', parallel_tool_calls: false },
      {
        tools: [
          {
            type: 'function',
            function: { name: 'f', description: 'd', parameters: { type: 'object' }, strict: true },
          },
        ],
        tool_choice: 'required',
        parallel_tool_calls: false,
      },
    ],
    ['no tools, so no choice among them', { tool_choice: 'auto', parallel_tool_calls: true }, {}],
    ['log probabilities', { top_logprobs: 2 }, { logprobs: true, top_logprobs: 2 }],
    [
      'settings of the gateway and of the dialect alone',
      {
        store: true,
        metadata: { a: 'b' },
        previous_response_id: 'resp_1',
        truncation: 'auto',
        max_tool_calls: 3,
      },
      {},
    ],
  ];
  test.each(CASES)('%s', (_, request, expected) => {
    const { model: _model, messages: _messages, ...rest } = chatOf({ input: 'x', ...request });
    expect(rest as object).toEqual(expected);
  });

  test('one tool, and some of them', () => {
    const tools = [tool, { ...tool, name: 'g' }];
    expect(
      chatOf({ input: 'x', tools, tool_choice: { type: 'function', name: 'g' } as never }).tool_choice,
    ).toEqual({
      type: 'function',
      function: { name: 'g' },
    } as never);
    const some = { type: 'allowed_tools', mode: 'required', tools: [{ type: 'function', name: 'g' }] };
    const chat = chatOf({ input: 'x', tools, tool_choice: some as never });
    expect(chat.tools?.map(({ function: one }) => one?.name)).toEqual(['g']);
    expect(chat.tool_choice).toBe('required');
  });

  test('the limit has the name that the vendor’s own models know', () => {
    expect(chatOf({ input: 'x', max_output_tokens: 5 }, { name: 'openai' })).toMatchObject({
      max_completion_tokens: 5,
    });
  });
});

describe('what is refused', () => {
  const CASES: ReadonlyArray<[Partial<ResponseRequest>, string]> = [
    [{ tools: [{ type: 'web_search' }] }, 'tools.0.type'],
    [{ tools: [{ type: 'function', name: 'f' }], tool_choice: { type: 'mcp' } }, 'tool_choice.type'],
    [{ input: [{ type: 'function_call_output', output: 'x' }] }, 'input.0.call_id'],
    [{ input: [{ type: 'function_call', call_id: 'c' }] }, 'input.0.name'],
    [
      { input: [{ role: 'user', content: [{ type: 'input_image', file_id: 'f' }] }] },
      'input.0.content.0.image_url',
    ],
    [{ input: [{ role: 'user', content: [{ type: 'input_file' }] }] }, 'input.0.content.0'],
    [{ input: [{ type: 'thing' }] }, 'input.0.type'],
    [{ text: { format: { type: 'xml' } } }, 'text.format.type'],
  ];
  test.each(CASES)('%j names %s', (request, param) => {
    const refused = () => chatOf({ input: 'x', ...request });
    expect(refused).toThrow(UpstreamError);
    try {
      refused();
    } catch (error) {
      expect((error as UpstreamError).details).toMatchObject({ param, status: 400 });
    }
  });
});

const text = fc.oneof(fc.constant(null), fc.string({ maxLength: 5 }));
const part = fc.record(
  {
    type: fc.constantFrom(
      'input_text',
      'output_text',
      'refusal',
      'input_image',
      'input_file',
      'summary_text',
      'x',
    ),
    text: fc.string({ maxLength: 5 }),
    refusal: text,
    image_url: text,
    file_data: text,
  },
  { requiredKeys: ['type'] },
);
const item = fc.record(
  {
    type: fc.constantFrom(
      'message',
      'reasoning',
      'function_call',
      'function_call_output',
      'web_search_call',
      'x',
    ),
    id: text,
    status: text,
    role: fc.constantFrom('user', 'assistant', 'system', 'developer'),
    content: fc.oneof(text, fc.array(part, { maxLength: 3 })),
    call_id: fc.string({ maxLength: 3 }),
    name: fc.string({ maxLength: 3 }),
    arguments: fc.string({ maxLength: 3 }),
    output: fc.oneof(text, fc.array(part, { maxLength: 2 })),
    summary: fc.oneof(fc.constant(null), fc.array(part, { maxLength: 2 })),
    encrypted_content: fc.oneof(text, fc.constant(sealContent([1])), fc.constant('svc1.nonsense')),
  },
  { requiredKeys: [] },
);

describe('whatever a conversation is made of', () => {
  test('it is said in chat completions, or refused with its place; and it is said natively', () => {
    fc.assert(
      fc.property(
        fc.array(item, { maxLength: 8 }),
        fc.constantFrom('openai', 'anthropic'),
        (items, dialect) => {
          const input = items as Item[];
          try {
            const { messages } = chatOf({ input }, { dialect: dialect as ProviderAccount['dialect'] });
            expect(messages.every(({ role }) => typeof role === 'string')).toBe(true);
          } catch (error) {
            expect((error as UpstreamError).details).toMatchObject({
              status: 400,
              param: expect.stringMatching(/^input\.\d/),
            });
          }
          const native = nativeRequestOf({ model: 'm' }, input, account, new Map());
          for (const one of native.input as Item[]) expect(Object.values(one)).not.toContain(null);
          for (const one of input) expect(keptItem(one, 0).id).toBeTruthy();
        },
      ),
      { numRuns: 500 },
    );
  });
});
