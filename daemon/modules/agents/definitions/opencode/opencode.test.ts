import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import fc from 'fast-check';
import type { AppError } from '../../../../../src/errors/app-error.ts';
import { type AgentScene, openAgents } from '../testing.ts';
import { PERMISSIONS, TOOLS } from './names.ts';

// Properties make thousands of rows, on machines that may be busy.
setDefaultTimeout(60_000);

let scene: AgentScene;

beforeEach(() => {
  scene = openAgents();
});

afterEach(() => scene.app.db.close());

const take = (agent: unknown, dryRun = true) => {
  const opencodeAgentJson = typeof agent === 'string' ? agent : JSON.stringify(agent);
  return scene.call('ImportAgentFromOpencode', { body: { opencodeAgentJson, dryRun } });
};
const give = async (id: string) => {
  const { opencodeAgentJson, warnings } = await scene.call('ExportAgentToOpencode', { params: { id } });
  return { agent: JSON.parse(opencodeAgentJson) as Record<string, unknown>, warnings };
};
const total = async () => (await scene.call('ListAgents', { query: { includeHidden: 'true' } })).total;

const base = { name: 'a', mode: 'primary', model: 'openai/gpt-test' } as const;
const ALL = Object.values(TOOLS);

describe('an agent of opencode', () => {
  test('becomes an agent with everything that both know', async () => {
    const { valid, warnings, agent } = await take(
      {
        agent: {
          reviewer: {
            description: 'Reviews code',
            mode: 'subagent',
            model: 'anthropic/claude-test',
            prompt: 'You review.',
            temperature: 0.1,
            top_p: 0.9,
            reasoningEffort: 'high',
            tools: { write: false, edit: false, websearch: false, question: false },
            permission: { bash: 'ask', webfetch: 'deny', task: { '*': 'deny', explorer: 'allow' } },
            hidden: true,
            color: '#ff8800',
          },
        },
      },
      false,
    );
    expect({ valid, warnings }).toEqual({ valid: true, warnings: [] });
    expect(agent).toMatchObject({
      name: 'reviewer',
      description: 'Reviews code',
      mode: 'AGENT_MODE_SUBAGENT',
      model: 'anthropic/claude-test',
      systemPrompt: 'You review.',
      hidden: true,
      color: '#ff8800',
      enabled: true,
      config: {
        temperature: 0.1,
        topP: 0.9,
        reasoningEffort: 'high',
        approval: { tools: ['sandbox_shell'] },
        spawn: { agents: ['explorer'] },
      },
    } as never);
    const names = ['shell', 'read_file', 'list_files', 'glob', 'grep'].map((name) => `sandbox_${name}`);
    expect(agent.tools).toEqual([...names, 'spawn_agent']);
    expect(await total()).toBe(1);
  });

  test('is only looked at in a dry run', async () => {
    const { valid, agent } = await take({ ...base, disable: true });
    expect([valid, agent.name, agent.enabled, agent.id, await total()]).toEqual([
      true,
      'a',
      false,
      undefined,
      0,
    ]);
  });

  test.each<[string, unknown, object]>([
    ['no switch leaves every tool on', {}, { tools: ALL, config: {} }],
    [
      'one word is for all tools',
      { permission: 'ask' },
      { config: { approval: { tools: ALL.filter((tool) => tool !== 'ask_user') } } },
    ],
    ['the last word counts', { permission: { bash: 'allow', '*': 'deny' } }, { tools: [] }],
    ['a later word is nearer', { permission: { '*': 'deny', bash: 'allow' } }, { tools: ['sandbox_shell'] }],
    [
      'edit is every change of files',
      { tools: { '*': false }, permission: { edit: 'allow' } },
      { tools: [] },
    ],
    [
      'edit asks for writing, too',
      { tools: { '*': false, write: true }, permission: { edit: 'ask' } },
      { tools: ['sandbox_write_file'], config: { approval: { tools: ['sandbox_write_file'] } } },
    ],
    [
      'patterns make every call ask',
      { tools: { '*': false, bash: true }, permission: { bash: { '*': 'allow', 'rm *': 'deny' } } },
      {
        config: {
          approval: { tools: ['sandbox_shell'] },
          opencode: { permission: { bash: { '*': 'allow', 'rm *': 'deny' } } },
        },
      },
    ],
    [
      'patterns that agree are one word',
      { tools: { '*': false, bash: true }, permission: { bash: { '*': 'allow', 'ls *': 'allow' } } },
      { config: {} },
    ],
    [
      'tools of other names are taken by name',
      { tools: { '*': false, mcp__a__b: true, other: false }, permission: { mcp__a__b: 'ask' } },
      { tools: ['mcp__a__b'], config: { approval: { tools: ['mcp__a__b'] } } },
    ],
  ])('%s', async (_, more, expected) => {
    const { valid, agent } = await take({ ...base, ...(more as object) });
    expect(valid).toBe(true);
    expect(agent).toMatchObject(expected as never);
    const { tools, config } = expected as { tools?: string[]; config?: object };
    if (tools) expect(agent.tools).toEqual(tools);
    if (config) expect(Object.keys(agent.config ?? {})).toEqual(Object.keys(config));
  });

  test.each<[string, object, string]>([
    ['a mode that is two', { mode: 'all' }, 'mode: all is primary'],
    ['no mode', { mode: undefined }, 'mode: all is primary'],
    ['steps', { steps: 5 }, 'steps: are counted'],
    ['patterns', { permission: { bash: { '*': 'ask', 'git *': 'allow' } } }, 'permission.bash: patterns'],
    ['a permission without a counterpart', { permission: { doom_loop: 'ask' } }, 'permission.doom_loop'],
    ['a tool without a counterpart', { tools: { todowrite: true } }, 'tools.todowrite: has no'],
    ['a tool of another name', { tools: { own: true } }, 'tools.own: is no tool of opencode'],
    ['what it does not know', { variant: 'fast', options: {} }, 'variant: has no counterpart'],
  ])('is warned about for %s', async (_, more, words) => {
    const { valid, warnings } = await take({ ...base, ...more });
    expect(valid).toBe(true);
    expect(warnings.filter((one) => one.startsWith(words))).toHaveLength(1);
  });

  test.each<[string, unknown, string]>([
    ['no name', { model: 'a/b' }, 'name: must not be empty.'],
    ['no model', { name: 'a' }, 'model: must not be empty.'],
    ['a prompt in a file', { ...base, prompt: '{file:./p.md}' }, 'prompt: '],
    ['wrong types', { ...base, temperature: 'hot', tools: { bash: 1 } }, 'temperature: '],
    ['a temperature that is too high', { ...base, temperature: 3 }, 'temperature: '],
    ['steps below zero', { ...base, steps: -1 }, 'steps: '],
    ['another word', { ...base, permission: { bash: 'maybe' } }, 'permission'],
    ['several agents', { agent: { a: base, b: base } }, 'agent: there are 2'],
    ['none', { agent: {} }, 'agent: there is none'],
    ['one that is none', { agent: { a: 1 } }, 'agent.a: '],
  ])('cannot be taken with %s', async (_, agent, words) => {
    for (const dryRun of [true, false]) {
      const { valid, warnings, agent: made } = await take(agent, dryRun);
      expect([valid, made]).toEqual([false, undefined] as never);
      expect(warnings[0]).toStartWith(words);
    }
    expect(await total()).toBe(0);
  });

  test.each(['', '{', '[]', 'null', '"a"', '---\nmode: primary\n---'])('is no text like %j', async (text) => {
    const error = await take(text).catch((one: AppError) => one);
    expect(error).toMatchObject({ code: 'invalid_argument', data: { field: 'opencodeAgentJson' } } as never);
  });

  test('does not take the place of one that is there', async () => {
    await take(base, false);
    expect(await take(base)).toMatchObject({
      valid: false,
      warnings: ['The agent "a" exists already.'],
    } as never);
    expect(take(base, false)).rejects.toThrow('exists already');
    expect(await total()).toBe(1);
  });

  test('takes model and permissions of its configuration where it has none of its own', async () => {
    const whole = {
      $schema: 'https://opencode.ai/config.json',
      model: 'a/b',
      mcp: {},
      permission: { bash: 'deny', webfetch: 'ask' },
      agent: { one: { mode: 'primary', permission: { bash: 'allow' } } },
    };
    const { warnings, agent } = await take(whole);
    expect(warnings).toEqual(['mcp: is not of an agent, and is left out.']);
    expect(agent).toMatchObject({ model: 'a/b', config: { approval: { tools: ['web_fetch'] } } } as never);
    expect(agent.tools).toContain('sandbox_shell');
  });
});

test('any document is taken, or refused by name', async () => {
  const key = fc.constantFrom(
    'agent',
    'name',
    'model',
    'mode',
    'permission',
    'tools',
    'bash',
    '*',
    '__proto__',
    'x',
  );
  const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
    tree: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom('ask', 'a/b', true, 1, null, []),
      fc.dictionary(key, tie('tree') as fc.Arbitrary<unknown>, { maxKeys: 5 }),
    ),
  }));
  await fc.assert(
    fc.asyncProperty(tree, async (document) => {
      const answer = await take(document).catch((error: AppError) => error.code);
      if (answer === 'invalid_argument') return;
      expect(typeof answer === 'string' ? answer : typeof answer.valid).toBe('boolean');
    }),
    { numRuns: 500 },
  );
});

describe('an agent for opencode', () => {
  test('says what opencode knows, and warns of the rest', async () => {
    await scene.make({
      name: 'a',
      model: 'alias',
      systemPrompt: 'x',
      tools: ['sandbox_shell', 'sandbox_edit', 'memory_query', 'web_fetch'],
      maxSteps: 4,
      maxTurns: 2,
      taskPermissionMode: 'TASK_PERMISSION_MODE_ASK',
      memoryConfig: { enabled: true },
      config: { approval: { tools: ['memory_*'], timeoutSeconds: 5 }, monitor: {}, team: 'x' },
    });
    const { agent, warnings } = await give('a');
    expect(agent).toEqual({
      name: 'a',
      mode: 'primary',
      model: 'alias',
      prompt: 'x',
      steps: 4,
      tools: { write: false, memory_query: true },
      permission: {
        bash: 'ask',
        edit: 'ask',
        ...{ read: 'deny', list: 'deny', glob: 'deny', grep: 'deny' },
        ...{ websearch: 'deny', task: 'deny', question: 'deny', memory_query: 'ask' },
      },
    });
    expect(warnings.map((one) => one.split(':')[0])).toEqual([
      'maxTurns',
      'memoryConfig',
      'config.approval.timeoutSeconds',
      'config.monitor',
      'config.team',
      'tools.memory_query',
      'model',
      'taskPermissionMode',
    ]);
  });

  test('has again what an import could only keep', async () => {
    const original = {
      ...base,
      mode: 'all',
      variant: 'fast',
      permission: { external_directory: 'ask', bash: { '*': 'ask', 'git *': 'allow' } },
    };
    await take(original, false);
    expect((await give('a')).agent).toEqual(original);
    const body = {
      config: { ...(await scene.call('GetAgent', { params: { id: 'a' } })).agent.config, approval: {} },
    };
    await scene.call('UpdateAgent', { params: { id: 'a' }, body });
    expect((await give('a')).agent.permission).toEqual({ external_directory: 'ask' });
  });
});

const tool = fc.constantFrom(...Object.keys(TOOLS));
const text = fc.string({ minLength: 1, maxLength: 20 });
const word = fc.stringMatching(/^[a-z][a-z-]{0,15}$/);
const action = fc.constantFrom('ask', 'allow', 'deny');

/** Agents of opencode with anything that they may have. */
const opencodeAgent = fc.record(
  {
    name: word,
    mode: fc.constantFrom('primary', 'subagent', 'all'),
    model: fc.constantFrom('a/b', 'openai/gpt-test'),
    description: text,
    prompt: text,
    temperature: fc.double({ min: 0, max: 2, noNaN: true }).map((n) => n + 0),
    top_p: fc.double({ min: 0, max: 1, noNaN: true }).map((n) => n + 0),
    steps: fc.integer({ min: 1, max: 1_000 }),
    tools: fc.dictionary(tool, fc.boolean()),
    permission: fc.oneof(
      action,
      fc.dictionary(
        fc.constantFrom(...Object.keys(PERMISSIONS), '*', 'skill'),
        fc.oneof(action, fc.dictionary(fc.constantFrom('*', 'git *', 'helper'), action, { maxKeys: 3 })),
      ),
    ),
    disable: fc.boolean(),
    hidden: fc.boolean(),
    color: fc.constantFrom('#ff8800', 'primary'),
    variant: text,
  },
  { requiredKeys: ['name', 'mode', 'model'] },
);

test('whatever comes from opencode is the same again after a way out and in', async () => {
  await fc.assert(
    fc.asyncProperty(opencodeAgent, async (agent) => {
      const { agent: first } = await take(agent, false);
      const out = await give(first.id ?? '');
      for (const key of [
        'name',
        'mode',
        'model',
        'description',
        'temperature',
        'top_p',
        'steps',
        'color',
        'variant',
      ] as const)
        expect([key, out.agent[key]]).toEqual([key, agent[key]]);
      await scene.call('DeleteAgent', { params: { id: first.id ?? '' } });
      const { agent: second } = await take(out.agent, false);
      await scene.call('DeleteAgent', { params: { id: second.id ?? '' } });
      expect(shown(second)).toEqual(shown(first));
    }),
    { numRuns: 200 },
  );
});

/** Agents with what both formats know. */
const ownAgent = fc.record(
  {
    name: word,
    model: fc.constantFrom('a/b', 'openai/gpt-test'),
    mode: fc.constantFrom('AGENT_MODE_PRIMARY', 'AGENT_MODE_SUBAGENT'),
    description: text,
    systemPrompt: text,
    maxSteps: fc.integer({ min: 0, max: 1_000 }),
    hidden: fc.boolean(),
    color: fc.constantFrom('#ff8800', 'teal'),
    tools: fc.subarray([...ALL, 'own_tool', 'mcp__a__b']),
    config: fc.record(
      {
        temperature: fc.double({ min: 0, max: 2, noNaN: true }).map((n) => n + 0),
        topP: fc.double({ min: 0, max: 1, noNaN: true }).map((n) => n + 0),
        reasoningEffort: fc.constantFrom('low', 'high'),
        spawn: fc.record({ agents: fc.uniqueArray(word, { minLength: 1, maxLength: 3 }) }),
        approval: fc.record({
          tools: fc.subarray([...Object.keys(PERMISSIONS), 'own_tool'], { minLength: 1 }),
        }),
      },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: ['name', 'model'] },
);

test('whatever both formats have is the same again after a way to opencode and back', async () => {
  await fc.assert(
    fc.asyncProperty(ownAgent, async (wanted) => {
      const { agents, ...config } = { agents: wanted.config?.spawn?.agents, ...wanted.config };
      const tools = wanted.tools ?? [];
      const asked = (wanted.config?.approval?.tools ?? [])
        .flatMap((permission) => PERMISSIONS[permission]?.map((name) => TOOLS[name] ?? '') ?? [permission])
        // A person who is asked anyway is not asked whether to be asked.
        .filter((name) => tools.includes(name) && name !== 'ask_user');
      const made = await scene.make({
        ...wanted,
        config: {
          ...config,
          ...(config.approval ? { approval: { tools: asked } } : {}),
          ...(agents && !tools.includes('spawn_agent') ? { spawn: {} } : {}),
        },
      });
      const out = await give(made.id);
      await scene.call('DeleteAgent', { params: { id: made.id } });
      const { agent: back } = await take(out.agent, false);
      await scene.call('DeleteAgent', { params: { id: back.id ?? '' } });
      expect(shown(back)).toEqual(shown(made));
    }),
    { numRuns: 200 },
  );
});

/** An agent without what is new each time and without the order of lists; empty settings are none. */
function shown({
  id: _id,
  createdAt: _c,
  updatedAt: _u,
  tools = [],
  config = {},
  ...rest
}: Awaited<ReturnType<AgentScene['make']>> | Partial<Awaited<ReturnType<AgentScene['make']>>>) {
  const {
    approval = {},
    spawn = {},
    ...settings
  } = config as { approval?: { tools?: string[] }; spawn?: { agents?: string[] } };
  return {
    ...rest,
    tools: [...tools].sort(),
    settings,
    asked: [...(approval.tools ?? [])].sort(),
    agents: [...(spawn.agents ?? [])].sort(),
  };
}
