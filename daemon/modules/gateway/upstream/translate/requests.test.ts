import { expect, test } from 'bun:test';
import fc from 'fast-check';
import type { ChatRequest } from '../../wire/chat.ts';
import { toConverse } from '../bedrock/request.ts';
import { toCohere } from '../cohere/request.ts';
import { UpstreamError } from '../error.ts';
import { toGemini } from '../gemini/request.ts';

const url = fc.constantFrom(
  '',
  'data:',
  'data:,%',
  'data:image/png;base64,aGk=',
  's3://b/a',
  'https://e.com/a.png',
  'x',
  'gs://b/a.pdf',
);
const text = fc.constantFrom('', ' ', 'a', '{"a":1}', '[', 'é🙂', '\ud800');
const part = fc.oneof(
  fc.record({ type: fc.constant('text'), text }, { requiredKeys: ['type'] }),
  fc.record({ type: fc.constant('image_url'), image_url: fc.record({ url }) }, { requiredKeys: ['type'] }),
  fc.record(
    { type: fc.constant('video_url'), video_url: fc.oneof(fc.record({ url }), fc.constant(null)) },
    { requiredKeys: ['type'] },
  ),
  fc.record(
    {
      type: fc.constant('file'),
      file: fc.record({ file_data: url, file_id: url, filename: text }, { requiredKeys: [] }),
    },
    { requiredKeys: ['type'] },
  ),
  fc.record(
    { type: fc.constant('input_audio'), input_audio: fc.record({ data: text, format: text }) },
    { requiredKeys: ['type'] },
  ),
  fc.record({ type: text }),
);
const kept = fc.oneof(
  fc.record({
    type: fc.constant('google.text'),
    from: fc.integer({ min: -2, max: 5 }),
    to: fc.integer({ min: -2, max: 5 }),
    signature: text,
  }),
  fc.record({
    type: fc.constant('google.part'),
    at: fc.nat(5),
    part: fc.constantFrom({}, null, { text: 'x' }),
  }),
  fc.record({
    type: fc.constantFrom('google.call', 'bedrock.reasoning', 'cohere.thinking', 'cohere.tool_plan'),
    call: text,
    reasoning: fc.constantFrom(null, {}),
  }),
  fc.constantFrom(null, 1, 'x', {}),
);
const call = fc.record(
  { id: text, type: fc.constant('function'), function: fc.record({ name: text, arguments: text }) },
  { requiredKeys: ['id', 'type'] },
);
const message = fc.record(
  {
    role: fc.constantFrom('system', 'developer', 'user', 'assistant', 'tool', 'function'),
    content: fc.oneof(text, fc.constant(null), fc.array(part, { maxLength: 3 })),
    name: text,
    tool_call_id: text,
    tool_calls: fc.array(call, { maxLength: 2 }),
    provider_content: fc.array(kept, { maxLength: 3 }),
    cache_control: fc.constantFrom(null, {}, { type: 'ephemeral', ttl: '1h' }),
  },
  { requiredKeys: ['role'] },
);
const schema = fc.constantFrom(
  undefined,
  {},
  { $ref: '#/x', type: 'x' },
  { allOf: [{}, 1], const: null },
  { properties: 3, items: [{ const: 1 }] },
);
const tool = fc.record(
  {
    type: fc.constantFrom('function', 'web_search', 'x'),
    function: fc.record({ name: text, parameters: schema }),
  },
  { requiredKeys: ['type'] },
);
const request = fc.record(
  {
    model: fc.constantFrom(
      'gemini-3-pro',
      'anthropic.claude-3-7-sonnet',
      'eu.anthropic.claude-opus-4-8',
      'amazon.nova-2-lite',
      'mistral.x',
      '',
    ),
    messages: fc.array(message, { minLength: 1, maxLength: 5 }),
    tools: fc.array(tool, { maxLength: 2 }),
    tool_choice: fc.constantFrom(
      'auto',
      'none',
      'required',
      'x',
      { type: 'function' },
      { type: 'function', function: { name: 'a' } },
      { type: 'allowed_tools' },
    ),
    response_format: fc.constantFrom(
      { type: 'text' },
      { type: 'json_object' },
      { type: 'json_schema' },
      { type: 'json_schema', json_schema: { schema: {} } },
    ),
    reasoning_effort: fc.constantFrom('none', 'low', 'x', null),
    thinking: fc.constantFrom(null, {}, { type: 'enabled', budget_tokens: 5 }),
    stop: fc.constantFrom(null, 'a', []),
    temperature: fc.constantFrom(null, 0, 2),
    max_tokens: fc.constantFrom(null, 1, 5000),
    extra_body: fc.constantFrom(null, {}, { google: 1 }, { google: { thinking_config: {} } }),
  },
  { requiredKeys: ['model', 'messages'] },
) as fc.Arbitrary<unknown> as fc.Arbitrary<ChatRequest>;

for (const [name, translate] of Object.entries({ gemini: toGemini, bedrock: toConverse, cohere: toCohere }))
  test(`${name}: a request of any shape is translated or refused, and is not changed`, () => {
    fc.assert(
      fc.property(request, (asked) => {
        const before = JSON.stringify(asked);
        try {
          expect(JSON.parse(JSON.stringify(translate(asked)))).toBeObject();
        } catch (error) {
          expect(error).toBeInstanceOf(UpstreamError);
          expect((error as UpstreamError).kind).toBe('request');
        }
        expect(JSON.stringify(asked)).toBe(before);
      }),
      { numRuns: 1500 },
    );
  });
