import { afterAll, beforeAll, expect, test } from 'bun:test';
import Anthropic from '@anthropic-ai/sdk';
import { startDaemon, type TestDaemon } from './support/daemon.ts';
import { startBedrock, type TestBedrock } from './support/upstream-bedrock.ts';
import { startGemini, type TestGemini } from './support/upstream-gemini.ts';

let gemini: TestGemini;
let bedrock: TestBedrock;
let daemon: TestDaemon;
let client: Anthropic;

beforeAll(async () => {
  [gemini, bedrock] = await Promise.all([startGemini(), startBedrock()]);
  const env = {
    GEMINI_API_KEY: gemini.apiKey,
    GOOGLE_GEMINI_BASE_URL: gemini.url,
    AWS_ACCESS_KEY_ID: bedrock.accessKeyId,
    AWS_SECRET_ACCESS_KEY: bedrock.secretAccessKey,
    AWS_REGION: bedrock.region,
    AWS_ENDPOINT_URL_BEDROCK_RUNTIME: bedrock.url,
  };
  daemon = await startDaemon({ env });
  client = new Anthropic({ baseURL: `${daemon.url}/compat/anthropic`, apiKey: daemon.apiKey, maxRetries: 0 });
});

afterAll(async () => {
  await daemon?.stop();
  await gemini?.stop();
  await bedrock?.stop();
});

const say = (content: string) => [{ role: 'user' as const, content }];
const tool = (name: string) => ({
  name,
  input_schema: { type: 'object' as const, properties: { text: { type: 'string' } } },
});

const MODELS = [
  'google/gemini-2.5-flash',
  'google/gemini-3-pro-preview',
  'bedrock/eu.anthropic.claude-sonnet-4-5-eager-v1:0',
];

for (const model of MODELS)
  test(`the stock client of the Messages dialect goes round with tools and thoughts: ${model}`, async () => {
    const asked = {
      model,
      max_tokens: 9000,
      thinking: { type: 'enabled' as const, budget_tokens: 5000 },
      tools: [tool('read'), tool('write')],
    };
    for (const first of [
      await client.messages.create({ ...asked, messages: say('left right') }),
      await client.messages.stream({ ...asked, messages: say('left right') }).finalMessage(),
    ]) {
      expect(first.stop_reason).toBe('tool_use');
      const calls = first.content.filter((block) => block.type === 'tool_use');
      expect(calls.map(({ name }) => name)).toEqual(['read', 'write']);
      const thoughts = first.content.filter(({ type }) => type.endsWith('thinking'));
      expect(thoughts.length).toBeGreaterThan(0);
      const results = calls.map(({ id }, i) => ({
        type: 'tool_result' as const,
        tool_use_id: id,
        content: `result ${i}`,
      }));
      const second = await client.messages.create({
        ...asked,
        messages: [
          ...say('left right'),
          { role: 'assistant', content: first.content },
          { role: 'user', content: results },
        ],
      });
      expect(second.stop_reason).toBe('end_turn');
      const text = second.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('');
      expect(text).toContain('result');
      expect(second.usage.output_tokens).toBeGreaterThan(0);
    }
  });
