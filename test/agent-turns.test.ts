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

describe('a turn', () => {
  test('answers, and stands in its session', async () => {
    const id = await agents.session(plain, { project: 'x' });
    expect(await agents.get(id)).toMatchObject({
      agentId: plain,
      status: 'SESSION_STATUS_CREATED',
      turnCount: 0,
      totalTokens: 0,
      metadata: { project: 'x' },
      turns: [],
    });
    const input = script('first', 'say Good morning, dear world.');
    const { status, body } = await agents.turn(id, input);
    expect(status).toBe(200);
    expect(body.sessionStatus).toBe('SESSION_STATUS_RUNNING');
    expect(body.turn).toMatchObject({
      sessionId: id,
      turnNumber: 1,
      status: 'TURN_STATUS_COMPLETED',
      userInput: input,
      assistantOutput: 'Good morning, dear world.',
      toolCalls: '[]',
      latencyMs: expect.stringMatching(/^\d+$/),
      createdAt: expect.any(String),
      completedAt: expect.any(String),
    });
    const { promptTokens = 0, completionTokens = 0, totalTokens } = body.turn ?? {};
    expect(promptTokens).toBeGreaterThan(10);
    expect(totalTokens).toBe(promptTokens + completionTokens);
    const session = await agents.get(id);
    expect(session).toMatchObject({ turnCount: 1, totalTokens, status: 'SESSION_STATUS_RUNNING' });
    expect(session.turns).toEqual([body.turn] as typeof session.turns);
  });

  test('is told of all that was said before it', async () => {
    const id = await agents.session(plain);
    await agents.turn(id, script('past', 'say one'));
    await agents.turn(id, script('past2', 'say two'));
    expect((await agents.turn(id, script('past3', 'say three'))).body.turn?.turnNumber).toBe(3);
    const { last } = await model.conversation('past');
    expect(last.messages.map(({ role }) => role)).toEqual([
      'system',
      'user',
      'assistant',
      'user',
      'assistant',
      'user',
    ]);
    expect(last.messages[0]?.content).toStartWith('You do what scripts say.');
  });

  test('tells each thing that happens, in order, with its number', async () => {
    const id = await agents.session(acting);
    const text = 'All of it is done now, word for word.';
    const told = await agents.told(
      id,
      script('events tools=effect', 'think Looking.', effect('events'), 'expect /"count":1/', `say ${text}`),
    );
    expect(typesOf(told)).toEqual([
      'session.start',
      'turn.start',
      'llm.start',
      'llm.chunk',
      'llm.end',
      'tool_call.start',
      'tool_call.end',
      'llm.start',
      'llm.chunk',
      'llm.end',
      'turn.end',
    ]);
    expect(told.map((one) => Number(one.id))).toEqual(told.map((_, i) => i + 1));
    expect(told.every(({ result }) => result?.sessionId === id && result.turnNumber === 1)).toBe(true);
    expect(textOf(told)).toBe(`Looking.${text}`);
    const begun = find(told, 'tool_call.start');
    expect(begun).toMatchObject({ toolName: 'effect', toolArgs: '{"id":"events","ms":0}' });
    expect(find(told, 'tool_call.end')).toMatchObject({
      toolCallId: begun?.toolCallId,
      toolName: 'effect',
      toolSuccess: true,
      toolDurationMs: expect.stringMatching(/^\d+$/),
      toolResult: expect.stringContaining('"count":1'),
    });
    expect(find(told, 'llm.end')).toMatchObject({
      finishReason: 'tool_calls',
      promptTokens: expect.any(Number),
      completionTokens: expect.any(Number),
      totalTokens: expect.any(Number),
    });
    const turn = find(told, 'turn.end')?.turn;
    expect(turn).toEqual((await agents.get(id)).turns?.[0]);
    expect(callsOf(turn)).toMatchObject([{ name: 'effect', success: true }]);
  });

  test('begins a session once', async () => {
    const id = await agents.session(plain);
    await agents.turn(id, script('again', 'say one'));
    const told = await agents.told(id, script('again2', 'say two'));
    expect(typesOf(told)).toEqual(['turn.start', 'llm.start', 'llm.chunk', 'llm.end', 'turn.end']);
    expect(told.every(({ result }) => result?.turnNumber === 2)).toBe(true);
  });

  test('tells text in one piece where pieces are not wanted', async () => {
    const id = await agents.session(plain);
    const text = 'one two three four five six';
    const told = await agents.told(id, script('whole', 'pace 20', `say ${text}`), {
      body: { enableStreaming: false },
    });
    expect(told.map(({ result }) => result?.textDelta).filter(Boolean)).toEqual([text]);
  });

  test('carries calls out, as many as there are in an answer, in its order', async () => {
    const id = await agents.session(acting);
    const { body } = await agents.turn(
      id,
      script(
        'many',
        effect('many-1', 30),
        'expect /many-1/',
        `& ${effect('many-2')}`,
        'expect /many-2/',
        `& ${effect('many-3', 10)}`,
        'expect /many-3/',
        'repeat 3 call effect {"id":"many-r{{i}}"}',
        'say done',
      ),
    );
    expect(body.turn?.assistantOutput).toBe('done');
    expect(callsOf(body.turn).map(({ args }) => JSON.parse(args).id)).toEqual([
      'many-1',
      'many-2',
      'many-3',
      'many-r1',
      'many-r2',
      'many-r3',
    ]);
    for (const one of callsOf(body.turn)) expect(await effectsOf(JSON.parse(one.args).id)).toBe(1);
  });

  test.each([
    ['a tool that the agent does not have', 'call sandbox_shell {"command":"id"}', '/sandbox_shell/'],
    ['a tool that nobody has', 'call teleport {}', '/teleport/'],
    ['arguments that are no JSON', 'raw effect {"id":', '/JSON/'],
    ['arguments that are no object', 'raw effect [1]', '/JSON object/'],
    ['an argument of another type', 'call effect {"id":7}', '/id/'],
    ['an argument that is missing', 'call effect {"ms":1}', '/id/'],
  ])('goes on after %s, which is told', async (what, call, words) => {
    const before = (await model.effects()).length;
    const id = await agents.session(acting);
    const key = `bad-${Bun.hash(what).toString(36)}`;
    const told = await agents.told(id, script(key, call, `expect ${words}`, 'say I see'));
    expect(typesOf(told)).toContain('tool_call.error');
    expect(find(told, 'tool_call.error')).toMatchObject({ toolSuccess: false, error: expect.any(String) });
    expect(textOf(told)).toBe('I see');
    expect((await model.effects()).length).toBe(before);
  });

  test('goes on after a tool that fails', async () => {
    const body = { name: 'failing', webhook: { url: `${model.url}/nowhere` } };
    await agents.ask('POST', '/v1/functions', body);
    const id = await agents.session(await agents.agent({ tools: ['failing'] }));
    const told = await agents.told(id, script('failing', 'call failing {}', 'expect /401/', 'say I see'));
    expect(find(told, 'tool_call.error')).toMatchObject({ toolName: 'failing', toolSuccess: false });
    expect(textOf(told)).toBe('I see');
  });
});

describe('those who watch', () => {
  test('go on anywhere, with exactly what is missing', async () => {
    const id = await agents.session(acting);
    const whole = await agents.told(id, script('resume', effect('resume'), 'say one two three'));
    for (const at of [0, 1, 2, 5, whole.length - 1, whole.length]) {
      const rest = await agents.told(id, '', { lastEventId: String(at) });
      expect(rest).toEqual(whole.slice(at));
    }
    expect((await agents.get(id)).turnCount).toBe(1);
  });

  test('go on while it happens, and two see the same', async () => {
    const id = await agents.session(plain);
    const first = agents.told(id, script('both', 'pace 15', `say ${'word '.repeat(40).trim()}`));
    await agents.untilStatus(id, 'RUNNING');
    const second = agents.told(id, '', { lastEventId: '0' });
    const [one, two] = await Promise.all([first, second]);
    expect(two).toEqual(one);
    expect(textOf(one)).toBe('word '.repeat(40).trim());
  });

  test('read what has happened page by page, or follow it to the end of the session', async () => {
    const id = await agents.session(plain);
    const first = await agents.told(id, script('log', 'say one'));
    const path = `/v1/agents/sessions/${id}/events`;
    const following = daemon.fetch(`${path}?follow=true`);
    const second = await agents.told(id, script('log2', 'say two'));
    await agents.act(id, 'complete');
    const pages: unknown[] = [];
    for (let after = 0; ; ) {
      const { body } = await agents.ask<{ events: { id: number; event: object }[]; latest: number }>(
        'GET',
        `${path}?after=${after}&limit=3`,
      );
      expect(body.latest).toBe(first.length + second.length + 1);
      if (body.events.length === 0) break;
      pages.push(...body.events.map(({ id, event }) => ({ id: String(id), result: event })));
      after += body.events.length;
    }
    expect(pages.slice(0, -1)).toEqual([...first, ...second]);
    expect(pages.at(-1)).toMatchObject({ result: { type: 'session.end' } });
    const followed = (await (await following).text()).split('\n').filter((line) => line.startsWith('data:'));
    expect(followed.map((line) => ({ result: JSON.parse(line.slice(5)).result }))).toEqual(
      pages.map((one) => ({ result: (one as Told).result })),
    );
  });

  test('may leave: nothing is cancelled', async () => {
    const id = await agents.session(acting);
    const input = script('left', 'pace 10', 'think one two three four five', effect('left', 100), 'say done');
    for await (const { result } of agents.stream(id, input)) if (result?.type === 'llm.chunk') break;
    const turn = await until(async () => {
      const [turn] = (await agents.get(id)).turns ?? [];
      return turn?.status === 'TURN_STATUS_COMPLETED' && turn;
    });
    expect(turn.assistantOutput).toBe('done');
    expect(await effectsOf('left')).toBe(1);
  });

  test('see text while the model speaks', async () => {
    const id = await agents.session(plain);
    let atMs = 0;
    let endMs = 0;
    for await (const { result } of agents.stream(
      id,
      script('live', 'pace 40', `say ${'a '.repeat(20).trim()}`),
    )) {
      if (result?.type === 'llm.chunk' && atMs === 0) atMs = performance.now();
      if (result?.type === 'turn.end') endMs = performance.now();
    }
    expect(endMs - atMs).toBeGreaterThan(300);
  });
});

describe('a model that fails', () => {
  const falling = (first: string, ...models: string[]) =>
    agents.agent({ model: `scripted/${first}`, config: { fallback: { models } } });

  test.each(['broken', 'limited', 'breaking'])('by being %s is followed by the next', async (name) => {
    const id = await agents.session(await falling(name, 'scripted/limited', 'scripted/other'));
    const told = await agents.told(id, script(`fallback-${name}`, 'say Here I am.'));
    const triggered = told.filter(({ result }) => result?.type === 'fallback.triggered');
    expect(triggered.map(({ result }) => result)).toMatchObject([
      {
        fallbackFromModel: `scripted/${name}`,
        fallbackToModel: 'scripted/limited',
        fallbackAttempt: 1,
        error: expect.any(String),
      },
      { fallbackFromModel: 'scripted/limited', fallbackToModel: 'scripted/other', fallbackAttempt: 2 },
    ]);
    expect(find(told, 'fallback.succeeded')).toMatchObject({
      fallbackToModel: 'scripted/other',
      fallbackAttempt: 2,
    });
    expect(find(told, 'turn.end')?.turn?.assistantOutput).toBe('Here I am.');
  });

  test('with every other one ends the turn, and the next may do better', async () => {
    const id = await agents.session(await falling('main', 'scripted/broken'));
    const told = await agents.told(id, script('hopeless', 'fail 500 1', 'say late'));
    expect(typesOf(told).slice(-3)).toEqual(['fallback.failed', 'session.error', 'turn.end']);
    const session = await agents.get(id);
    expect(session.status).toBe('SESSION_STATUS_FAILED');
    expect(session.turns?.[0]).toMatchObject({ status: 'TURN_STATUS_FAILED', error: expect.any(String) });
    const { body } = await agents.turn(id, script('hopeful', 'say better'));
    expect(body.turn).toMatchObject({ turnNumber: 2, assistantOutput: 'better' });
  });
});
