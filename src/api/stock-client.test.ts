import { describe, expect, test } from 'bun:test';
import { FormatRegistry } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import OpenAI from 'openai';
import type { Endpoint } from './endpoint.ts';
import { operations } from './index.ts';

FormatRegistry.Set('binary', () => true);
FormatRegistry.Set('byte', () => true);

/** What the stock client put on the wire for one call. */
interface Sent {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
}

async function sentBy(call: (client: OpenAI) => PromiseLike<unknown>): Promise<Sent> {
  let sent: Sent | undefined;
  const client = new OpenAI({
    apiKey: 's_key',
    baseURL: 'http://localhost/compat/v1',
    maxRetries: 0,
    fetch: async (url, init) => {
      const body = typeof init?.body === 'string' ? JSON.parse(init.body) : init?.body;
      sent = { method: init?.method ?? 'GET', path: new URL(String(url)).pathname, body };
      return Response.json({ data: [], has_more: false });
    },
  });
  await call(client);
  if (!sent) throw new Error('The client sent nothing.');
  return sent;
}

function endpointAt(method: string, path: string): Endpoint | undefined {
  const matches = operations.filter(
    (one) => one.method.toLowerCase() === method.toLowerCase() && fits(one.path, path),
  );
  return matches.toSorted((a, b) => literals(b.path) - literals(a.path))[0];
}

function fits(declared: string, path: string): boolean {
  const [wanted, given] = [declared.split('/'), path.split('/')];
  return (
    wanted.length === given.length && wanted.every((part, i) => part.startsWith('{') || part === given[i])
  );
}

const literals = (path: string) => path.split('/').filter((part) => !part.startsWith('{')).length;
const file = new File(['x'], 'x.wav');
const weather = { type: 'function', description: 'Weather', name: 'weather', parameters: {} } as const;

const CALLS: ReadonlyArray<[string, (client: OpenAI) => PromiseLike<unknown>]> = [
  ['ListCompatModels', (c) => c.models.list()],
  ['GetCompatModel', (c) => c.models.retrieve('local/echo')],
  [
    'ChatCompletion',
    (c) =>
      c.chat.completions.create({
        model: 'm',
        messages: [
          { role: 'developer', content: 'Be brief.' },
          {
            role: 'user',
            content: [
              { type: 'text', text: 'What is this?' },
              { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==', detail: 'low' } },
            ],
          },
          {
            role: 'assistant',
            content: null,
            tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
          },
          { role: 'tool', tool_call_id: 'c', content: 'a cat' },
        ],
        tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }],
        tool_choice: { type: 'function', function: { name: 'f' } },
        response_format: { type: 'json_schema', json_schema: { name: 's', schema: {} } },
        stop: ['\n'],
        temperature: null,
      }),
  ],
  ['CreateCompletion', (c) => c.completions.create({ model: 'm', prompt: [1, 2, 3], max_tokens: 5 })],
  ['Embeddings', (c) => c.embeddings.create({ model: 'm', input: ['a', 'b'], dimensions: 8 })],
  [
    'Moderation',
    (c) => c.moderations.create({ input: [{ type: 'image_url', image_url: { url: 'http://localhost/a' } }] }),
  ],
  [
    'CreateResponse',
    (c) =>
      c.responses.create({
        model: 'm',
        input: [
          { role: 'user', content: [{ type: 'input_text', text: 'hi' }] },
          { type: 'function_call_output', call_id: 'c', output: '{}' },
        ],
        tools: [{ type: 'function', name: 'f', parameters: {}, strict: true }],
        reasoning: { effort: 'low' },
        text: { format: { type: 'text' } },
      }),
  ],
  ['GetResponse', (c) => c.responses.retrieve('resp_1')],
  ['DeleteResponse', (c) => c.responses.delete('resp_1')],
  ['CancelResponse', (c) => c.responses.cancel('resp_1')],
  ['ListResponseInputItems', (c) => c.responses.inputItems.list('resp_1')],
  ['ImageGeneration', (c) => c.images.generate({ prompt: 'a cat', n: 2, size: '1024x1024' })],
  ['ImageEdit', (c) => c.images.edit({ image: file, prompt: 'a dog' })],
  ['CreateCompatImageVariation', (c) => c.images.createVariation({ image: file })],
  ['Speech', (c) => c.audio.speech.create({ model: 'm', input: 'hello', voice: 'alloy', speed: 1.5 })],
  ['Transcription', (c) => c.audio.transcriptions.create({ file, model: 'm' })],
  ['Translation', (c) => c.audio.translations.create({ file, model: 'm' })],
  [
    'CreateAgent',
    (c) =>
      c.beta.agents.create({
        model: 'm',
        name: null,
        tools: [
          weather,
          { type: 'mcp', server_label: 's', transport: { type: 'http', server_url: 'http://localhost' } },
        ],
        reasoning: { effort: 'low' },
        compaction: { async: true },
        multi_agent: { enabled: true },
      }),
  ],
  ['ListAgents', (c) => c.beta.agents.list({ limit: 5, order: 'asc' })],
  ['GetAgent', (c) => c.beta.agents.retrieve('agt_1')],
  ['UpdateAgent', (c) => c.beta.agents.update('agt_1', { instructions: 'Be brief.' })],
  ['DeleteAgent', (c) => c.beta.agents.delete('agt_1')],
  [
    'CreateSession',
    (c) =>
      c.beta.agents.sessions.create({
        agent_id: 'agt_1',
        environment: {
          type: 'openai_hosted',
          packages: { npm: ['left-pad'] },
          network: { access: 'disabled' },
        },
        input: [{ role: 'user', content: [{ type: 'input_text', text: 'go' }] }],
        spend_control: { limit: 5 },
        review: 'auto_review',
      }),
  ],
  ['ListSessions', (c) => c.beta.agents.sessions.list({ agent_id: 'agt_1', metadata: { team: 'a' } })],
  ['GetSession', (c) => c.beta.agents.sessions.retrieve('ses_1')],
  ['UpdateSession', (c) => c.beta.agents.sessions.update('ses_1', { spend_control: { limit: null } })],
  ['DeleteSession', (c) => c.beta.agents.sessions.delete('ses_1')],
  [
    'SubmitEvents',
    (c) =>
      c.beta.agents.sessions.events.create('ses_1', {
        events: [
          { type: 'agent.session.input.cancel' },
          {
            type: 'agent.session.input.tool_result',
            call_id: 'c',
            turn_id: 't',
            success: true,
            output: [{ type: 'input_text', text: 'done' }],
          },
          {
            type: 'agent.session.input.mcp_approval_request_result',
            request_id: 'r',
            response: { type: 'mcp_tool_call', decision: 'approve' },
          },
        ],
      }),
  ],
  ['ListItems', (c) => c.beta.agents.sessions.items.list('ses_1')],
  ['ListTurns', (c) => c.beta.agents.sessions.turns.list('ses_1')],
  ['GetTurn', (c) => c.beta.agents.sessions.turns.retrieve('turn_1', { session_id: 'ses_1' })],
  ['ListTurnItems', (c) => c.beta.agents.sessions.turns.items.list('turn_1', { session_id: 'ses_1' })],
  ['ListSubagents', (c) => c.beta.agents.sessions.subagents.list('ses_1')],
  ['ListTraces', (c) => c.beta.agents.sessions.traces.list('ses_1')],
];

describe('what the stock client sends', () => {
  test.each(CALLS)('reaches %s with a body that it takes', async (id, call) => {
    const { method, path, body } = await sentBy(call);
    const endpoint = endpointAt(method, path);
    expect(endpoint?.id).toBe(id);
    if (endpoint?.rawBody) expect(body).toBeInstanceOf(FormData);
    else if (endpoint?.body)
      expect(
        [...Value.Errors(endpoint.body, body ?? {})].map(({ path, message }) => [path, message]),
      ).toEqual([]);
  });
});
