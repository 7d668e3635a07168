import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import type { ApprovalReview } from '../src/api/agents/reviews.ts';
import type { Value } from '../src/api/schema.ts';
import { AgentClient, callsOf, type Event, script, type Told } from './support/agent-client.ts';
import { startDaemon, type TestDaemon } from './support/daemon.ts';
import { until } from './support/scene.ts';
import { type ScriptedModel, startScriptedModel } from './support/scripted-model/index.ts';
import { NO_SANDBOXES } from './support/tenants/two-tenants.ts';

setDefaultTimeout(30_000);

type Review = Value<typeof ApprovalReview>;

let model: ScriptedModel;
let daemon: TestDaemon;
let agents: AgentClient;
let careful: string;

beforeAll(async () => {
  model = await startScriptedModel();
  daemon = await startDaemon({ env: { ...NO_SANDBOXES, ...model.env } });
  agents = new AgentClient(() => daemon.url, daemon.apiKey);
  await agents.effect(model.effectUrl);
  careful = await agents.agent({ tools: ['effect', 'ask_user'], config: { approval: { tools: ['eff*'] } } });
});

afterAll(async () => {
  await daemon?.stop();
  const seen = await model?.seen();
  await model?.stop();
  expect(seen?.violations.map(({ reason }) => reason)).toEqual([]);
});

const effect = (id: string) => `call effect {"id":"${id}"}`;
const effectsOf = async (id: string) => (await model.effects()).filter((one) => one.id === id).length;
const typesOf = (told: readonly Told[]) => told.map(({ result }) => result?.type);
const find = (told: readonly Told[], type: string): Event | undefined =>
  told.find(({ result }) => result?.type === type)?.result;

/** The review that a session waits for. */
const pendingOf = (sessionId: string) =>
  until(async () => {
    const query = `sessionId=${sessionId}&status=APPROVAL_REVIEW_STATUS_PENDING`;
    const { body } = await agents.ask<{ reviews?: Review[] }>('GET', `/v1/agents/reviews?${query}`);
    return body.reviews?.[0];
  });

const submit = (id: string | undefined, body: object) =>
  agents.ask<{ accepted?: boolean; review?: Review }>('POST', `/v1/agents/reviews/${id}/submit`, body);
const APPROVE = { action: 'APPROVAL_ACTION_APPROVE' };
const DENY = { action: 'APPROVAL_ACTION_DENY', reason: 'not today' };

/** Begins a turn that comes to a review. */
async function held(key: string, ...lines: string[]) {
  const sessionId = await agents.session(careful);
  const told = agents.told(sessionId, script(key, ...lines));
  const review = await pendingOf(sessionId);
  return { sessionId, told, review };
}

describe('a call that must be approved', () => {
  test('waits, and is carried out when it is', async () => {
    const { sessionId, told, review } = await held('ok', effect('ok'), 'expect /"count":1/', 'say done');
    const session = await agents.untilStatus(sessionId, 'WAITING_FOR_APPROVAL');
    expect(session.turns?.[0]?.status).toBe('TURN_STATUS_RUNNING');
    expect(await effectsOf('ok')).toBe(0);
    expect(review).toMatchObject({
      sessionId,
      agentId: careful,
      turnNumber: 1,
      iteration: 1,
      defaultAction: 'deny',
      toolCalls: [{ toolName: 'effect', toolArgs: '{"id":"ok"}' }],
      decisions: [],
    });
    expect((await submit(review.id, APPROVE)).body.accepted).toBe(true);
    const all = await told;
    expect(typesOf(all).filter((type) => type !== 'llm.chunk' && type !== 'approval.heartbeat')).toEqual([
      'session.start',
      'turn.start',
      'llm.start',
      'llm.end',
      'approval.requested',
      'approval.resolved',
      'tool_call.start',
      'tool_call.end',
      'llm.start',
      'llm.end',
      'turn.end',
    ]);
    expect(find(all, 'approval.requested')).toMatchObject({
      reviewId: review.id,
      pendingToolCalls: review.toolCalls?.map(({ toolCallId, toolName, toolArgs }) => ({
        toolCallId,
        toolName,
        toolArgs,
      })),
    });
    expect(find(all, 'approval.resolved')).toMatchObject({ reviewId: review.id, approvalAction: 'approve' });
    expect(find(all, 'tool_call.start')?.toolCallId).toBe(review.toolCalls?.[0]?.toolCallId);
    expect(await effectsOf('ok')).toBe(1);
  });

  test('is told to the model as denied when it is, and the turn goes on', async () => {
    const { told, review } = await held(
      'no',
      effect('no'),
      'expect /[Dd]enied.*not today/',
      'if /[Dd]enied/ say I leave it.',
      'say I did it.',
    );
    await submit(review.id, DENY);
    const all = await told;
    expect(find(all, 'approval.resolved')).toMatchObject({ approvalAction: 'deny' });
    expect(find(all, 'turn.end')?.turn?.assistantOutput).toBe('I leave it.');
    expect(callsOf(find(all, 'turn.end')?.turn)).toMatchObject([{ success: false }]);
    expect(await effectsOf('no')).toBe(0);
  });

  test('is decided by itself among several', async () => {
    const lines = [effect('one'), 'expect /"count":1/', `& ${effect('two')}`, 'expect /[Dd]enied/', 'say ok'];
    const { told, review } = await held('several', ...lines);
    const [, second] = review.toolCalls ?? [];
    const decisions = [{ toolCallId: second?.toolCallId, action: 'APPROVAL_ACTION_DENY', reason: 'no' }];
    const { body } = await submit(review.id, { ...APPROVE, decisions });
    expect(body.review?.decisions).toHaveLength(2);
    expect(find(await told, 'turn.end')?.turn?.assistantOutput).toBe('ok');
    expect([await effectsOf('one'), await effectsOf('two')]).toEqual([1, 0]);
  });

  test('is decided once: the same again changes nothing, the contrary is 409', async () => {
    const { told, review } = await held('once', effect('once'), 'say done');
    const answers = await Promise.all(Array.from({ length: 8 }, () => submit(review.id, APPROVE)));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    await told;
    expect((await submit(review.id, APPROVE)).status).toBe(200);
    expect((await submit(review.id, DENY)).status).toBe(409);
    expect(await effectsOf('once')).toBe(1);
  });

  test.each([
    ['deny', 'expect /./', 0],
    ['approve', 'expect /"count":1/', 1],
  ])('about which nobody decides in time is %s by default', async (defaultAction, expectation, effects) => {
    const approval = { tools: ['effect'], timeoutSeconds: 1, defaultAction };
    const agent = await agents.agent({ tools: ['effect'], config: { approval } });
    const sessionId = await agents.session(agent);
    const id = `late-${defaultAction}`;
    const told = await agents.told(sessionId, script(id, effect(id), expectation, 'say on'));
    expect(find(told, 'approval.resolved')).toBeDefined();
    const { body } = await agents.ask<{ review?: Review }>(
      'GET',
      `/v1/agents/reviews/${find(told, 'approval.requested')?.reviewId}`,
    );
    expect(body.review?.status).toBe('APPROVAL_REVIEW_STATUS_EXPIRED');
    expect(await effectsOf(id)).toBe(effects);
    expect(find(told, 'turn.end')?.turn?.assistantOutput).toBe('on');
  });

  test('is answered when its session is cancelled, and can no longer be decided', async () => {
    const { sessionId, told, review } = await held('gone', effect('gone'), 'say done');
    await agents.act(sessionId, 'cancel');
    expect(typesOf(await told)).toContain('approval.cancelled');
    const { body } = await agents.ask<{ review?: Review }>('GET', `/v1/agents/reviews/${review.id}`);
    expect(body.review?.status).toBe('APPROVAL_REVIEW_STATUS_CANCELLED');
    expect((await submit(review.id, APPROVE)).status).toBe(409);
    expect(await effectsOf('gone')).toBe(0);
  });

  test('holds up its session: another turn is 409, and somebody may speak meanwhile', async () => {
    const { sessionId, told, review } = await held('held', effect('held'), 'steer /hurry/', 'say ok');
    expect((await agents.turn(sessionId, 'x')).status).toBe(409);
    expect((await agents.act(sessionId, 'steer', { role: 'user', content: 'hurry' })).status).toBe(200);
    await submit(review.id, APPROVE);
    expect(find(await told, 'turn.end')?.turn?.assistantOutput).toBe('ok');
  });

  test('is still wanted: those who watch hear so, and nothing is stored of that', async () => {
    const { sessionId, told, review } = await held('quiet', effect('quiet'), 'say done');
    const watched: Told[] = [];
    for await (const one of agents.stream(sessionId, '', { lastEventId: '0' })) {
      watched.push(one);
      if (one.result?.type === 'approval.heartbeat') break;
    }
    await submit(review.id, APPROVE);
    await told;
    const again = await agents.told(sessionId, '', { lastEventId: '0' });
    expect(typesOf(again)).not.toContain('approval.heartbeat');
    expect(watched.slice(0, -1)).toEqual(again.slice(0, watched.length - 1));
  });

  test('survives a restart of the daemon', async () => {
    const { sessionId, told, review } = await held('kept', effect('kept'), 'expect /"count":1/', 'say done');
    const cut = told.catch(() => 'cut');
    const { dataDir, apiKey } = daemon;
    await daemon.kill9();
    await cut;
    daemon = await startDaemon({ dataDir, apiKey, env: { ...NO_SANDBOXES, ...model.env } });
    expect((await agents.get(sessionId)).status).toBe('SESSION_STATUS_WAITING_FOR_APPROVAL');
    expect((await pendingOf(sessionId)).id).toBe(review.id);
    await submit(review.id, APPROVE);
    const turn = await until(async () => {
      const [turn] = (await agents.get(sessionId)).turns ?? [];
      return turn?.status === 'TURN_STATUS_COMPLETED' && turn;
    });
    expect(turn.assistantOutput).toBe('done');
    expect(await effectsOf('kept')).toBe(1);
  });
});

describe('an agent that asks', () => {
  const ask = (key: string) =>
    script(key, 'call ask_user {"question":"Which colour?"}', 'expect /blue/', 'say Blue it is.');

  async function asked(key: string) {
    const sessionId = await agents.session(careful);
    const told = agents.told(sessionId, ask(key));
    const session = await agents.untilStatus(sessionId, 'WAITING_FOR_INPUT');
    return { sessionId, told, session };
  }

  test('waits, and is answered by steering', async () => {
    const { sessionId, told, session } = await asked('ask');
    expect(session.turns?.[0]?.status).toBe('TURN_STATUS_RUNNING');
    await agents.act(sessionId, 'steer', { role: 'user', content: 'blue' });
    const all = await told;
    const requested = find(all, 'user_input.requested');
    expect(requested?.userInputId).toBeString();
    expect(JSON.stringify(requested)).toContain('Which colour?');
    expect(find(all, 'user_input.received')?.userInputId).toBe(requested?.userInputId);
    expect(find(all, 'turn.end')?.turn?.assistantOutput).toBe('Blue it is.');
  });

  test('is answered by what the next turn would say, which is no turn of its own', async () => {
    const { sessionId, told } = await asked('ask2');
    const answer = await agents.turn(sessionId, 'blue, please');
    expect(answer.status).toBe(200);
    expect(answer.body.turn).toMatchObject({ turnNumber: 1, assistantOutput: 'Blue it is.' });
    expect(find(await told, 'turn.end')?.turn?.assistantOutput).toBe('Blue it is.');
    expect((await agents.get(sessionId)).turnCount).toBe(1);
  });

  test('is still asking after a restart of the daemon', async () => {
    const { sessionId, told } = await asked('ask3');
    const cut = told.catch(() => 'cut');
    const { dataDir, apiKey } = daemon;
    await daemon.kill9();
    await cut;
    daemon = await startDaemon({ dataDir, apiKey, env: { ...NO_SANDBOXES, ...model.env } });
    await agents.untilStatus(sessionId, 'WAITING_FOR_INPUT');
    expect((await agents.turn(sessionId, 'blue')).body.turn?.assistantOutput).toBe('Blue it is.');
  });

  test('is answered by a cancel', async () => {
    const { sessionId, told } = await asked('ask4');
    await agents.act(sessionId, 'cancel');
    expect(typesOf(await told).slice(-2)).toEqual(['turn.end', 'session.end']);
    expect((await agents.get(sessionId)).status).toBe('SESSION_STATUS_CANCELLED');
  });
});
