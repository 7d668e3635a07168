import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { AgentClient, callsOf, script, type Told } from './support/agent-client.ts';
import { startDaemon, type TestDaemon } from './support/daemon.ts';
import { until } from './support/scene.ts';
import { type ScriptedModel, startScriptedModel } from './support/scripted-model/index.ts';
import { NO_SANDBOXES } from './support/tenants/two-tenants.ts';

setDefaultTimeout(30_000);

let model: ScriptedModel;
let daemon: TestDaemon;
let agents: AgentClient;
let plain: string;
let acting: string;

beforeAll(async () => {
  model = await startScriptedModel();
  daemon = await startDaemon({ env: { ...NO_SANDBOXES, ...model.env } });
  agents = new AgentClient(() => daemon.url, daemon.apiKey);
  await agents.effect(model.effectUrl);
  plain = await agents.agent({});
  acting = await agents.agent({ tools: ['effect'] });
});

afterAll(async () => {
  await daemon?.stop();
  const seen = await model?.seen();
  await model?.stop();
  expect(seen?.violations.map(({ reason }) => reason)).toEqual([]);
});

/** Types in their order, text that follows text as one. */
const typesOf = (told: readonly Told[]) =>
  told
    .map(({ result }) => result?.type)
    .filter((type, i, all) => type !== 'llm.chunk' || all[i - 1] !== 'llm.chunk');

const textOf = (told: readonly Told[]) =>
  told.map(({ result }) => (result?.type === 'llm.chunk' ? result.textDelta : '')).join('');

const find = (told: readonly Told[], type: string) =>
  told.find(({ result }) => result?.type === type)?.result;

const effectsOf = async (id: string) => (await model.effects()).filter((effect) => effect.id === id).length;

/** A call of the effect, as a line of a script. */
const effect = (id: string, ms = 0) => `call effect {"id":"${id}","ms":${ms}}`;

describe('a session that is busy', () => {
  test('refuses a second turn, which changes nothing', async () => {
    const id = await agents.session(plain);
    const first = agents.turn(id, script('busy', 'wait 400', 'say one'));
    await agents.untilStatus(id, 'RUNNING');
    for (const path of ['turns', 'turns/stream']) {
      const second = await agents.ask('POST', `/v1/agents/sessions/${id}/${path}`, {
        userInput: script('busy2', 'say two'),
      });
      expect([second.status, second.body.code]).toEqual([409, 10]);
    }
    expect((await first).body.turn?.assistantOutput).toBe('one');
    expect((await agents.get(id)).turnCount).toBe(1);
    expect((await agents.turn(id, script('busy3', 'say three'))).status).toBe(200);
  });

  test('queues turns that ask for it, in their order', async () => {
    const id = await agents.session(plain);
    const first = agents.turn(id, script('queue', 'wait 300', 'say one'));
    await agents.untilStatus(id, 'RUNNING');
    const second = agents.turn(id, script('queue2', 'say two'), { queue: true });
    await until(async () => ((await agents.get(id)).turns?.length ?? 0) === 2);
    const third = agents.turn(id, script('queue3', 'say three'), { queue: true });
    const all = await Promise.all([first, second, third]);
    expect(all.map(({ body }) => body.turn?.assistantOutput)).toEqual(['one', 'two', 'three']);
    expect(all.map(({ body }) => body.turn?.turnNumber)).toEqual([1, 2, 3]);
  });

  test('takes what is said to it at its next step', async () => {
    const id = await agents.session(acting);
    const told = agents.told(
      id,
      script('steer', effect('steer', 500), 'steer /make it blue/', 'say It is blue.'),
    );
    await until(async () => (await effectsOf('steer')) === 1);
    const answer = await agents.act(id, 'steer', { role: 'user', content: 'make it blue' });
    expect(answer).toMatchObject({ status: 200, body: { accepted: true } });
    expect(textOf(await told)).toBe('It is blue.');
    expect(find(await told, 'steer.received')?.textDelta).toBe('make it blue');
  });

  test('goes on when something was said to it during its last answer', async () => {
    const id = await agents.session(plain);
    const told = agents.told(id, script('late', 'pace 30', 'say one two three four five six', 'say seven'));
    await until(async () => (await model.seen()).keys.includes('late'));
    await agents.act(id, 'steer', { role: 'system', content: 'count on' });
    expect(textOf(await told)).toBe('one two three four five sixseven');
    const { last } = await model.conversation('late');
    expect(last.messages.at(-1)).toMatchObject({ role: 'system', content: 'count on' });
  });
});

describe('the end of a session', () => {
  test('by cancel leaves the model', async () => {
    const id = await agents.session(plain);
    const told = agents.told(id, script('stop-model', 'pace 50', `say ${'word '.repeat(200)}`));
    await until(async () => (await model.seen()).keys.includes('stop-model'));
    await Bun.sleep(200);
    const answer = await agents.act(id, 'cancel');
    expect(answer).toMatchObject({ status: 200, body: { success: true } });
    expect(typesOf(await told).slice(-2)).toEqual(['turn.end', 'session.end']);
    await until(async () => (await model.conversation('stop-model')).left === 1);
    const session = await agents.get(id);
    expect(session.status).toBe('SESSION_STATUS_CANCELLED');
    expect(session.turns?.[0]).toMatchObject({ status: 'TURN_STATUS_FAILED', error: expect.any(String) });
  });

  test('by cancel answers every call that is open', async () => {
    const id = await agents.session(acting);
    const told = agents.told(id, script('stop-tool', effect('stop-1', 5000), `& ${effect('stop-2', 5000)}`));
    await until(async () => (await effectsOf('stop-1')) === 1);
    await agents.act(id, 'cancel');
    const all = await told;
    const begun = all.filter(({ result }) => result?.type === 'tool_call.start');
    const ended = all.filter(({ result }) => result?.type === 'tool_call.error');
    expect(ended.map(({ result }) => result?.toolCallId)).toEqual(
      expect.arrayContaining(begun.map(({ result }) => result?.toolCallId)),
    );
    expect(callsOf((await agents.get(id)).turns?.[0]).map(({ success }) => success)).toEqual([false, false]);
  });

  test.each(['complete', 'cancel'] as const)('by %s is for good', async (what) => {
    const id = await agents.session(plain);
    await agents.turn(id, script(`good-${what}`, 'say one'));
    expect((await agents.act(id, what)).status).toBe(200);
    const session = await agents.get(id);
    expect(session.status).toBe(`SESSION_STATUS_${what === 'cancel' ? 'CANCELLED' : 'COMPLETED'}`);
    expect(session.completedAt).toBeString();
    for (const path of ['turns', 'turns/stream']) {
      const answer = await agents.ask('POST', `/v1/agents/sessions/${id}/${path}`, { userInput: 'x' });
      expect(answer.status).toBe(409);
    }
    expect((await agents.act(id, 'steer', { role: 'user', content: 'x' })).status).toBe(409);
    expect((await agents.act(id, what === 'cancel' ? 'complete' : 'cancel')).status).toBe(409);
    expect((await agents.get(id)).turnCount).toBe(1);
  });

  test('by complete waits for no turn: one that runs is 409', async () => {
    const id = await agents.session(plain);
    const turn = agents.turn(id, script('completing', 'wait 300', 'say one'));
    await agents.untilStatus(id, 'RUNNING');
    expect((await agents.act(id, 'complete')).status).toBe(409);
    expect((await turn).body.turn?.assistantOutput).toBe('one');
    expect((await agents.act(id, 'complete')).status).toBe(200);
  });
});

test('a turn that is interrupted is over, and its session goes on', async () => {
  const id = await agents.session(acting);
  const told = agents.told(id, script('pause', effect('pause', 5000), 'say never'));
  await until(async () => (await effectsOf('pause')) === 1);
  expect((await agents.ask('POST', `/v1/agents/sessions/${id}/interrupt`, {})).status).toBe(200);
  expect(typesOf(await told).slice(-2)).toEqual(['tool_call.error', 'turn.end']);
  expect((await agents.get(id)).turns?.[0]?.status).toBe('TURN_STATUS_FAILED');
  expect((await agents.turn(id, script('pause2', 'say on'))).body.turn?.assistantOutput).toBe('on');
  expect((await agents.ask('POST', `/v1/agents/sessions/${id}/interrupt`, {})).status).toBe(409);
});

describe('limits', () => {
  test('of turns: one too many is refused', async () => {
    const id = await agents.session(await agents.agent({ maxTurns: 2 }));
    for (const n of [1, 2]) expect((await agents.turn(id, script(`turns${n}`, 'say x'))).status).toBe(200);
    const third = await agents.turn(id, script('turns3', 'say x'));
    expect(third.status).toBeGreaterThanOrEqual(400);
    expect(third.status).toBeLessThan(500);
    expect(third.body.message).toContain('2');
    expect((await agents.get(id)).turnCount).toBe(2);
  });

  test('of calls: beyond them the model is told to answer in words', async () => {
    const id = await agents.session(await agents.agent({ tools: ['effect'], maxToolCallsPerTurn: 2 }));
    const { body } = await agents.turn(id, script('calls', 'repeat 5 call effect {"id":"calls"}', 'say no'));
    expect(await effectsOf('calls')).toBe(2);
    expect(body.turn?.status).toBe('TURN_STATUS_COMPLETED');
  });

  test('of steps: the agent stops', async () => {
    const id = await agents.session(await agents.agent({ tools: ['effect'], maxSteps: 3 }));
    const told = await agents.told(id, script('steps', 'repeat 9 call effect {"id":"steps"}', 'say no'));
    expect((await model.conversation('steps')).requests).toBe(3);
    expect(find(told, 'turn.end')).toMatchObject({ finishReason: 'max_steps' });
    expect(find(told, 'turn.end')?.turn?.status).toBe('TURN_STATUS_COMPLETED');
  });
});

describe('what is not there', () => {
  test.each([
    ['a session of an unknown agent', 'POST', '/v1/agents/sessions', { agentId: 'agt_none' }],
    ['an unknown session', 'GET', '/v1/agents/sessions/ses_none', undefined],
    ['a turn of one', 'POST', '/v1/agents/sessions/ses_none/turns', { userInput: 'x' }],
    ['a stream of one', 'POST', '/v1/agents/sessions/ses_none/turns/stream', { userInput: 'x' }],
    ['its end', 'POST', '/v1/agents/sessions/ses_none/complete', {}],
  ])('%s is 404', async (_, method, path, body) => {
    const answer = await agents.ask(method, path, body);
    expect([answer.status, answer.body.code]).toEqual([404, 5]);
    expect(answer.body.message).toContain('_none');
  });

  test('input is named', async () => {
    const id = await agents.session(plain);
    const answer = await agents.turn(id, '');
    expect([answer.status, JSON.stringify(answer.body).includes('userInput')]).toEqual([400, true]);
    expect((await agents.get(id)).status).toBe('SESSION_STATUS_CREATED');
  });
});
