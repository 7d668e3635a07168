import { afterAll, beforeAll, expect, test } from 'bun:test';
import { AgentClient, script } from './support/agent-client.ts';
import { startDaemon, type TestDaemon } from './support/daemon.ts';
import { type ScriptedModel, startScriptedModel } from './support/scripted-model/index.ts';
import { NO_SANDBOXES } from './support/tenants/two-tenants.ts';

let model: ScriptedModel;
let daemon: TestDaemon;
let agent: string;

beforeAll(async () => {
  model = await startScriptedModel();
  daemon = await startDaemon({ env: { ...NO_SANDBOXES, ...model.env } });
  agent = await new AgentClient(() => daemon.url, daemon.apiKey).agent({});
});

afterAll(async () => {
  await daemon?.stop();
  await model?.stop();
});

interface Called {
  readonly isError: boolean;
  readonly text: string;
}

/** Calls a tool of this service as a client of /mcp does. */
async function call(name: string, args: object): Promise<Called> {
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } };
  const response = await daemon.fetch('/mcp', {
    method: 'POST',
    body: JSON.stringify(message),
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
  });
  const { result } = (await response.json()) as {
    result: { isError?: boolean; content: ReadonlyArray<{ text: string }> };
  };
  return { isError: result.isError ?? false, text: result.content.map(({ text }) => text).join('') };
}

test('clients of /mcp see agents', async () => {
  const { agents } = JSON.parse((await call('list_agents', {})).text);
  expect(agents.map(({ id }: { id: string }) => id)).toContain(agent);
  expect(JSON.parse((await call('get_agent', { agent })).text).agent.id).toBe(agent);
  expect(await call('get_agent', { agent: 'nobody' })).toMatchObject({ isError: true });
});

test('clients of /mcp give agents tasks, and go on with the conversation', async () => {
  const first = JSON.parse((await call('run_agent', { agent, input: script('inbound', 'say One.') })).text);
  expect(first).toMatchObject({ status: 'SESSION_STATUS_RUNNING', output: 'One.' });
  const { sessionId } = first;
  const input = script('inbound again', 'say Two.');
  const second = JSON.parse((await call('run_agent', { agent, input, sessionId })).text);
  expect(second).toMatchObject({ sessionId, output: 'Two.' });
});

test('clients of /mcp read the web through the guard, and hear what a search needs', async () => {
  const inner = await call('web_fetch', { url: 'http://169.254.169.254/latest' });
  expect(inner.isError).toBe(true);
  const search = await call('web_search', { query: 'anything' });
  expect(search).toMatchObject({ isError: true });
  expect(search.text).toContain('websearch.provider');
});
