import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import type { SpawnTreeNode } from '../src/api/agents/spawn.ts';
import type { Value } from '../src/api/schema.ts';
import { AgentClient, callsOf, type Event, script, type Told } from './support/agent-client.ts';
import { startDaemon, type TestDaemon } from './support/daemon.ts';
import { until } from './support/scene.ts';
import { type ScriptedModel, startScriptedModel } from './support/scripted-model/index.ts';
import { NO_SANDBOXES } from './support/tenants/two-tenants.ts';

setDefaultTimeout(30_000);

type Node = Value<typeof SpawnTreeNode>;

const SUBAGENT = 'AGENT_MODE_SUBAGENT';

let model: ScriptedModel;
let daemon: TestDaemon;
let agents: AgentClient;
let boss: string;
let worker: string;

beforeAll(async () => {
  model = await startScriptedModel();
  daemon = await startDaemon({ env: { ...NO_SANDBOXES, ...model.env } });
  agents = new AgentClient(() => daemon.url, daemon.apiKey);
  await agents.effect(model.effectUrl);
  boss = await agents.agent({ name: 'boss', tools: ['spawn_agent', 'effect'] });
  worker = await agents.agent({
    name: 'worker',
    mode: SUBAGENT,
    tools: ['effect', 'spawn_agent', 'ask_user'],
    config: { spawn: { maxDepth: 2 } },
  });
});

afterAll(async () => {
  await daemon?.stop();
  const seen = await model?.seen();
  await model?.stop();
  expect(seen?.violations.map(({ reason }) => reason)).toEqual([]);
});

/** A call that starts an agent on a script. */
const spawn = (agent: string, task: string, tool = 'spawn_agent') =>
  `call ${tool} ${JSON.stringify({ agent, task })}`;
const effect = (id: string, ms = 0) => `call effect {"id":"${id}","ms":${ms}}`;
const effectsOf = async (id: string) => (await model.effects()).filter((one) => one.id === id).length;
const find = (told: readonly Told[], type: string): Event | undefined =>
  told.find(({ result }) => result?.type === type)?.result;
const outputOf = (told: readonly Told[]) => find(told, 'turn.end')?.turn?.assistantOutput;

async function nodesOf(sessionId: string): Promise<Node[]> {
  const { body } = await agents.ask<{ nodes: Node[]; total: number }>(
    'GET',
    `/v1/agents/sessions/${sessionId}/spawn-nodes`,
  );
  expect(body.total).toBe(body.nodes.length);
  return body.nodes;
}

describe('an agent that starts another', () => {
  test('gets its answer, and both are in a tree', async () => {
    const sessionId = await agents.session(boss);
    const task = script('child', effect('child'), 'expect /"count":1/', 'say The child is done.');
    const told = await agents.told(
      sessionId,
      script('parent', spawn('worker', task), 'expect /^The child is done\\.$/', 'say All done.'),
    );
    expect(outputOf(told)).toBe('All done.');
    const types = told.map(({ result }) => result?.type);
    expect(types.indexOf('spawn.start')).toBeGreaterThan(types.indexOf('tool_call.start'));
    expect(types.indexOf('spawn.end')).toBeLessThan(types.indexOf('tool_call.end'));
    const [node, ...others] = await nodesOf(sessionId);
    expect(others).toEqual([]);
    expect(node).toMatchObject({
      agentId: worker,
      depth: 1,
      status: 'completed',
      task,
      result: 'The child is done.',
    });
    expect(node?.totalTokens).toBe((node?.promptTokens ?? 0) + (node?.completionTokens ?? 0));
    const { body } = await agents.ask<{ nodes: Node[] }>('GET', `/v1/agents/spawn-trees/${node?.treeId}`);
    expect(body.nodes.map(({ depth, parentNodeId }) => [depth, parentNodeId !== ''])).toEqual([
      [0, false],
      [1, true],
    ]);
    const child = await agents.get(node?.executionId ?? '');
    expect(child).toMatchObject({ agentId: worker, status: 'SESSION_STATUS_COMPLETED', turnCount: 1 });
    expect((await agents.turn(child.id ?? '', 'x')).status).toBe(409);
    expect(await effectsOf('child')).toBe(1);
  });

  test('may start several at once', async () => {
    const sessionId = await agents.session(boss);
    const task = (key: string) => script(key, 'wait 600', `say ${key}`);
    const begun = performance.now();
    const told = await agents.told(
      sessionId,
      script(
        'several',
        spawn('worker', task('sib1')),
        `& ${spawn('worker', task('sib2'))}`,
        `& ${spawn('worker', task('sib3'))}`,
        'say ok',
      ),
    );
    expect(performance.now() - begun).toBeLessThan(1_700);
    const calls = callsOf(find(told, 'turn.end')?.turn);
    expect(calls.map(({ result }) => result)).toEqual(['sib1', 'sib2', 'sib3']);
  });

  test('is told when the other one fails, and goes on', async () => {
    const broken = await agents.agent({ name: 'broken', mode: SUBAGENT, model: 'scripted/broken' });
    const sessionId = await agents.session(boss);
    const told = await agents.told(
      sessionId,
      script('failing', spawn(broken, 'anything'), 'expect /failed/', 'say I see.'),
    );
    expect(outputOf(told)).toBe('I see.');
    expect((await nodesOf(sessionId))[0]?.status).toBe('failed');
  });

  test.each([
    ['nobody', spawn('nobody', 'x'), '/nobody/'],
    ['one it may not', spawn('boss', 'x'), '/may not start boss/'],
    ['one too deep', spawn('worker', script('deep', spawn('worker', 'x'), 'say deep')), '/deep/'],
  ])('cannot start %s', async (what, call, words) => {
    const config = { spawn: { agents: ['worker'], maxDepth: 1 } };
    const careful = await agents.agent({ tools: ['spawn_agent'], config });
    const told = await agents.told(
      await agents.session(careful),
      script(`refused-${Bun.hash(what).toString(36)}`, call, `expect ${words}`, 'say ok'),
    );
    expect(outputOf(told)).toBe('ok');
  });

  test('cannot start more than its tree may have', async () => {
    const careful = await agents.agent({ tools: ['spawn_agent'], config: { spawn: { maxNodes: 2 } } });
    const sessionId = await agents.session(careful);
    const lines = [1, 2, 3].map((n) => spawn('worker', script(`node${n}`, 'say fine')));
    const told = await agents.told(sessionId, script('nodes', ...lines, 'expect /2 sub-agents/', 'say ok'));
    expect(outputOf(told)).toBe('ok');
    expect(await nodesOf(sessionId)).toHaveLength(2);
  });

  test('takes it down with itself', async () => {
    const sessionId = await agents.session(boss);
    const told = agents.told(
      sessionId,
      script('doomed', spawn('worker', script('doomed-child', 'pace 50', `say ${'word '.repeat(200)}`))),
    );
    await until(async () => (await model.seen()).keys.includes('doomed-child'));
    await agents.act(sessionId, 'cancel');
    await told;
    const [node] = await nodesOf(sessionId);
    expect(node?.status).toBe('cancelled');
    expect((await agents.get(node?.executionId ?? '')).status).toBe('SESSION_STATUS_CANCELLED');
    await until(async () => (await model.conversation('doomed-child')).left === 1);
  });

  test('asks for those whom it starts: there is nobody else', async () => {
    const told = await agents.told(
      await agents.session(boss),
      script(
        'shy',
        spawn(
          'worker',
          script('shy-child', 'call ask_user {"question":"?"}', 'expect /nobody to ask/', 'say alone'),
        ),
        'expect /^alone$/',
        'say ok',
      ),
    );
    expect(outputOf(told)).toBe('ok');
  });

  test('goes on after a kill of the daemon, and so does the other: each is there once', async () => {
    const sessionId = await agents.session(boss);
    const task = script('cut-child', effect('cut-1'), 'wait 800', effect('cut-2'), 'say child');
    const cut = agents
      .told(sessionId, script('cut', spawn('worker', task), 'expect /^child$/', effect('cut-3'), 'say ok'))
      .catch(() => 'cut');
    await until(
      async () => (await effectsOf('cut-1')) === 1 && (await model.conversation('cut-child')).requests === 2,
    );
    const { dataDir, apiKey } = daemon;
    await daemon.kill9();
    await cut;
    daemon = await startDaemon({ dataDir, apiKey, env: { ...NO_SANDBOXES, ...model.env } });
    const told = await agents.told(sessionId, '', { lastEventId: '0' });
    expect(outputOf(told)).toBe('ok');
    expect(told.filter(({ result }) => result?.type === 'spawn.start')).toHaveLength(1);
    expect(told.filter(({ result }) => result?.type === 'spawn.end')).toHaveLength(1);
    expect(await nodesOf(sessionId)).toHaveLength(1);
    for (const id of ['cut-1', 'cut-2', 'cut-3']) expect([id, await effectsOf(id)]).toEqual([id, 1]);
  });
});

describe('a job', () => {
  let manager: string;

  beforeAll(async () => {
    manager = await agents.agent({
      tools: ['delegate_job', 'check_job', 'effect'],
      config: { spawn: { async: true, maxConcurrentJobs: 2 } },
    });
  });

  test('is looked at, and its result comes by itself', async () => {
    const sessionId = await agents.session(manager);
    const told = await agents.told(
      sessionId,
      script(
        'jobs',
        spawn('worker', script('job', 'wait 500', 'say The job is done.'), 'delegate_job'),
        'expect /job (?<job>spn_\\w+)/',
        'call check_job {"jobId":"{{job}}"}',
        'expect /running|pending/',
        effect('jobs', 900),
        'steer /The job is done\\./',
        'call check_job {"jobId":"{{job}}"}',
        'expect /completed\\s+The job is done\\./',
        'say Good.',
      ),
    );
    expect(outputOf(told)).toBe('Good.');
  });

  test('that is over after its session’s turn is told at the next one', async () => {
    const sessionId = await agents.session(manager);
    await agents.turn(
      sessionId,
      script(
        'later',
        spawn('worker', script('later-job', 'wait 300', 'say late'), 'delegate_job'),
        'say bye',
      ),
    );
    await until(async () => (await nodesOf(sessionId))[0]?.status === 'completed');
    const { body } = await agents.turn(sessionId, script('later2', 'steer /late/', 'say got it'));
    expect(body.turn?.assistantOutput).toBe('got it');
  });

  test('is not begun when as many run as may', async () => {
    const sessionId = await agents.session(manager);
    const job = (key: string) => spawn('worker', script(key, 'wait 400', 'say x'), 'delegate_job');
    const told = await agents.told(
      sessionId,
      script(
        'crowded',
        job('crowd1'),
        job('crowd2'),
        job('crowd3'),
        'expect /2 jobs run already/',
        'say ok',
        'say ok',
        'say ok',
      ),
    );
    expect(outputOf(told)).toBe('ok');
    expect(await nodesOf(sessionId)).toHaveLength(2);
  });
});

test('a sub-agent is started by agents alone', async () => {
  const answer = await agents.ask('POST', '/v1/agents/sessions', { agentId: worker });
  expect(answer.status).toBeGreaterThanOrEqual(400);
  expect(answer.body.message).toContain('worker');
});
