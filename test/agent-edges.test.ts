import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { AgentClient, callsOf, script, type Told } from './support/agent-client.ts';
import { startDaemon, type TestDaemon } from './support/daemon.ts';
import { until } from './support/scene.ts';
import { type ScriptedModel, startScriptedModel } from './support/scripted-model/index.ts';
import { NO_SANDBOXES } from './support/tenants/two-tenants.ts';

setDefaultTimeout(60_000);

let model: ScriptedModel;
let daemon: TestDaemon;
let agents: AgentClient;
let acting: string;

const start = (more: object = {}) => startDaemon({ env: { ...NO_SANDBOXES, ...model.env }, ...more });

beforeAll(async () => {
  model = await startScriptedModel();
  daemon = await start();
  agents = new AgentClient(() => daemon.url, daemon.apiKey);
  await agents.effect(model.effectUrl);
  acting = await agents.agent({ tools: ['effect'] });
});

afterAll(async () => {
  await daemon?.stop();
  const seen = await model?.seen();
  await model?.stop();
  expect(seen?.violations.map(({ reason }) => reason)).toEqual([]);
});

const effect = (id: string, ms = 0) => `call effect {"id":"${id}","ms":${ms}}`;
const effectsOf = async (id: string) => (await model.effects()).filter((one) => one.id === id).length;
const outputOf = (told: readonly Told[]) =>
  told.find(({ result }) => result?.type === 'turn.end')?.result?.turn?.assistantOutput;
const turnsOf = async (id: string) => (await agents.get(id)).turns ?? [];

/** Ends the daemon, as an operator does or as a power cut does, and starts it again. */
async function restart(how: 'stop' | 'kill9'): Promise<void> {
  const { dataDir, apiKey } = daemon;
  await (how === 'stop' ? daemon.stop({ keep: true }) : daemon.kill9());
  daemon = await start({ dataDir, apiKey });
}

describe.each(['stop', 'kill9'] as const)('the end of the daemon by %s', (how) => {
  test('in the middle of an answer: what is cut off is asked for again, and told again', async () => {
    const id = await agents.session(acting);
    const words = 'one two three four five six seven eight nine ten';
    const cut = agents.told(id, script(`${how}-answer`, 'pace 100', `say ${words}`)).catch(() => 'cut');
    await until(async () => (await model.seen()).keys.includes(`${how}-answer`));
    await Bun.sleep(400);
    await restart(how);
    await cut;
    const told = await agents.told(id, '', { lastEventId: '0' });
    expect(outputOf(told)).toBe(words);
    // An orderly end lets an answer that is nearly there come.
    const { requests } = await model.conversation(`${how}-answer`);
    expect(requests).toBeWithin(how === 'stop' ? 1 : 2, 3);
    const ends = told.map(({ result }) => result?.finishReason).filter(Boolean);
    expect(ends).toEqual([...Array(requests - 1).fill('interrupted'), 'stop', 'stop']);
  });

  test('with turns that wait: they go on in their order', async () => {
    const id = await agents.session(acting);
    const turn = (n: number, ...lines: string[]) =>
      agents.turn(id, script(`${how}-queue${n}`, ...lines), { queue: true }).catch(() => 'cut');
    const all = [turn(1, 'wait 700', 'say one')];
    for (const n of [2, 3]) {
      await until(async () => (await turnsOf(id)).length === n - 1);
      all.push(turn(n, `say turn ${n}`));
    }
    await until(async () => (await turnsOf(id)).length === 3);
    await restart(how);
    await Promise.all(all);
    const turns = await until(async () => {
      const turns = await turnsOf(id);
      return turns.every(({ status }) => status === 'TURN_STATUS_COMPLETED') && turns;
    });
    expect(turns.map(({ assistantOutput }) => assistantOutput)).toEqual(['one', 'turn 2', 'turn 3']);
  });
});

test('an orderly end waits a moment for a tool that could not be taken up again', async () => {
  const id = await agents.session(acting);
  const cut = agents
    .told(id, script('orderly', effect('orderly', 1500), 'expect /"count":1/', 'say ok'))
    .catch(() => 'cut');
  await until(async () => (await effectsOf('orderly')) === 1);
  await restart('stop');
  await cut;
  const told = await agents.told(id, '', { lastEventId: '0' });
  expect(outputOf(told)).toBe('ok');
  expect(told.some(({ result }) => result?.type === 'approval.requested')).toBe(false);
  expect(await effectsOf('orderly')).toBe(1);
});

describe('a call of which nobody knows what became of it', () => {
  test.each([
    ['APPROVE', '"count":2', 2],
    ['DENY', 'outcome of this call is unknown', 1],
  ])('is asked about: %s', async (action, words, effects) => {
    const key = `unknown-${action}`;
    const id = await agents.session(acting);
    const cut = agents
      .told(id, script(key, effect(key, 3000), `expect /${words}/`, 'say ok'))
      .catch(() => 'cut');
    await until(async () => (await effectsOf(key)) === 1);
    await restart('kill9');
    await cut;
    await agents.untilStatus(id, 'WAITING_FOR_APPROVAL');
    const path = `/v1/agents/reviews?sessionId=${id}&status=APPROVAL_REVIEW_STATUS_PENDING`;
    const { body } = await agents.ask<{
      reviews: Array<{ id: string; note: string; defaultAction: string }>;
    }>('GET', path);
    const [review] = body.reviews;
    expect(review?.note).toContain('nobody knows');
    expect(review?.defaultAction).toBe('deny');
    await agents.ask('POST', `/v1/agents/reviews/${review?.id}/submit`, {
      action: `APPROVAL_ACTION_${action}`,
    });
    const told = await agents.told(id, '', { lastEventId: '0' });
    expect(outputOf(told)).toBe('ok');
    expect(await effectsOf(key)).toBe(effects);
  });
});

describe('many at once', () => {
  test('begin one turn of a session, and the others are refused', async () => {
    const id = await agents.session(acting);
    const answers = await Promise.all(
      Array.from({ length: 30 }, () => agents.turn(id, script('race', effect('race', 200), 'say ok'))),
    );
    const statuses = answers.map(({ status }) => status).toSorted();
    expect(statuses).toEqual([200, ...Array(29).fill(409)]);
    expect(await effectsOf('race')).toBe(1);
    expect((await agents.get(id)).turnCount).toBe(1);
  });

  test('wait in a queue that has an end', async () => {
    const id = await agents.session(acting);
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        agents.turn(id, script(`queued${i}`, 'wait 20', `say turn ${i}`), { queue: true }),
      ),
    );
    const done = answers.filter(({ status }) => status === 200);
    expect(done).toHaveLength(17);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(3);
    expect((await turnsOf(id)).map(({ turnNumber }) => turnNumber)).toEqual(done.map((_, i) => i + 1));
  });

  test('are ended with their session', async () => {
    const id = await agents.session(acting);
    const first = agents.turn(id, script('end-queue', 'wait 3000', 'say one'));
    await agents.untilStatus(id, 'RUNNING');
    const waiting = [2, 3].map((n) => agents.turn(id, script(`end-queue${n}`, 'say x'), { queue: true }));
    await until(async () => (await turnsOf(id)).length === 3);
    await agents.act(id, 'cancel');
    const all = await Promise.all([first, ...waiting]);
    expect(all.map(({ body }) => body.turn?.status)).toEqual(Array(3).fill('TURN_STATUS_FAILED'));
    expect((await model.seen()).keys).not.toContain('end-queue2');
  });
});

describe('a model', () => {
  test.each(['same', 'none'])(
    'whose calls have ids that are no ids (%s) is told of results all the same',
    async (ids) => {
      const key = `ids-${ids}`;
      const { body } = await agents.turn(
        await agents.session(acting),
        script(
          key,
          `ids ${ids}`,
          effect(`${key}1`),
          'expect /ids-\\w+1"/',
          `& ${effect(`${key}2`)}`,
          'expect /ids-\\w+2"/',
          'say ok',
        ),
      );
      expect(body.turn?.assistantOutput).toBe('ok');
      expect([await effectsOf(`${key}1`), await effectsOf(`${key}2`)]).toEqual([1, 1]);
    },
  );

  test('that falls silent in the middle is left when the turn is interrupted', async () => {
    const id = await agents.session(acting);
    const turn = agents.turn(id, script('silent', 'hang 1', 'say never'));
    await until(async () => (await model.seen()).keys.includes('silent'));
    await agents.ask('POST', `/v1/agents/sessions/${id}/interrupt`, {});
    expect((await turn).body.turn?.status).toBe('TURN_STATUS_FAILED');
    await until(async () => (await model.conversation('silent')).left === 1);
  });

  test('is offered the tools of the agent that are there, and the web where the turn wishes it', async () => {
    const id = await agents.session(await agents.agent({ tools: ['effect', 'ask_user', 'gone'] }));
    await agents.turn(id, '#!script key=tools tools=ask_user,effect\nsay ok');
    const { body } = await agents.turn(
      id,
      '#!script key=tools2 tools=ask_user,effect,web_fetch,web_search\nsay ok',
      {
        enableWebSearch: true,
      },
    );
    expect(body.turn?.assistantOutput).toBe('ok');
  });
});

describe('what changes meanwhile', () => {
  test('an agent: a session keeps what it began with', async () => {
    const agentId = await agents.agent({ tools: ['effect'], systemPrompt: 'Be brief.' });
    const id = await agents.session(agentId);
    await agents.ask('PATCH', `/v1/agents/${agentId}`, { systemPrompt: 'Be long.', clearTools: true });
    const kept = script('kept', 'system /Be brief/', effect('kept'), 'expect /count/', 'say ok');
    expect((await agents.turn(id, kept)).body.turn?.assistantOutput).toBe('ok');
    const next = await agents.session(agentId);
    const { body } = await agents.turn(next, script('next', 'system /Be long/', 'say ok'));
    expect(body.turn?.assistantOutput).toBe('ok');
    await agents.ask('DELETE', `/v1/agents/${agentId}`);
    expect((await agents.turn(id, script('kept2', 'say still here'))).body.turn?.assistantOutput).toBe(
      'still here',
    );
  });

  test('a function that is gone is no tool any more, and one that was changed is asked in its new form', async () => {
    await agents.effect(model.effectUrl, 'fleeting');
    const id = await agents.session(await agents.agent({ tools: ['fleeting'] }));
    await agents.turn(
      id,
      script('fleeting', 'call fleeting {"id":"fleeting"}', 'expect /"count":1/', 'say ok'),
    );
    await agents.ask('DELETE', '/v1/functions/fleeting');
    const { body } = await agents.turn(
      id,
      script('fleeting2', 'call fleeting {"id":"fleeting"}', 'expect /fleeting/', 'say gone'),
    );
    expect(callsOf(body.turn)).toMatchObject([{ success: false }]);
    expect(await effectsOf('fleeting')).toBe(1);
  });
});

describe('the permission mode of an agent', () => {
  test('DENY refuses what changes something, without asking', async () => {
    const id = await agents.session(
      await agents.agent({ tools: ['effect'], taskPermissionMode: 'TASK_PERMISSION_MODE_DENY' }),
    );
    const { body } = await agents.turn(
      id,
      script('deny', effect('deny'), 'expect /does not allow/', 'say ok'),
    );
    expect(body.turn?.assistantOutput).toBe('ok');
    expect(await effectsOf('deny')).toBe(0);
  });

  test('ASK asks about it', async () => {
    const id = await agents.session(
      await agents.agent({ tools: ['effect'], taskPermissionMode: 'TASK_PERMISSION_MODE_ASK' }),
    );
    const answer = await agents.turn(id, script('mode-ask', effect('mode-ask'), 'say ok'));
    expect(answer.body).toMatchObject({
      sessionStatus: 'SESSION_STATUS_WAITING_FOR_APPROVAL',
      turn: { status: 'TURN_STATUS_RUNNING' },
    });
    expect(await effectsOf('mode-ask')).toBe(0);
  });
});
