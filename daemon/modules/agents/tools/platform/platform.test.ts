import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import fc from 'fast-check';
import type { Role } from '../../../../../src/api/endpoint.ts';
import { argumentSchema } from '../../../../json-schema/argument-schema.ts';
import type { Agent } from '../../definitions/agent.ts';
import { type AgentScene, callerOf, openAgents } from '../../definitions/testing.ts';
import { policy } from '../../reviews/policy.ts';
import type { JsonObject, ToolContext } from '../tool.ts';
import { platformTools } from './tools.ts';

// Properties make thousands of rows, on machines that may be busy.
setDefaultTimeout(60_000);

let scene: AgentScene;
let notes: string[];

beforeEach(() => {
  scene = openAgents();
  notes = [];
});

afterEach(() => scene.app.db.close());

/** An agent that a person has made, as its session has it. */
const maker = async (body: object = {}): Promise<Agent> => {
  const { id } = await scene.make({
    name: 'maker',
    tools: ['platform_create_agent', 'platform_update_agent', 'sandbox_shell', 'web_fetch', 'spawn_agent'],
    ...body,
  });
  return scene.room.agents.get('org_a', id);
};

const contextOf = (agent: Agent, role: Role, tenant: string): ToolContext => ({
  caller: callerOf(tenant, role),
  agent,
  sessionId: 'ses_1',
  turnNumber: 1,
  callId: 'call_1',
  signal: new AbortController().signal,
  note: (text) => void notes.push(text),
  tell: () => {},
});

const toolOf = (agent: Agent, name: string) => {
  const tool = platformTools(scene.room.service).find(agent, `platform_${name}`);
  if (!tool) throw new Error(`There is no ${name}.`);
  return tool;
};

const use = async (agent: Agent, name: string, args: JsonObject, role: Role = 'member', tenant = 'org_a') => {
  const tool = toolOf(agent, name);
  argumentSchema(tool.parameters, 'parameters').check(args, 'arguments');
  const { ok, output } = await tool.run(args, contextOf(agent, role, tenant));
  return { ok, output, made: ok ? (JSON.parse(output) as { id: string; agents?: object[] }) : { id: '' } };
};

const agentOf = (id: string) => scene.room.agents.get('org_a', id);

describe('an agent that makes agents', () => {
  test('gives its own model, approvals, sandbox and bounds to those that it makes', async () => {
    const config = {
      approval: { tools: ['sandbox_'], matchMode: 'prefix', timeoutSeconds: 60, defaultAction: 'approve' },
      sandbox: { networkMode: 'deny', envVars: { KEY: 'secret' } },
      spawn: { agents: ['helper'], maxNodes: 4 },
      lifecycle: 'persistent',
      team: 'x',
    };
    const own = await maker({ config, taskPermissionMode: 'ask', systemPrompt: 'mine', maxSteps: 7 });
    const { ok, output, made } = await use(own, 'create_agent', {
      name: 'child',
      systemPrompt: 'be brief',
      tools: ['sandbox_shell'],
      approvalTools: ['web_*'],
      temperature: 0.5,
    });
    expect(ok).toBe(true);
    expect(output).not.toContain('secret');
    const child = agentOf(made.id);
    expect(child).toMatchObject({
      name: 'child',
      model: 'local/echo',
      systemPrompt: 'be brief',
      tools: ['sandbox_shell'],
      permissionMode: 'ask',
      maxSteps: 7,
    });
    expect(child.config).toEqual({
      ...own.config,
      lifecycle: 'ephemeral',
      approval: { ...own.config.approval, tools: ['sandbox_*', 'web_*'], matchMode: 'glob' },
      model: { temperature: 0.5 },
    });
    const { versions } = await scene.call('ListAgentVersions', { params: { id: made.id } });
    expect(versions[0]).toMatchObject({ changedBy: 'key_1', changedByAgent: own.id });
  });

  test.each<[string, object, JsonObject, string]>([
    ['a tool that it has not', {}, { tools: ['sandbox_shell', 'memory_query'] }, 'the tools memory_query'],
    [
      'less asking',
      { taskPermissionMode: 'ask' },
      { tools: ['sandbox_shell'], permissionMode: 'rules' },
      'less approval',
    ],
    [
      'less asking under a rule',
      { taskPermissionMode: 'deny', config: { approval: { tools: ['web_*'] } } },
      { tools: ['sandbox_shell'], permissionMode: 'deny', approvalTools: ['sandbox_*'] },
      'less approval for sandbox_shell',
    ],
    ['more steps', { maxSteps: 5 }, { maxSteps: 0 }, 'a larger maxSteps'],
    ['the name of another', {}, { name: 'maker' }, 'exists already'],
    ['a bad name', {}, { name: ' x' }, 'name:'],
  ])('cannot make one with %s', async (_, body, args, words) => {
    const { ok, output } = await use(await maker(body), 'create_agent', { name: 'child', ...args });
    expect([ok, output]).toEqual([false, expect.stringContaining(words)]);
    expect((await scene.call('ListAgents')).total).toBe(1);
  });

  test('can do no more than the one whose turn it is', async () => {
    const own = await maker();
    const denied = await use(own, 'create_agent', { name: 'child' }, 'viewer');
    expect([denied.ok, denied.output]).toEqual([false, 'This needs the role member.']);
    expect((await use(own, 'update_agent', { agent: 'maker', name: 'x' }, 'viewer')).ok).toBe(false);
    expect((await use(own, 'list_agents', {}, 'viewer')).ok).toBe(true);
    expect((await use(own, 'get_agent', { agent: 'maker' }, 'owner', 'org_b')).output).toContain('no agent');
    expect((await use(own, 'list_agents', {}, 'owner', 'org_b')).made.agents).toEqual([]);
  });

  test('has made it once, whenever the daemon ends', async () => {
    const own = await maker();
    const tool = toolOf(own, 'create_agent');
    const context = contextOf(own, 'member', 'org_a');
    const cut = await tool.recover?.({ name: 'child' }, context, 'agt_00000000000000000000000000');
    expect(cut?.ok).toBe(true);
    const again = await tool.recover?.({ name: 'child' }, context, 'agt_00000000000000000000000000');
    expect(again).toEqual(cut);
    await use(own, 'create_agent', { name: 'second' });
    expect(agentOf(notes[0] ?? '').name).toBe('second');
    expect((await scene.call('ListAgents')).total).toBe(3);
  });
});

describe('an agent that changes agents', () => {
  test('changes what it names of an agent that may do no more than it', async () => {
    const own = await maker({ config: { approval: { tools: ['sandbox_*'] } } });
    const config = { approval: { tools: ['sandbox_shell'], match_mode: 'exact' }, max_tokens: 5, team: 'x' };
    const { id } = await scene.make({ name: 'other', tools: ['sandbox_shell'], config });
    const args = { agent: 'other', description: 'new', approvalTools: ['web_*'], maxTokens: 9 };
    expect((await use(own, 'update_agent', args)).ok).toBe(true);
    const { agent } = await scene.call('GetAgent', { params: { id } });
    expect(agent).toMatchObject({ description: 'new', version: 2 } as never);
    expect(agent.config).toEqual({
      approval: { tools: ['sandbox_shell', 'web_*'], matchMode: 'glob' },
      maxTokens: 9,
      team: 'x',
    });
    expect((await use(own, 'update_agent', args)).ok).toBe(true);
    expect(agentOf(id).version).toBe(2);
  });

  test('has changed it once, whenever the daemon ends', async () => {
    const own = await maker();
    const { id } = await scene.make({ name: 'old' });
    await use(own, 'update_agent', { agent: 'old', name: 'new' });
    expect(notes).toEqual([id]);
    const context = contextOf(own, 'member', 'org_a');
    const cut = await toolOf(own, 'update_agent').recover?.({ agent: 'old', name: 'new' }, context, id);
    expect(cut?.ok).toBe(true);
    expect(agentOf(id)).toMatchObject({ name: 'new', version: 2 });
  });

  test('never changes itself, by whatever name', async () => {
    const own = await maker({ mentionAlias: 'me' });
    for (const agent of [own.id, 'maker', 'me', 'ME'])
      expect((await use(own, 'update_agent', { agent, description: 'x' })).output).toBe(
        'An agent does not change itself.',
      );
    expect(agentOf(own.id).version).toBe(1);
  });

  test.each<[string, object, object, JsonObject, string]>([
    ['has more tools', {}, { tools: ['memory_query'] }, { systemPrompt: 'x' }, 'the tools memory_query'],
    [
      'is asked about less',
      { taskPermissionMode: 'ask' },
      { tools: ['web_fetch'] },
      { systemPrompt: 'x' },
      'less approval',
    ],
    [
      'was asked about',
      {},
      { tools: ['web_fetch'], taskPermissionMode: 'ask' },
      { permissionMode: 'always' },
      'less approval',
    ],
    [
      'reaches more',
      { config: { sandbox: { networkMode: 'deny' } } },
      {},
      { systemPrompt: 'x' },
      'reaches more of the network',
    ],
    [
      'has secrets',
      {},
      { config: { sandbox: { envVars: { A: 'b' } } } },
      { systemPrompt: 'x' },
      'the variables A',
    ],
    [
      'keeps files',
      {},
      { config: { lifecycle: 'PERSISTENT' } },
      { systemPrompt: 'x' },
      'files of other sessions',
    ],
    [
      'remembers more',
      {},
      { memoryConfig: { enabled: true, scope: 'global' } },
      { systemPrompt: 'x' },
      'memories',
    ],
    [
      'starts others',
      { config: { spawn: { agents: ['a'] } } },
      { tools: ['spawn_agent'] },
      { systemPrompt: 'x' },
      'other agents to start',
    ],
    ['has more turns', { maxTurns: 3 }, { maxTurns: 4 }, { systemPrompt: 'x' }, 'a larger maxTurns'],
    [
      'starts more',
      { config: { spawn: { maxTokens: 9 } } },
      { tools: ['spawn_agent'] },
      { systemPrompt: 'x' },
      'larger trees of agents',
    ],
    [
      'is approved by waiting',
      { config: { approval: { tools: ['*'] } } },
      { tools: ['web_fetch'], config: { approval: { tools: ['*'], defaultAction: 'approve' } } },
      { systemPrompt: 'x' },
      'approval by mere waiting',
    ],
  ])('cannot change one that %s', async (_, own, other, args, words) => {
    const { id } = await scene.make({ name: 'other', ...other });
    const before = agentOf(id);
    const { ok, output } = await use(await maker(own), 'update_agent', { agent: 'other', ...args });
    expect([ok, output]).toEqual([false, expect.stringContaining(words)]);
    expect(agentOf(id)).toEqual(before);
  });
});

const tool = fc.constantFrom('sandbox_shell', 'sandbox_edit', 'web_fetch', 'memory_query', 'mcp__a__b');
const pattern = fc.constantFrom('*', 'sandbox_*', 'sandbox_shell', 'web', 'mcp__', 'm?p__*');
const mode = fc.constantFrom('rules', 'ask', 'always', 'deny');
const powers = fc.record({
  tools: fc.uniqueArray(tool),
  taskPermissionMode: mode.map((word) => (word === 'rules' ? 'unspecified' : word)),
  config: fc.record({
    approval: fc.record({
      tools: fc.array(pattern, { maxLength: 3 }),
      matchMode: fc.constantFrom('exact', 'prefix', 'glob'),
      defaultAction: fc.constantFrom('approve', 'deny'),
      timeoutSeconds: fc.integer({ min: 1, max: 3 }),
    }),
  }),
});
const wish = fc.record(
  { tools: fc.uniqueArray(tool), permissionMode: mode, approvalTools: fc.array(pattern, { maxLength: 2 }) },
  { requiredKeys: [] },
);

test('whatever an agent makes or changes, no call is nearer to being carried out than its own', async () => {
  const order = { run: 0, ask: 1, refuse: 2 };
  await fc.assert(
    fc.asyncProperty(powers, powers, wish, fc.boolean(), async (own, other, args, isNew) => {
      const agent = await maker(own);
      const { id } = await scene.make({ name: 'other', ...other });
      const before = agentOf(id);
      const { ok, made } = isNew
        ? await use(agent, 'create_agent', { name: 'child', ...args })
        : await use(agent, 'update_agent', { agent: id, ...args });
      const after = agentOf(ok ? made.id : id);
      if (ok) {
        for (const name of after.tools)
          for (const isRead of [undefined, true] as const) {
            const now = policy(after, { name, isRead });
            const bounds = isNew ? [agent] : [agent, ...(before.tools.includes(name) ? [before] : [])];
            for (const bound of bounds) {
              const then = policy(bound, { name, isRead });
              expect(order[now]).toBeGreaterThanOrEqual(order[then]);
              if (now === 'ask' && then === 'ask' && bound.config.approval.defaultAction === 'deny')
                expect(after.config.approval.defaultAction).toBe('deny');
            }
          }
        expect(after.tools.filter((name) => !agent.tools.includes(name))).toEqual([]);
      } else expect(after).toEqual(before);
      for (const one of [agent.id, id, ...(ok && isNew ? [made.id] : [])])
        await scene.call('DeleteAgent', { params: { id: one } });
    }),
    { numRuns: 100 },
  );
});
