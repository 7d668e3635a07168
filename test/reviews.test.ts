import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import type { ApprovalReview } from '../src/api/agents/reviews.ts';
import type { Value } from '../src/api/schema.ts';
import { AgentClient, callsOf, fieldOf, script } from './support/agent-client.ts';
import { startDaemon, svcCommand, type TestDaemon } from './support/daemon.ts';
import { until } from './support/scene.ts';
import { type ScriptedModel, startScriptedModel } from './support/scripted-model/index.ts';
import { NO_SANDBOXES, TwoTenants } from './support/tenants/two-tenants.ts';

setDefaultTimeout(60_000);

type Review = Value<typeof ApprovalReview>;

const effect = (id: string) => `call effect {"id":"${id}"}`;
const held = (agents: AgentClient, query: string, count = 1) =>
  until(async () => {
    const path = `/v1/agents/reviews?status=APPROVAL_REVIEW_STATUS_PENDING&${query}`;
    const { reviews = [] } = (await agents.ask<{ reviews?: Review[] }>('GET', path)).body;
    return reviews.length >= count && reviews;
  });

describe('reviews of a daemon', () => {
  let model: ScriptedModel;
  let daemon: TestDaemon;
  let agents: AgentClient;

  const env = () => ({ ...NO_SANDBOXES, ...model.env });
  const agent = (timeoutSeconds: number) =>
    agents.agent({ tools: ['effect'], config: { approval: { tools: ['effect'], timeoutSeconds } } });
  const get = async (id: string | undefined) =>
    (await agents.ask<{ review: Review }>('GET', `/v1/agents/reviews/${id}`)).body.review;
  const effectsOf = async (id: string) => (await model.effects()).filter((one) => one.id === id).length;

  async function svc(...argv: string[]) {
    const settings = { SVC_API_URL: daemon.url, SVC_API_KEY: daemon.apiKey, HOME: '/nonexistent' };
    const child = Bun.spawn([...svcCommand(), ...argv], {
      env: { PATH: process.env.PATH, ...settings },
      stdout: 'pipe',
      stderr: 'pipe',
    });
    const read = (stream: ReadableStream) => new Response(stream).text();
    const [out, err] = await Promise.all([read(child.stdout), read(child.stderr)]);
    return { out, err, code: await child.exited };
  }

  beforeAll(async () => {
    model = await startScriptedModel();
    daemon = await startDaemon({ env: env() });
    agents = new AgentClient(() => daemon.url, daemon.apiKey);
    await agents.effect(model.effectUrl);
  });

  afterAll(async () => {
    await daemon?.stop();
    await model?.stop();
  });

  test('the program shows what waits and decides it, call by call', async () => {
    const sessionId = await agents.session(await agent(600));
    const lines = [
      effect('cli-1'),
      'expect /"count":1/',
      `& ${effect('cli-2')}`,
      'expect /only one/',
      'say ok',
    ];
    const told = agents.told(sessionId, script('cli', ...lines));
    const [review] = await held(agents, `sessionId=${sessionId}`);
    const [first, second] = review?.toolCalls ?? [];
    const listed = await svc('review', 'list', '--session', sessionId);
    expect(listed.out.split('\t').slice(0, 3)).toEqual([review?.id ?? '', 'pending', sessionId]);
    const shown = await svc('review', 'show', review?.id ?? '');
    expect(shown.out).toContain(`call\t${second?.toolCallId}`);
    expect(shown.out).toContain('"id": "cli-2"');
    const wrong = await svc('review', 'approve', review?.id ?? '', '--deny', 'call_other');
    expect(wrong.code).toBe(2);
    expect(wrong.err).toContain('decisions.0.toolCallId');
    const words = ['--deny', second?.toolCallId ?? '', '--note', 'only one'];
    const decided = await svc('review', 'approve', review?.id ?? '', ...words);
    expect(decided).toMatchObject({ code: 0, out: '' });
    expect(decided.err).toContain('1 of 2 calls approved.');
    expect(callsOf((await told).at(-1)?.result?.turn)).toMatchObject([{ success: true }, { success: false }]);
    expect([await effectsOf('cli-1'), await effectsOf('cli-2')]).toEqual([1, 0]);
    expect((await svc('review', 'deny', review?.id ?? '')).code).toBe(6);
    const over = await svc('review', 'show', review?.id ?? '', '--json');
    expect(JSON.parse(over.out)).toMatchObject({
      status: 'APPROVAL_REVIEW_STATUS_APPROVED',
      resolutionReason: 'only one',
      toolCalls: [{ toolCallId: first?.toolCallId }, {}],
    });
  });

  test('what expires while the daemon is down is settled by its start, and the turn goes on', async () => {
    const sessionId = await agents.session(await agent(3));
    const cut = agents
      .told(sessionId, script('down', effect('down'), 'expect /./', 'say on'))
      .catch(() => 'cut');
    const [review] = await held(agents, `sessionId=${sessionId}`);
    const { dataDir, apiKey } = daemon;
    await daemon.kill9();
    await cut;
    await Bun.sleep(Math.max(0, Date.parse(review?.expiresAt ?? '') - Date.now()));
    daemon = await startDaemon({ dataDir, apiKey, env: env() });
    const after = await get(review?.id);
    expect(after).toMatchObject({ status: 'APPROVAL_REVIEW_STATUS_EXPIRED', resolvedBy: 'system' });
    expect(after.decisions).toMatchObject([{ action: 'APPROVAL_ACTION_DENY' }]);
    const turn = await until(async () => {
      const [turn] = (await agents.get(sessionId)).turns ?? [];
      return turn?.status === 'TURN_STATUS_COMPLETED' && turn;
    });
    expect(turn.assistantOutput).toBe('on');
    expect(await effectsOf('down')).toBe(0);
  });

  test('the queue has at its head what expires soonest', async () => {
    const sessions = [];
    for (const seconds of [900, 300, 600]) {
      const sessionId = await agents.session(await agent(seconds));
      void agents
        .told(sessionId, script(`queue-${seconds}`, effect('queue'), 'say ok'))
        .catch(() => 'cancelled');
      sessions.push(sessionId);
      await held(agents, `sessionId=${sessionId}`);
    }
    const [late, soon, middle] = sessions;
    const queue = await held(agents, '', 3);
    expect(queue.map(({ sessionId }) => sessionId)).toEqual([soon, middle, late] as string[]);
    for (const sessionId of sessions) await agents.act(sessionId, 'cancel');
  });

  test.each<[string, object, string]>([
    ['nothing', {}, 'action'],
    ['a word that is no action', { action: 'YES' }, 'action'],
    [
      'a call of another review',
      { decisions: [{ toolCallId: 'call_x', action: 'APPROVAL_ACTION_DENY' }] },
      'decisions.0.toolCallId',
    ],
  ])('a submission with %s is 400 and decides nothing', async (what, body, field) => {
    const sessionId = await agents.session(await agent(600));
    void agents
      .told(sessionId, script(`bad-${what.replaceAll(' ', '-')}`, effect('bad'), 'say ok'))
      .catch(() => 'cancelled');
    const [review] = await held(agents, `sessionId=${sessionId}`);
    const answer = await agents.ask('POST', `/v1/agents/reviews/${review?.id}/submit`, body);
    expect([answer.status, fieldOf(answer)]).toEqual([400, field]);
    expect(await get(review?.id)).toEqual(review ?? {});
    await agents.act(sessionId, 'cancel');
  });

  test('one that is not there is 404 by its name', async () => {
    const { status, body } = await agents.ask('GET', '/v1/agents/reviews/rev_none');
    expect(status).toBe(404);
    expect(body.message).toContain('"rev_none"');
  });
});

test('a viewer looks and cannot decide; whoever decides cannot pass for somebody else', async () => {
  const model = await startScriptedModel();
  const tenants = await TwoTenants.start({ env: model.env });
  try {
    const of = async (person: { session: string; userId: string }) => {
      const { key, id } = await tenants.key(tenants.fromPage(person.session));
      return { ...person, id, client: new AgentClient(() => tenants.daemon.url, key) };
    };
    const ada = await of(await tenants.member('ada', 'owner'));
    const member = await of(await tenants.member('max', 'member'));
    await ada.client.effect(model.effectUrl);
    const approval = { tools: ['effect'] };
    const sessionId = await ada.client.session(
      await ada.client.agent({ tools: ['effect'], config: { approval } }),
    );
    const told = ada.client.told(sessionId, script('roles', effect('roles'), 'say ok')).catch(() => 'cut');
    const [review] = await held(ada.client, '');
    const path = `/v1/agents/reviews/${review?.id}`;
    const viewer = tenants.fromPage((await tenants.member('vic', 'viewer')).session);
    const url = tenants.daemon.url + path;
    expect((await fetch(url, { headers: viewer })).status).toBe(200);
    const answer = { action: 'APPROVAL_ACTION_APPROVE', resolvedBy: ada.userId };
    const headers = { ...viewer, 'content-type': 'application/json' };
    const refused = await fetch(`${url}/submit`, { method: 'POST', headers, body: JSON.stringify(answer) });
    expect(refused.status).toBe(403);
    const { body } = await member.client.ask<{ review?: Review }>('POST', `${path}/submit`, answer);
    expect(body.review).toMatchObject({ status: 'APPROVAL_REVIEW_STATUS_APPROVED', reviewer: ada.userId });
    expect([member.id, member.userId]).toContain(body.review?.resolvedBy ?? '');
    expect(await told).not.toBe('cut');
  } finally {
    await tenants.stop();
    await model.stop();
  }
});
