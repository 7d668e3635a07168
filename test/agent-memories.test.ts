import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { AgentClient, script } from './support/agent-client.ts';
import { startDaemon, svcCommand, type TestDaemon } from './support/daemon.ts';
import { type FakeProvider, startFake } from './support/fake-provider.ts';
import { MEMORY_MODEL_KEY } from './support/memory-model.ts';
import { until } from './support/scene.ts';
import { type ScriptedModel, startScriptedModel } from './support/scripted-model/index.ts';
import { EMBEDDINGS_KEY } from './support/upstream-embeddings.ts';

let models: FakeProvider;
let scripted: ScriptedModel;
let embeddings: FakeProvider;
let daemon: TestDaemon;

const env = () => ({
  SVC_PROVIDERS: JSON.stringify({
    mem: { base_url: `${models.origin}/v1`, api_key: MEMORY_MODEL_KEY },
    scripted: { base_url: scripted.url, api_key: scripted.apiKey },
    emb: { base_url: `${embeddings.origin}/v1`, api_key: EMBEDDINGS_KEY },
  }),
  SVC_FEATURES_MEMORY_EMBEDDING_MODELS: 'emb/words',
  SVC_GATEWAY_RETRIES: '0',
});

beforeAll(async () => {
  models = await startFake(join(import.meta.dir, 'support/memory-model.ts'));
  embeddings = await startFake(join(import.meta.dir, 'support/upstream-embeddings.ts'));
  scripted = await startScriptedModel();
  daemon = await startDaemon({ env: env() });
});

afterAll(async () => {
  await daemon?.stop();
  await models?.stop();
  await scripted?.stop();
  await embeddings?.stop();
});

interface Memory {
  readonly id: string;
  readonly content: string;
  readonly isActive: boolean;
  readonly source: string;
  readonly accessCount: number;
}

interface Answer {
  readonly status: number;
  readonly body: {
    readonly memories?: readonly Memory[];
    readonly memory?: Memory;
    readonly agent?: { readonly id: string };
    readonly session?: { readonly id: string };
    readonly turn?: { readonly assistantOutput?: string };
    readonly message?: string;
    readonly backend?: string;
    readonly total?: number;
  };
}

async function send(method: string, path: string, body?: object): Promise<Answer> {
  const response = await daemon.fetch(`/v1/agents${path}`, {
    method,
    ...(body ? { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } } : {}),
  });
  return { status: response.status, body: (await response.json()) as Answer['body'] };
}

async function svc(...argv: string[]) {
  const { url, apiKey, dataDir } = daemon;
  const child = Bun.spawn([...svcCommand(), 'agent', 'memory', ...argv], {
    env: { PATH: process.env.PATH, HOME: dataDir, SVC_API_URL: url, SVC_API_KEY: apiKey },
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return { code: await child.exited, stdout, stderr };
}

const newAgent = async (name: string, memoryConfig: object = {}): Promise<string> => {
  const { body, status } = await send('POST', '', {
    name,
    model: 'mem/memory',
    systemPrompt: 'Help.',
    memoryConfig,
  });
  expect({ status, message: body.message }).toEqual({ status: 200, message: undefined });
  return body.agent?.id ?? '';
};
const say = async (agentId: string, userInput: string): Promise<string> => {
  const { body: opened } = await send('POST', '/sessions', { agentId });
  const { body } = await send('POST', `/sessions/${opened.session?.id}/turns`, { userInput });
  return JSON.stringify(body);
};
const memoriesOf = async (agentId: string, query = ''): Promise<readonly Memory[]> =>
  (await send('GET', `/${agentId}/memories${query}`)).body.memories ?? [];

describe('over the API', () => {
  test('a memory is made, replaced, changed, retired and removed', async () => {
    const agent = await newAgent('keeper');
    const path = `/${agent}/memories`;
    const one = await send('POST', path, {
      content: 'Deploys are on Tuesday',
      factKey: 'deploy',
      memoryType: 'fact',
    });
    expect(one).toMatchObject({ status: 200, body: { memory: { isActive: true, source: 'user_explicit' } } });
    const two = await send('POST', path, { content: 'Deploys are on Friday', factKey: 'deploy' });
    const id = two.body.memory?.id ?? '';
    expect(await memoriesOf(agent)).toMatchObject([{ id }, { isActive: false, supersededBy: id }]);
    expect(await send('PATCH', `/memories/${id}`, { content: 'Deploys are on Monday' })).toMatchObject({
      status: 200,
    });
    expect(await send('POST', `/memories/${id}/deactivate`, {})).toEqual({
      status: 200,
      body: { success: true } as never,
    });
    expect(await memoriesOf(agent, '?activeOnly=true')).toEqual([]);
    expect((await send('PATCH', `/memories/${id}`, { content: 'x' })).status).toBe(409);
    expect(await send('DELETE', `/memories/${id}`)).toMatchObject({ status: 200 });
    expect((await send('DELETE', `/memories/${id}`)).status).toBe(404);
  });

  test.each([
    ['POST', '/agt_none/memories', { content: 'x' }, 404, 'agt_none'],
    ['GET', '/agt_none/memories', undefined, 404, 'agt_none'],
    ['POST', '/AGENT/memories', { content: 'x', memoryType: 'rumour' }, 400, 'memoryType'],
    ['POST', '/AGENT/memories', { content: 'x', scope: 'world' }, 400, 'scope'],
    ['POST', '/AGENT/memories', {}, 400, 'content'],
    ['GET', '/AGENT/memories?memoryType=rumour', undefined, 400, 'memoryType'],
    ['PATCH', '/memories/mem_none', { content: 'x' }, 404, 'mem_none'],
  ])('%s %s %j is %d and names %s', async (method, path, body, status, named) => {
    const agent = await newAgent(`strict-${crypto.randomUUID().slice(0, 8)}`);
    const answer = await send(method, path.replace('AGENT', agent), body);
    expect(answer.status).toBe(status);
    expect(JSON.stringify(answer.body)).toContain(named);
    expect(await memoriesOf(agent)).toEqual([]);
  });

  test('setup says what is searched with', async () => {
    const answer = await send('POST', '/memory/setup', {});
    expect(answer).toMatchObject({ status: 200, body: { success: true, backend: 'sqlite-fts5+vectors' } });
  });
});

describe('over turns', () => {
  const memoryConfig = {
    enabled: true,
    scope: 'user',
    autoRetrieve: true,
    autoExtract: true,
    autoRetrieveTopK: 5,
  };

  test('what a user says is learned, known in the next session, and replaced by what is said later', async () => {
    const agent = await newAgent('friend', memoryConfig);
    expect(await say(agent, 'I live in Lisbon, by the way.')).toContain('I know: nothing');
    await until(async () => (await memoriesOf(agent)).length === 1);
    expect(await say(agent, 'Which city do I live in?')).toContain('I know: The user lives in Lisbon.');
    await say(agent, 'Now I live in Porto.');
    await until(async () => (await memoriesOf(agent)).length === 2);
    expect(await memoriesOf(agent)).toMatchObject([
      { content: 'The user lives in Porto.', isActive: true, source: 'auto_extracted' },
      { content: 'The user lives in Lisbon.', isActive: false },
    ]);
    const other = await newAgent('stranger', memoryConfig);
    expect(await say(other, 'Which city do I live in?')).toContain('I know: The user lives in Porto.');
  });

  test('what is to be learned survives kill -9, and is learned once', async () => {
    const agent = await newAgent('survivor', { ...memoryConfig, scope: 'agent' });
    const turns = 5;
    for (let i = 0; i < turns; i++) await say(agent, `I live in City${i}x.`);
    await daemon.kill9();
    const { dataDir, apiKey } = daemon;
    daemon = await startDaemon({ env: env(), dataDir, apiKey });
    const learned = await until(async () => {
      const all = await memoriesOf(agent, '?limit=100');
      return all.length === turns && all;
    }, 30_000);
    expect(learned.filter(({ isActive }) => isActive)).toMatchObject([
      { content: 'The user lives in City4x.' },
    ]);
    expect(new Set(learned.map(({ content }) => content)).size).toBe(turns);
  }, 60_000);
});

describe('over tools', () => {
  test('an agent stores a fact, finds it in another session, and is told it at the beginning of a third one', async () => {
    const client = new AgentClient(() => daemon.url, daemon.apiKey);
    const memoryConfig = { enabled: true, scope: 'user', autoRetrieve: true };
    const agentId = await client.agent({ tools: ['memory_store', 'memory_query'], memoryConfig });
    const turn = async (...lines: Parameters<typeof script>) => {
      const { body } = await client.turn(await client.session(agentId), script(...lines));
      return body.turn;
    };
    const stored = await turn(
      'tool-store',
      'call memory_store {"content":"The staging host is db7","factKey":"staging.host"}',
      'expect /remembered.*db7/',
      'say stored',
    );
    expect(stored).toMatchObject({ assistantOutput: 'stored' });
    const found = await turn(
      'tool-query',
      'call memory_query {"query":"which host is staging?"}',
      'expect /"content":"The staging host is db7"/',
      '& call memory_query {"query":"x","collection":"none"}',
      'expect /There is no collection/',
      'say found',
    );
    expect(found).toMatchObject({ assistantOutput: 'found' });
    const told = await turn(
      'tool-told',
      'system /"from":"this user".*"note":"The staging host is db7"/',
      'say told',
    );
    expect(told).toMatchObject({ assistantOutput: 'told' });
    expect(await memoriesOf(agentId)).toMatchObject([
      { source: 'tool_stored', content: 'The staging host is db7' },
    ]);
  });
});

describe('svc agent memory', () => {
  test('adds, lists, edits, retires and removes', async () => {
    const agent = await newAgent('manual');
    const added = await svc('add', agent, 'Deploys', 'are', 'on', 'Tuesdays', '--key', 'deploy');
    expect(added.code).toBe(0);
    expect(added.stdout).toMatch(/^mem_\w+\n$/);
    const id = added.stdout.trim();
    expect((await svc('edit', id, '--content', 'Deploys are on Fridays')).code).toBe(0);
    expect((await svc('list', agent)).stdout).toContain('Deploys are on Fridays');
    const json = await svc('list', agent, '--json');
    expect(JSON.parse(json.stdout)).toMatchObject([{ id, factKey: 'deploy' }]);
    expect((await svc('retire', id)).code).toBe(0);
    expect((await svc('list', agent)).stdout).not.toContain(id);
    expect((await svc('list', agent, '--all')).stdout).toContain('retired');
    expect((await svc('rm', id)).code).toBe(0);
    expect((await svc('rm', id)).code).toBe(5);
  });

  test('says what is wrong', async () => {
    expect(await svc('edit', 'mem_1')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--content'),
    });
    expect(await svc('add', 'agt_1', 'x', '--type', 'rumour')).toMatchObject({ code: 2 });
    expect(await svc('list', 'agt_none')).toMatchObject({ code: 5 });
  });
});
