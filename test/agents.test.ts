import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startDaemon, svcCommand, type TestDaemon } from './support/daemon.ts';
import { TwoTenants } from './support/tenants/two-tenants.ts';

// The program starts for every command, on machines that may be busy.
setDefaultTimeout(60_000);

interface Agent {
  readonly id: string;
  readonly name: string;
  readonly version: number;
  readonly [field: string]: unknown;
}

interface Answer {
  readonly status: number;
  readonly body: {
    readonly agent?: Agent;
    readonly agents?: readonly Agent[];
    readonly total?: number;
    readonly versions?: ReadonlyArray<{ readonly version: number; readonly changes: readonly string[] }>;
    readonly valid?: boolean;
    readonly warnings?: readonly string[];
    readonly opencodeAgentJson?: string;
    readonly details?: ReadonlyArray<{
      readonly fieldViolations?: ReadonlyArray<{ readonly field: string }>;
    }>;
  };
}

// Definitions need no sandbox; an engine that is not there keeps this fast.
const env = { SVC_SANDBOX_DRIVER: 'docker', SVC_DOCKER_SOCKET: '/nonexistent/docker.sock' };
const dir = mkdtempSync(join(tmpdir(), 'svc-agents-'));
let daemon: TestDaemon;

beforeAll(async () => {
  daemon = await startDaemon({ env });
});

afterAll(async () => {
  await daemon?.stop();
  rmSync(dir, { recursive: true, force: true });
});

async function ask(method: string, path: string, body?: object, key?: string): Promise<Answer> {
  const headers = { 'content-type': 'application/json', ...(key ? { 'x-svc-api-key': key } : {}) };
  const response = await daemon.fetch(path, { method, headers, body: body && JSON.stringify(body) });
  return { status: response.status, body: (await response.json()) as Answer['body'] };
}

const make = (name: string, more: object = {}) =>
  ask('POST', '/v1/agents', { name, model: 'local/echo', ...more });
const fieldsOf = ({ body }: Answer) =>
  (body.details ?? []).flatMap(({ fieldViolations = [] }) => fieldViolations.map(({ field }) => field));

describe('agents over the API', () => {
  test('are made, found by id, name and alias, changed and removed', async () => {
    const made = await make('Code Reviewer', {
      mention_alias: 'review',
      mode: 'subagent',
      tools: ['web_fetch'],
    });
    expect(made.status).toBe(200);
    const id = made.body.agent?.id ?? '';
    for (const path of [id, encodeURIComponent('Code Reviewer'), 'review'])
      expect((await ask('GET', `/v1/agents/${path}`)).body.agent).toMatchObject({
        id,
        mode: 'AGENT_MODE_SUBAGENT',
      });
    const changed = await ask('PATCH', `/v1/agents/${id}`, {
      clear_tools: true,
      execution_policy: { max_steps: 3 },
    });
    expect(changed.body.agent).toMatchObject({
      tools: [],
      maxSteps: 3,
      executionPolicy: { maxSteps: 3 },
      version: 2,
    });
    expect((await ask('GET', '/v1/agents?mode=subagent')).body).toMatchObject({ total: 1, agents: [{ id }] });
    expect((await ask('DELETE', `/v1/agents/${id}`)).status).toBe(200);
    expect((await ask('GET', `/v1/agents/${id}`)).status).toBe(404);
    expect((await ask('DELETE', `/v1/agents/${id}`)).status).toBe(404);
  });

  test.each<[string, object, number, string[]]>([
    ['no model', { name: 'a' }, 400, ['model']],
    ['a field that is not there', { name: 'a', model: 'm', prompt: 'x' }, 400, ['prompt']],
    [
      'wrong settings',
      { name: 'a', model: 'm', config: { spawn: { max_depth: 99 } } },
      400,
      ['config.spawn.maxDepth'],
    ],
    [
      'two execution policies',
      { name: 'a', model: 'm', maxSteps: 1, executionPolicy: { maxSteps: 2 } },
      400,
      ['executionPolicy.maxSteps'],
    ],
    ['another tenant', { name: 'a', model: 'm', tenantId: 'org_x' }, 404, []],
  ])('are not made with %s', async (_, body, status, fields) => {
    const answer = await ask('POST', '/v1/agents', body);
    expect([answer.status, fieldsOf(answer)]).toEqual([status, fields]);
    expect((await ask('GET', '/v1/agents')).body.total).toBe(0);
  });

  test('are made with tools that are not there yet, and that is said', async () => {
    const tools = ['sandbox_shell', 'ask_user', 'platform_list_agents', 'sandbox_shel', 'mcp__a__b'];
    const { status, body } = await make('early', { tools });
    expect([status, body.warnings]).toEqual([
      200,
      ['sandbox_shel', 'mcp__a__b'].map(
        (name) => `tools: nothing here is called ${name}; a function or an MCP server may bring it.`,
      ),
    ]);
    await ask('DELETE', '/v1/agents/early');
  });

  test('are what they were acknowledged to be after kill -9', async () => {
    const own = await startDaemon({ env });
    const send = async (method: string, path: string, body?: object) => {
      const headers = { 'content-type': 'application/json' };
      const response = await own.fetch(path, { method, headers, body: body && JSON.stringify(body) });
      return (await response.json()) as Answer['body'];
    };
    const { agent } = await send('POST', '/v1/agents', { name: 'kept', model: 'm', systemPrompt: 'one' });
    const changed = await send('PATCH', `/v1/agents/${agent?.id}`, { systemPrompt: 'two' });
    await own.kill9();
    const again = await startDaemon({ env, dataDir: own.dataDir, apiKey: own.apiKey });
    try {
      const response = await again.fetch('/v1/agents/kept');
      expect(((await response.json()) as Answer['body']).agent).toEqual(changed.agent as never);
      const versions = await again.fetch('/v1/agents/kept/versions');
      expect(((await versions.json()) as Answer['body']).versions).toMatchObject([
        { version: 2, changes: ['systemPrompt'] },
        { version: 1 },
      ]);
    } finally {
      await again.stop();
    }
  });

  test('come from opencode and go there', async () => {
    const opencode = {
      name: 'plan',
      mode: 'primary',
      model: 'a/b',
      permission: { bash: 'ask', edit: 'deny' },
    };
    const path = '/v1/agents/import/opencode';
    const opencodeAgentJson = JSON.stringify(opencode);
    const dry = await ask('POST', path, { opencodeAgentJson, dryRun: true });
    expect(dry.body).toMatchObject({ valid: true, warnings: [], agent: { name: 'plan' } });
    expect((await ask('GET', '/v1/agents/plan')).status).toBe(404);
    expect((await ask('POST', path, { opencodeAgentJson })).body.agent?.id).toStartWith('agt_');
    const out = await ask('GET', '/v1/agents/plan/export/opencode');
    expect(JSON.parse(out.body.opencodeAgentJson ?? '')).toEqual(opencode);
    const bad = await ask('POST', path, { opencodeAgentJson: 'mode: primary' });
    expect([bad.status, fieldsOf(bad)]).toEqual([400, ['opencodeAgentJson']]);
    const none = await ask('POST', path, { opencodeAgentJson: '{"name":"x"}' });
    expect([none.status, none.body.valid, none.body.warnings?.[0]]).toEqual([
      200,
      false,
      'model: must not be empty.',
    ]);
    await ask('DELETE', '/v1/agents/plan');
  });
});

test('two tenants never see, change, restore or remove each other’s agents', async () => {
  const tenants = await TwoTenants.start();
  try {
    const keyOf = async ({ session }: { session: string }) =>
      (await tenants.key(tenants.fromPage(session))).key;
    const ada = await keyOf(await tenants.member('ada', 'owner'));
    const sam = await keyOf(await tenants.stranger('sam'));
    const send = async (key: string, method: string, path: string, body?: object) => {
      const headers = { 'x-svc-api-key': key, 'content-type': 'application/json' };
      const response = await fetch(tenants.daemon.url + path, {
        method,
        headers,
        body: body && JSON.stringify(body),
      });
      return { status: response.status, body: (await response.json()) as Answer['body'] };
    };
    const body = { name: 'same', mentionAlias: 'alias', model: 'm' };
    const id = (await send(ada, 'POST', '/v1/agents', { ...body, description: 'of ada' })).body.agent?.id;
    expect((await send(sam, 'POST', '/v1/agents', { ...body, description: 'of sam' })).status).toBe(200);
    for (const [method, path, change] of [
      ['GET', `/v1/agents/${id}`],
      ['PATCH', `/v1/agents/${id}`, { description: 'taken' }],
      ['DELETE', `/v1/agents/${id}`],
      ['GET', `/v1/agents/${id}/export/opencode`],
      ['GET', `/v1/agents/${id}/versions`],
      ['GET', `/v1/agents/${id}/versions/1`],
      ['POST', `/v1/agents/${id}/versions/1/restore`, {}],
    ] as const)
      expect([method, path, (await send(sam, method, path, change)).status]).toEqual([method, path, 404]);
    expect((await send(sam, 'GET', '/v1/agents/alias')).body.agent?.description).toBe('of sam');
    expect((await send(sam, 'GET', '/v1/agents')).body.total).toBe(1);
    expect((await send(ada, 'GET', '/v1/agents/same')).body.agent).toMatchObject({
      id,
      description: 'of ada',
    });
  } finally {
    await tenants.stop();
  }
});

describe('svc agent', () => {
  const surroundings = () => ({
    PATH: process.env.PATH,
    HOME: dir,
    SVC_API_URL: daemon.url,
    SVC_API_KEY: daemon.apiKey,
  });

  async function svc(argv: readonly string[], stdin = '') {
    const child = Bun.spawn([...svcCommand(), 'agent', ...argv], {
      cwd: dir,
      env: surroundings(),
      stdin: new Blob([stdin]),
      stdout: 'pipe',
      stderr: 'pipe',
    });
    const [stdout, stderr] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ]);
    return { code: await child.exited, stdout, stderr };
  }

  /** Edits an agent on a terminal; the editor is a line of the shell. */
  async function editWith(editor: string, name: string) {
    let shown = '';
    const child = Bun.spawn([...svcCommand(), 'agent', 'edit', name], {
      cwd: dir,
      env: { ...surroundings(), TERM: 'xterm', EDITOR: editor },
      terminal: {
        data: (_, bytes) => {
          shown += new TextDecoder().decode(bytes);
        },
      },
    });
    return { code: await child.exited, shown: () => shown };
  }

  const json = async (name: string) => JSON.parse((await svc(['get', name, '--json'])).stdout) as Agent;

  test('makes, shows, changes and restores', async () => {
    const options = ['--model', 'local/echo', '--prompt', 'one\ntwo', '--tool', 'sandbox_shell,web_fetch'];
    const settings = [
      '--approve',
      'sandbox_*',
      '--set',
      'sandbox.memoryMb=512',
      '--set',
      'sandbox.image=python',
    ];
    const made = await svc([
      'create',
      'coder',
      ...options,
      ...settings,
      '--memory',
      'user',
      '--permission',
      'ask',
    ]);
    expect(made).toMatchObject({ code: 0, stdout: expect.stringMatching(/^agt_\w+\n$/) });
    expect(await json('coder')).toMatchObject({
      systemPrompt: 'one\ntwo',
      tools: ['sandbox_shell', 'web_fetch'],
      config: { approval: { tools: ['sandbox_*'] }, sandbox: { memoryMb: 512, image: 'python' } },
      memoryConfig: { enabled: true, scope: 'user' },
      taskPermissionMode: 'TASK_PERMISSION_MODE_ASK',
    });
    const changed = [
      '--add-tool',
      'memory_query',
      '--drop-tool',
      'web_fetch',
      '--set',
      'temperature=0.5',
      '--off',
    ];
    expect((await svc(['edit', 'coder', ...changed])).code).toBe(0);
    expect(await json('coder')).toMatchObject({
      tools: ['sandbox_shell', 'memory_query'],
      config: { temperature: 0.5, sandbox: { memoryMb: 512 } },
      enabled: false,
    });
    expect((await svc(['list', '--off'])).stdout).toStartWith('coder\tlocal/echo\tprimary\t2\t2\toff\t');
    expect((await svc(['versions', 'coder'])).stdout).toContain('tools, config');
    expect((await svc(['restore', 'coder', '1'])).code).toBe(0);
    expect(await json('coder')).toMatchObject({
      version: 3,
      enabled: false,
      tools: ['sandbox_shell', 'web_fetch'],
    });
    expect(
      (await svc(['edit', 'coder', '--clear-tools', '--rename', 'writer', '--permission', 'rules'])).code,
    ).toBe(0);
    expect(await json('writer')).toMatchObject({
      tools: [],
      taskPermissionMode: 'TASK_PERMISSION_MODE_UNSPECIFIED',
    });
    expect((await svc(['rm', 'writer', 'nobody'])).code).toBe(5);
    expect((await svc(['list'])).stdout).toBe('');
  });

  test('makes a copy out of what it prints', async () => {
    await svc([
      'create',
      'one',
      '--model',
      'm',
      '--prompt',
      'a\n\n  b\n',
      '--tool',
      'x',
      '--set',
      'team.a=[1]',
    ]);
    const { stdout: yaml } = await svc(['get', 'one', '--yaml']);
    expect(yaml).toContain('systemPrompt: |\n  a\n');
    expect((await svc(['create', 'two', '--file', '-'], yaml)).code).toBe(0);
    const { id: _1, name: _2, createdAt: _3, updatedAt: _4, ...one } = await json('one');
    expect(await json('two')).toMatchObject(one);
    await svc(['rm', 'one', 'two']);
  });

  test('edits in an editor, and keeps a text that is refused', async () => {
    await svc(['create', 'edited', '--model', 'm', '--tool', 'x']);
    expect(await svc(['edit', 'edited'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('terminal'),
    });
    const done = await editWith(`sed -i -e 's/^model: m$/model: n/' -e 's/^  - x$/  - y/'`, 'edited');
    expect(done.code).toBe(0);
    expect(await json('edited')).toMatchObject({ model: 'n', tools: ['y'], version: 2 });
    expect((await editWith('true', 'edited')).shown()).toContain('Nothing was changed.');
    expect((await editWith('false', 'edited')).code).not.toBe(0);
    const refused = await editWith(`sed -i 's/^model: n$/model: ""/'`, 'edited');
    expect([refused.code, refused.shown()]).toEqual([2, expect.stringContaining('model: must not be empty')]);
    const file = /--file (\S+)/.exec(refused.shown())?.[1] ?? '';
    expect(readFileSync(file, 'utf8')).toContain('model: ""');
    writeFileSync(file, readFileSync(file, 'utf8').replace('model: ""', 'model: o').replace('- y', '- z'));
    expect((await svc(['edit', 'edited', '--file', file])).code).toBe(0);
    expect(await json('edited')).toMatchObject({ model: 'o', tools: ['z'], version: 3 });
    rmSync(join(file, '..'), { recursive: true });
    const another = `${svcCommand().join(' ')} agent edit edited --color teal </dev/null >/dev/null`;
    const meanwhile = await editWith(`${another}; sed -i 's/^model: o$/model: p/'`, 'edited');
    expect([meanwhile.code, meanwhile.shown()]).toEqual([6, expect.stringContaining('is at version 4')]);
    const kept = /--file (\S+)/.exec(meanwhile.shown())?.[1] ?? '';
    rmSync(join(kept, '..'), { recursive: true });
    expect(await json('edited')).toMatchObject({ model: 'o', color: 'teal' });
    await svc(['rm', 'edited']);
  });

  test('takes agents of opencode out of its files, and gives them back', async () => {
    mkdirSync(join(dir, 'agents'));
    const file = join(dir, 'agents', 'review.md');
    writeFileSync(
      file,
      '---\ndescription: Reviews\nmode: subagent\npermission:\n  edit: deny\n---\n\nOnly look.\n',
    );
    const without = await svc(['import', file]);
    expect(without).toMatchObject({ code: 1, stderr: expect.stringContaining('model: must not be empty.') });
    expect((await svc(['import', file, '--model', 'a/b'])).stdout).toStartWith('agt_');
    expect(await json('review')).toMatchObject({ systemPrompt: 'Only look.', mode: 'AGENT_MODE_SUBAGENT' });
    const config = await svc(['export', 'review', '--config']);
    expect(JSON.parse(config.stdout)).toMatchObject({
      agent: { review: { description: 'Reviews', prompt: 'Only look.', permission: { edit: 'deny' } } },
    });
    const whole = '{ /* mine */ "agent": { "a": {"model": "x/y", "prompt": "{file:p.txt}"}, "b": {} } }';
    writeFileSync(join(dir, 'opencode.json'), whole);
    writeFileSync(join(dir, 'p.txt'), 'from a file');
    expect((await svc(['import', 'opencode.json'])).stderr).toContain('send one of a, b');
    expect((await svc(['import', 'opencode.json', '--agent', 'a', '--name', 'c'])).code).toBe(0);
    expect(await json('c')).toMatchObject({ systemPrompt: 'from a file', model: 'x/y' });
    const thief = `{"name": "t", "model": "x/y", "prompt": "{file:/etc/hostname}"}`;
    expect(await svc(['import', '-'], thief)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('not below'),
    });
    await svc(['rm', 'review', 'c']);
  });
});
