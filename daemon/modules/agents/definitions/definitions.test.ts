import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import type { AppError } from '../../../../src/errors/app-error.ts';
import { type AgentScene, openAgents } from './testing.ts';

let scene: AgentScene;

beforeEach(() => {
  scene = openAgents();
});

afterEach(() => scene.app.db.close());

const list = async (query: object = {}, tenant?: string) => {
  const { agents, total } = await scene.call('ListAgents', { query }, tenant);
  return { names: agents.map(({ name }) => name), total };
};
const patch = (id: string, body: object, tenant?: string) =>
  scene.call('UpdateAgent', { params: { id }, body }, tenant);
const get = async (id: string, tenant?: string) =>
  (await scene.call('GetAgent', { params: { id } }, tenant)).agent;
const wrong = (call: Promise<unknown>): Promise<{ code: string; fields: string[] }> =>
  call.then(
    () => ({ code: 'nothing', fields: [] }),
    (error: AppError) => ({ code: error.code, fields: error.violations.map(({ field }) => field) }),
  );

describe('an agent', () => {
  test('has defaults for everything but its name and model', async () => {
    const made = await scene.make({ name: 'helper' });
    expect(made.id).toStartWith('agt_');
    expect(await get(made.id)).toEqual({
      id: made.id,
      tenantId: 'org_a',
      name: 'helper',
      description: '',
      model: 'local/echo',
      systemPrompt: '',
      tools: [],
      config: {},
      maxTurns: 0,
      maxToolCallsPerTurn: 0,
      enabled: true,
      createdAt: '2026-03-01T12:30:00.000Z',
      updatedAt: '2026-03-01T12:30:00.000Z',
      mode: 'AGENT_MODE_PRIMARY',
      maxSteps: 0,
      taskPermissionMode: 'TASK_PERMISSION_MODE_UNSPECIFIED',
      hidden: false,
      color: '',
      workingDirectory: '',
      mentionAlias: '',
      executionPolicy: {
        taskPermissionMode: 'TASK_PERMISSION_MODE_UNSPECIFIED',
        maxSteps: 0,
        workingDirectory: '',
      },
      memoryConfig: {
        enabled: false,
        scope: 'agent',
        autoRetrieve: true,
        autoRetrieveTopK: 10,
        autoExtract: true,
      },
      version: 1,
    });
  });

  test('keeps every field that was sent', async () => {
    const body = {
      name: 'coder',
      description: 'writes code',
      model: 'openai/gpt-test',
      systemPrompt: 'Be brief.\nBe kind.',
      tools: ['sandbox_shell', 'mcp__files__read.file', 'my-function'],
      config: { team: { x: [1, null] }, soul_md: 'You are Ada.' },
      maxTurns: 5,
      maxToolCallsPerTurn: 6,
      mode: 'AGENT_MODE_SUBAGENT',
      maxSteps: 7,
      taskPermissionMode: 'TASK_PERMISSION_MODE_ASK',
      hidden: true,
      color: '#ff8800',
      workingDirectory: '/work',
      mentionAlias: 'coder-2',
      memoryConfig: {
        enabled: true,
        scope: 'user',
        autoRetrieve: false,
        autoRetrieveTopK: 3,
        autoExtract: false,
      },
    };
    const { id } = await scene.make(body);
    expect(await get(id)).toMatchObject(body as never);
    expect(await get('coder')).toEqual(await get(id));
    expect(await get('CODER-2')).toEqual(await get(id));
  });

  test('has one execution policy, however it is said', async () => {
    const executionPolicy = {
      taskPermissionMode: 'TASK_PERMISSION_MODE_DENY',
      maxSteps: 9,
      workingDirectory: '/a',
    };
    const made = await scene.make({ name: 'nested', executionPolicy });
    expect(made).toMatchObject({ ...executionPolicy, executionPolicy } as never);
    const flat = await scene.make({ name: 'flat', ...executionPolicy, executionPolicy });
    expect(flat).toMatchObject({ ...executionPolicy, executionPolicy } as never);
    const both = { maxSteps: 8, workingDirectory: '/b', executionPolicy };
    expect(await wrong(patch('flat', both))).toEqual({
      code: 'invalid_argument',
      fields: ['executionPolicy.maxSteps', 'executionPolicy.workingDirectory'],
    });
  });

  test.each<[string, object, string[]]>([
    ['no name', {}, ['name']],
    ['a name of blanks', { name: '  ' }, ['name']],
    ['a name between blanks', { name: ' a' }, ['name']],
    ['a name over two lines', { name: 'a\nb' }, ['name']],
    ['a name like an id', { name: 'agt_1' }, ['name']],
    ['a long name', { name: 'x'.repeat(129) }, ['name']],
    ['half a character', { name: '\ud800' }, ['name']],
    ['no model', { name: 'a', model: '' }, ['model']],
    ['a tool with a blank', { name: 'a', tools: ['ok', 'a b'] }, ['tools.1']],
    ['a wildcard', { name: 'a', tools: ['mcp__*'] }, ['tools.0']],
    ['a tool twice', { name: 'a', tools: ['x', 'y', 'x'] }, ['tools.2']],
    ['many tools', { name: 'a', tools: Array.from({ length: 257 }, (_, i) => `t${i}`) }, ['tools']],
    ['limits below zero', { name: 'a', maxTurns: -1, maxSteps: -2 }, ['maxTurns', 'maxSteps']],
    ['a long prompt', { name: 'a', systemPrompt: 'x'.repeat(200_001) }, ['systemPrompt']],
    ['a color that is none', { name: 'a', color: '#12' }, ['color']],
    ['an alias with a blank', { name: 'a', mentionAlias: 'a b' }, ['mentionAlias']],
    [
      'too much recall',
      { name: 'a', memoryConfig: { autoRetrieveTopK: 101 } },
      ['memoryConfig.autoRetrieveTopK'],
    ],
    ['an unknown scope', { name: 'a', memoryConfig: { scope: 'all' } }, ['memoryConfig.scope']],
    ['a mode that is none', { name: 'a', mode: 'AGENT_MODE_KING' }, ['mode']],
    ['a config that is none', { name: 'a', config: [] }, ['config']],
    [
      'settings that are wrong',
      { name: 'a', config: { approval: { timeout_seconds: 0 } } },
      ['config.approval.timeoutSeconds'],
    ],
    ['a field that is not there', { name: 'a', prompt: '' }, ['prompt']],
  ])('is refused with %s', async (_, body, fields) => {
    expect(await wrong(scene.make(body))).toEqual({ code: 'invalid_argument', fields });
    expect((await list({ includeHidden: true })).total).toBe(0);
  });

  test('has a name and an alias that no other agent of its tenant has', async () => {
    await scene.make({ name: 'coder', mentionAlias: '@dev' });
    for (const body of [
      { name: 'coder' },
      { name: 'Coder' },
      { name: 'DEV' },
      { name: 'other', mentionAlias: 'dev' },
      { name: 'other', mentionAlias: 'CODER' },
    ])
      expect(await wrong(scene.make(body))).toMatchObject({ code: 'already_exists' });
    await scene.make({ name: 'other', mentionAlias: 'other' });
    expect(await wrong(patch('other', { name: 'coder' }))).toMatchObject({ code: 'already_exists' });
    expect((await patch('coder', { name: 'Coder' })).agent.name).toBe('Coder');
    await scene.make({ name: 'coder', mentionAlias: 'dev' }, 'org_b');
    expect((await list()).total).toBe(2);
  });

  test('changes only in what is sent', async () => {
    const made = await scene.make({ name: 'coder', tools: ['a'], config: { x: 1 }, maxTurns: 3 });
    scene.clock.ms += 1_000;
    const { agent } = await patch(made.id, { description: 'new', tools: [], enabled: false });
    const updatedAt = '2026-03-01T12:30:01.000Z';
    expect(agent).toEqual({ ...made, description: 'new', enabled: false, version: 2, updatedAt } as never);
    expect((await patch(made.id, { clearTools: true })).agent.tools).toEqual([]);
    expect(await wrong(patch(made.id, { clearTools: true, tools: ['b'] }))).toMatchObject({
      fields: ['clearTools'],
    });
    const { memoryConfig } = (await patch(made.id, { memoryConfig: { enabled: true } })).agent;
    expect(memoryConfig).toMatchObject({ enabled: true, autoRetrieveTopK: 10 });
    expect((await patch(made.id, { taskPermissionMode: 'ask' })).agent.executionPolicy).toMatchObject({
      taskPermissionMode: 'TASK_PERMISSION_MODE_ASK',
    });
    const { agent: same } = await patch(made.id, { taskPermissionMode: 'TASK_PERMISSION_MODE_UNSPECIFIED' });
    expect(same.taskPermissionMode).toBe('TASK_PERMISSION_MODE_UNSPECIFIED');
  });

  test('is not changed from a version that it is not at any more', async () => {
    await scene.make({ name: 'coder' });
    await patch('coder', { description: 'one', version: 1 });
    expect(await wrong(patch('coder', { description: 'two', version: 1 }))).toMatchObject({
      code: 'stale_version',
    });
    expect(await get('coder')).toMatchObject({ description: 'one', version: 2 } as never);
  });

  test('says what may be meant otherwise', async () => {
    const config = { aproval: {}, approval: { tool: ['x'], tools: ['web_*', 'mpc__*'] }, team: 'x' };
    const body = { name: 'coder', model: 'm', tools: ['web_fetch'], config };
    expect((await scene.call('CreateAgent', { body })).warnings).toEqual([
      'config.approval.tools: mpc__* means none of its tools.',
      'config.aproval is not read by svc. Is config.approval meant?',
      'config.approval.tool is not read by svc. Is config.approval.tools meant?',
    ]);
  });

  test('is not seen, changed or removed by another tenant', async () => {
    const { id } = await scene.make({ name: 'coder' });
    for (const reference of [id, 'coder']) {
      const params = { id: reference };
      for (const operation of [
        'GetAgent',
        'UpdateAgent',
        'DeleteAgent',
        'ExportAgentToOpencode',
        'ListAgentVersions',
      ])
        expect([operation, await wrong(scene.call(operation, { params }, 'org_b'))]).toEqual([
          operation,
          { code: 'not_found', fields: [] },
        ]);
      const at = { params: { id: reference, version: 1 } };
      expect((await wrong(scene.call('GetAgentVersion', at, 'org_b'))).code).toBe('not_found');
      expect((await wrong(scene.call('RestoreAgentVersion', at, 'org_b'))).code).toBe('not_found');
    }
    expect(await list({}, 'org_b')).toEqual({ names: [], total: 0 });
    expect(() => scene.room.agents.get('org_b', id)).toThrow('There is no agent');
    expect(scene.room.agents.find('org_b', id)).toBeUndefined();
  });

  test('is gone with its versions', async () => {
    const { id } = await scene.make({ name: 'coder' });
    const gone = await scene.call('DeleteAgent', { params: { id: 'coder' } });
    expect(gone).toEqual({ success: true, message: 'The agent coder is gone.' } as never);
    expect((await wrong(get(id))).code).toBe('not_found');
    expect(scene.app.db.raw.query('SELECT count(*) AS n FROM agent_versions').get()).toEqual({ n: 0 });
  });
});

test('a list has what was asked for, in the order of names', async () => {
  await scene.make({ name: 'c', mode: 'subagent' });
  await scene.make({ name: 'B' });
  await scene.make({ name: 'a', hidden: true });
  await scene.make({ name: 'd' });
  await patch('d', { enabled: false });
  expect(await list()).toEqual({ names: ['B', 'c', 'd'], total: 3 });
  expect(await list({ includeHidden: 'true' })).toEqual({ names: ['a', 'B', 'c', 'd'], total: 4 });
  expect(await list({ mode: 'AGENT_MODE_SUBAGENT' })).toEqual({ names: ['c'], total: 1 });
  expect(await list({ mode: 'AGENT_MODE_UNSPECIFIED' })).toMatchObject({ total: 3 });
  expect(await list({ enabled: 'false' })).toEqual({ names: ['d'], total: 1 });
  expect(await list({ limit: '1', offset: '1' })).toEqual({ names: ['c'], total: 3 });
});

describe('versions', () => {
  test('are made by changes, and by nothing else', async () => {
    const { id } = await scene.make({ name: 'coder', tools: ['a'] });
    await patch(id, { name: 'coder', tools: ['a'] });
    await patch(id, { enabled: false });
    scene.clock.ms += 5_000;
    await patch(id, { systemPrompt: 'x', taskPermissionMode: 'ask' });
    const { versions } = await scene.call('ListAgentVersions', { params: { id } });
    const first = { version: 1, changes: [], changedBy: 'key_1', createdAt: '2026-03-01T12:30:00.000Z' };
    expect(versions).toEqual([
      {
        ...first,
        version: 2,
        changes: ['systemPrompt', 'taskPermissionMode'],
        createdAt: '2026-03-01T12:30:05.000Z',
      },
      first,
    ] as never);
  });

  test('can be seen and brought back, whether the agent is on or not', async () => {
    const { id } = await scene.make({ name: 'coder', systemPrompt: 'one' });
    await patch(id, { systemPrompt: 'two', name: 'writer', enabled: false });
    const at = { params: { id, version: 1 } };
    const shown = await scene.call('GetAgentVersion', at);
    expect(shown.agent).toMatchObject({ id, name: 'coder', systemPrompt: 'one', version: 1, enabled: false });
    const { agent } = await scene.call('RestoreAgentVersion', at);
    expect(agent).toMatchObject({ id, name: 'coder', systemPrompt: 'one', version: 3, enabled: false });
    expect((await wrong(scene.call('GetAgentVersion', { params: { id, version: 9 } }))).code).toBe(
      'not_found',
    );
  });

  test('are not brought back over the name of another agent', async () => {
    const { id } = await scene.make({ name: 'coder' });
    await patch(id, { name: 'writer' });
    await scene.make({ name: 'coder' });
    const back = scene.call('RestoreAgentVersion', { params: { id, version: 1 } });
    expect((await wrong(back)).code).toBe('already_exists');
    expect(await get(id)).toMatchObject({ name: 'writer', version: 2 } as never);
  });

  test('are kept to the last hundred', async () => {
    const { id } = await scene.make({ name: 'coder' });
    for (let i = 0; i < 104; i++) await patch(id, { description: `change ${i}` });
    const { versions } = await scene.call('ListAgentVersions', { params: { id } });
    expect([versions.length, versions[0]?.version, versions.at(-1)?.version]).toEqual([100, 105, 6]);
  });
});

test('what others see of an agent is what it was when they looked', async () => {
  const { id } = await scene.make({
    name: 'coder',
    mentionAlias: 'dev',
    config: { lifecycle: 'persistent', approval: { tools: ['sandbox_*'] } },
  });
  const { agents } = scene.room;
  const before = agents.get('org_a', id);
  await patch(id, { systemPrompt: 'changed' });
  expect(before).toMatchObject({ id, tenant: 'org_a', version: 1, systemPrompt: '' });
  expect(before.config).toMatchObject({ lifecycle: 'persistent', approval: { tools: ['sandbox_*'] } });
  expect(agents.find('org_a', 'dev')).toMatchObject({ id, version: 2, systemPrompt: 'changed' });
  await patch(id, { enabled: false });
  expect([agents.find('org_a', 'dev'), agents.find('org_a', 'nobody')]).toEqual([undefined, undefined]);
  expect(agents.get('org_a', id).id).toBe(id);
});
