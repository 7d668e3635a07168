import { expect, setDefaultTimeout, test } from 'bun:test';
import { AgentClient, script } from './support/agent-client.ts';
import { until } from './support/scene.ts';
import { startScriptedModel } from './support/scripted-model/index.ts';
import { TwoTenants } from './support/tenants/two-tenants.ts';

setDefaultTimeout(60_000);

test('two tenants never see, run, steer, decide or end each other’s sessions', async () => {
  const model = await startScriptedModel();
  const tenants = await TwoTenants.start({ env: model.env });
  try {
    const of = async ({ session }: { session: string }) => {
      const { key } = await tenants.key(tenants.fromPage(session));
      return new AgentClient(() => tenants.daemon.url, key);
    };
    const ada = await of(await tenants.member('ada', 'owner'));
    const sam = await of(await tenants.stranger('sam'));
    await ada.effect(model.effectUrl);
    const agentId = await ada.agent({ tools: ['effect'], config: { approval: { tools: ['effect'] } } });
    const sessionId = await ada.session(agentId);
    const told = ada.told(sessionId, script('secret', 'call effect {"id":"secret"}', 'say secret words'));
    const review = await until(async () => {
      const { body } = await ada.ask<{ reviews?: Array<{ id: string }> }>('GET', '/v1/agents/reviews');
      return body.reviews?.[0];
    });
    const before = await ada.get(sessionId);
    for (const [method, path, body] of [
      ['GET', `/v1/agents/sessions/${sessionId}`],
      ['POST', '/v1/agents/sessions', { agentId }],
      ['POST', `/v1/agents/sessions/${sessionId}/turns`, { userInput: 'x' }],
      ['POST', `/v1/agents/sessions/${sessionId}/turns/stream`, { userInput: 'x' }],
      ['POST', `/v1/agents/sessions/${sessionId}/steer`, { role: 'user', content: 'x' }],
      ['POST', `/v1/agents/sessions/${sessionId}/cancel`, {}],
      ['POST', `/v1/agents/sessions/${sessionId}/complete`, {}],
      ['GET', `/v1/agents/sessions/${sessionId}/spawn-nodes`],
      ['GET', `/v1/agents/reviews/${review.id}`],
      ['POST', `/v1/agents/reviews/${review.id}/submit`, { action: 'APPROVAL_ACTION_APPROVE' }],
    ] as const)
      expect([method, path, (await sam.ask(method, path, body)).status]).toEqual([method, path, 404]);
    for (const path of ['/v1/agents/sessions', '/v1/agents/reviews', '/v1/agents'])
      expect((await sam.ask('GET', path)).body).toMatchObject({ total: 0 });
    expect(await ada.get(sessionId)).toEqual(before);
    expect(await model.effects()).toEqual([]);
    await ada.ask('POST', `/v1/agents/reviews/${review.id}/submit`, { action: 'APPROVAL_ACTION_APPROVE' });
    expect((await told).at(-1)?.result?.turn?.assistantOutput).toBe('secret words');
    const mine = await sam.session(await sam.agent({}));
    expect((await sam.turn(mine, script('mine', 'say mine'))).body.turn?.assistantOutput).toBe('mine');
    expect((await model.seen()).violations).toEqual([]);
  } finally {
    await tenants.stop();
    await model.stop();
  }
});
