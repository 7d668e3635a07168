import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { AgentClient, script, type Told } from './support/agent-client.ts';
import { startDaemon, type TestDaemon } from './support/daemon.ts';
import { until } from './support/scene.ts';
import { type ScriptedModel, startScriptedModel } from './support/scripted-model/index.ts';
import { NO_SANDBOXES } from './support/tenants/two-tenants.ts';

setDefaultTimeout(60_000);

let model: ScriptedModel;
let daemon: TestDaemon;
let agents: AgentClient;

beforeAll(async () => {
  model = await startScriptedModel();
  daemon = await startDaemon({ env: { ...NO_SANDBOXES, ...model.env } });
  agents = new AgentClient(() => daemon.url, daemon.apiKey);
  await agents.effect(model.effectUrl);
});

afterAll(async () => {
  await daemon?.stop();
  const seen = await model?.seen();
  await model?.stop();
  expect(seen?.violations.map(({ reason }) => reason)).toEqual([]);
});

const find = (told: readonly Told[], type: string) =>
  told.find(({ result }) => result?.type === type)?.result;
const typesOf = (told: readonly Told[]) => told.map(({ result }) => result?.type);

describe('a conversation that grows beyond the context of its model', () => {
  /** An agent whose script stands where it is never left out. */
  const agent = (key: string, monitor: object, ...lines: string[]) =>
    agents.agent({
      model: 'scripted/small-3000',
      systemPrompt: [`#!script compacts key=${key}`, ...lines].join('\n'),
      tools: ['effect'],
      config: { monitor: { contextTokens: 3000, ...monitor } },
    });
  const long = (id: string) => `call effect {"id":"${id}-{{i}} ${'long '.repeat(60)}"}`;

  test('is put in few words, in the middle of a turn, and the agent goes on', async () => {
    const summaries = { enabled: true, model: 'scripted/summary' };
    const id = await agents.session(
      await agent('sum', summaries, `repeat 30 ${long('sum')}`, 'context /keep-blue/', 'say done'),
    );
    const told = await agents.told(id, 'Begin. keep-blue is what counts.');
    expect(find(told, 'turn.end')?.turn?.assistantOutput).toBe('done');
    expect(typesOf(told).filter((type) => type === 'compaction.applied').length).toBeGreaterThan(1);
    expect(typesOf(told)).not.toContain('compaction.failed');
    expect((await model.seen()).refused).toBe(0);
    const ids = (await model.effects()).map(({ id }) => id).filter((id) => id.startsWith('sum-'));
    expect(ids.map((id) => id.split(' ')[0])).toEqual(Array.from({ length: 30 }, (_, i) => `sum-${i + 1}`));
  });

  test('loses its beginning when no summary can be made', async () => {
    const broken = { enabled: true, model: 'scripted/broken' };
    const id = await agents.session(await agent('cut', broken, 'repeat 60 say fine.', 'say end'));
    const types: unknown[] = [];
    for (let i = 0; i < 40; i++)
      types.push(...typesOf(await agents.told(id, `message ${i} ${'long '.repeat(60)}`)));
    expect(types).toContain('compaction.failed');
    expect(types).toContain('compaction.applied');
    expect(types.filter((type) => type === 'turn.end')).toHaveLength(40);
    expect((await model.seen()).refused).toBe(0);
    const { last } = await model.conversation('cut');
    expect(last.messages.length).toBeLessThan(60);
    expect(last.messages[0]?.role).toBe('system');
  });
});

describe('memory', () => {
  const remembering = () =>
    agents.agent({
      tools: ['memory_store', 'memory_query'],
      memoryConfig: {
        enabled: true,
        scope: 'agent',
        autoRetrieve: true,
        autoRetrieveTopK: 5,
        autoExtract: true,
      },
    });

  test('that an agent has stored is in the system prompt of its next session', async () => {
    const agentId = await remembering();
    const first = await agents.session(agentId);
    const store = JSON.stringify({ content: 'The staging port is 4711.', factKey: 'staging.port' });
    await agents.turn(first, script('store', `call memory_store ${store}`, 'expect /4711/', 'say kept'));
    const second = await agents.session(agentId);
    const { body } = await agents.turn(
      second,
      script(
        'recall',
        '# Which is the staging port?',
        'system /4711/',
        'call memory_query {"query":"staging port"}',
        'expect /4711/',
        'say 4711',
      ),
    );
    expect(body.turn?.assistantOutput).toBe('4711');
  });

  test('of what a user has said comes by itself, and a new fact takes the place of the old one', async () => {
    const agentId = await remembering();
    const learn = async (key: string, city: string) => {
      const input = script(key, `# fact user.home_city = The user lives in ${city}.`, 'say hello');
      await agents.turn(await agents.session(agentId), input);
      await until(async () => {
        const { body } = await agents.ask<{ memories?: Array<{ content: string; isActive: boolean }> }>(
          'GET',
          `/v1/agents/${agentId}/memories?activeOnly=true`,
        );
        return body.memories?.some(({ content }) => content.includes(city));
      }, 30_000);
    };
    await learn('learn1', 'Lisbon');
    await learn('learn2', 'Porto');
    const { body } = await agents.turn(
      await agents.session(agentId),
      script(
        'where',
        '# Where does the user live, in which city?',
        'if system /Lisbon/ say Lisbon',
        'system /Porto/',
        'say Porto',
      ),
    );
    expect(body.turn?.assistantOutput).toBe('Porto');
  });
});
