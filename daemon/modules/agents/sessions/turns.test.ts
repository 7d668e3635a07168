import { describe, expect, test } from 'bun:test';
import { fail } from '../../../../src/errors/app-error.ts';
import type { Converse } from '../../gateway/index.ts';
import type { Agent } from '../definitions/agent.ts';
import type { AgentEvent } from '../events/event.ts';
import { eventWire } from '../events/event.ts';
import { CALLER, openRooms, type TestRooms, testAgent } from '../testing/rooms.ts';
import { type ScriptedStep, scriptedModel } from '../testing/scripted-model.ts';
import { askUserTools } from '../tools/others/ask-user.ts';
import { done, failed, type Tool, type ToolSource } from '../tools/tool.ts';
import { SessionStore } from './store.ts';
import type { SessionRow, TurnRow } from './tables.ts';

const base = (name: string, parameters: Tool['parameters'] = { type: 'object' }) => ({
  name,
  description: name,
  parameters,
});

const add: Tool = {
  ...base('add', {
    type: 'object',
    properties: { a: { type: 'number' }, b: { type: 'number' } },
    required: ['a', 'b'],
  }),
  run: async ({ a, b }) => done(String(Number(a) + Number(b))),
};
const breaks: Tool = { ...base('breaks'), run: () => Promise.reject(new Error('secret inner words')) };
const refuses: Tool = { ...base('refuses'), run: async () => failed('no such thing') };
const hangs: Tool = {
  ...base('hangs'),
  run: (_args, { signal }) =>
    new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
};
const endOfOthers = Promise.withResolvers<void>();
const dies: Tool = {
  ...base('dies'),
  run: () => endOfOthers.promise.then(() => failed('its sandbox is gone')),
};
const TOOLS = [add, breaks, refuses, hangs, dies];
const sourceOf = (tools: readonly Tool[]): ToolSource => ({
  find: (_agent, name) => tools.find((tool) => tool.name === name),
});

/** A session of an agent over a scripted model. */
function scene(
  script: readonly ScriptedStep[] | Converse,
  change: Partial<Agent> = {},
  others: readonly Agent[] = [],
) {
  const names = [...TOOLS.map(({ name }) => name), 'ask_user', 'spawn_agent', 'delegate_job', 'check_job'];
  const agent = testAgent({ tools: names, ...change });
  const converse = typeof script === 'function' ? script : scriptedModel(script);
  const rooms = openRooms([agent, ...others], converse, [askUserTools, sourceOf(TOOLS)]);
  const store = new SessionStore(rooms.app.db);
  const { id } = rooms.room.sessions.create(CALLER, { agentId: agent.id, metadata: {} });
  return new Scene(rooms, store, id);
}

class Scene {
  constructor(
    readonly rooms: TestRooms,
    readonly store: SessionStore,
    readonly id: string,
  ) {}

  get session(): SessionRow {
    return this.rooms.room.sessions.get(CALLER.tenant, this.id);
  }

  begin(userInput = 'Begin.', queue = false): TurnRow {
    const options = { streams: true, searches: false };
    return this.rooms.room.turns.begin(CALLER, this.session, { userInput, options, queue }).turn;
  }

  turn(number = 1): TurnRow {
    const turn = this.store.turn(CALLER.tenant, this.id, number);
    if (!turn) throw new Error(`no turn ${number}`);
    return turn;
  }

  /** Waits until a turn stands so. */
  async until(status: TurnRow['status'], number = 1): Promise<TurnRow> {
    for (let i = 0; i < 500 && this.turn(number).status !== status; i++) await Bun.sleep(1);
    expect(this.turn(number).status).toBe(status);
    return this.turn(number);
  }

  async run(userInput?: string): Promise<TurnRow> {
    const { number } = this.begin(userInput);
    return this.until('completed', number);
  }

  get events(): AgentEvent[] {
    return this.rooms.events.after(this.id, 0, 10_000).map(eventWire);
  }

  get types(): Array<AgentEvent['type']> {
    return this.events.map(({ type }) => type);
  }

  result(tool: string): string | undefined {
    return this.events.findLast(({ type, toolName }) => type?.startsWith('tool_call.e') && toolName === tool)
      ?.toolResult;
  }
}

describe('a turn', () => {
  test('tells what happens in its order', async () => {
    const it = scene([
      { text: 'Adding. ', calls: [{ name: 'add', args: { a: 1, b: 2 } }] },
      { text: 'It is 3.' },
    ]);
    expect((await it.run()).output).toBe('It is 3.');
    expect(it.types).toEqual([
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
    expect(it.result('add')).toBe('3');
    expect(it.turn()).toMatchObject({ promptTokens: 20, completionTokens: 10, iteration: 2, toolCalls: 1 });
    expect(it.session).toMatchObject({ status: 'running', steps: 2, promptTokens: 20, completionTokens: 10 });
  });

  test.each([
    ['a tool that the agent does not have', { name: 'rm' }, /is no tool of this agent. It has add/],
    ['arguments against the schema', { name: 'add', args: { a: 'x', b: 2 } }, /arguments\.a/],
    ['arguments that lack a field', { name: 'add', args: { a: 1 } }, /arguments\.b/],
    ['a tool that fails by itself', { name: 'refuses' }, /^no such thing$/],
  ] as const)('goes on after %s', async (_, call, words) => {
    const it = scene([{ calls: [call] }, { text: 'Well.' }]);
    expect((await it.run()).output).toBe('Well.');
    expect(it.result(call.name)).toMatch(words);
    expect(it.types).toContain('tool_call.error');
  });

  test('says nothing of the inner words of a tool that broke', async () => {
    const it = scene([{ calls: [{ name: 'breaks' }] }, { text: 'Well.' }]);
    await it.run();
    expect(it.result('breaks')).not.toContain('secret');
  });

  test('of a session that is busy is refused, or waits in line', async () => {
    const it = scene([{ calls: [{ name: 'ask_user', args: { question: '?' } }] }, { text: 'Thanks.' }]);
    it.begin();
    await it.until('waiting');
    it.store.change(CALLER.tenant, it.id, { status: 'running' });
    expect(() => it.begin('Another.')).toThrow('is under way');
    expect(it.begin('Another.', true).status).toBe('queued');
    it.store.change(CALLER.tenant, it.id, { status: 'waiting_for_input' });
    it.rooms.room.turns.answer(it.session, 'yes');
    await it.until('completed', 1);
    await it.until('waiting', 2);
    expect(it.types.filter((type) => type === 'session.start')).toHaveLength(1);
  });

  test('that asks goes on with the answer of a steer or of the next input', async () => {
    const script = [{ calls: [{ name: 'ask_user', args: { question: 'Which?' } }] }, { text: 'Thanks.' }];
    for (const answer of ['steer', 'input']) {
      const it = scene(script);
      it.begin();
      await it.until('waiting');
      expect(it.session.status).toBe('waiting_for_input');
      if (answer === 'steer')
        it.rooms.room.sessions.steer(CALLER, it.id, { role: 'user', content: 'the red one' });
      else expect(it.begin('the red one').number).toBe(1);
      await it.until('completed');
      expect(it.result('ask_user')).toBe('the red one');
      expect(it.types).toContain('user_input.received');
    }
  });

  test('is begun once by a request that is sent again, and not by another one under its key', async () => {
    const it = scene([{ text: 'Once.' }]);
    const { turns } = it.rooms.room;
    const options = { streams: true, searches: false };
    const wish = { userInput: 'Begin.', options, queue: false, requestKey: 'k1' };
    const first = turns.begin(CALLER, it.session, wish);
    await it.until('completed');
    const again = turns.begin(CALLER, it.session, wish);
    expect([again.turn.id, again.after]).toEqual([first.turn.id, 0]);
    expect(() => turns.begin(CALLER, it.session, { ...wish, userInput: 'Other.' })).toThrow(
      'another request',
    );
    const other = turns.begin({ ...CALLER, actor: 'usr_b' }, it.session, wish);
    expect(other.turn.number).toBe(2);
  });

  test('takes no answer to another question than the one that waits', async () => {
    const it = scene([{ calls: [{ name: 'ask_user', args: { question: '?' } }] }, { text: 'Thanks.' }]);
    it.begin();
    await it.until('waiting');
    const { sessions } = it.rooms.room;
    const answer = (userInputId: string) =>
      sessions.steer(CALLER, it.id, { role: 'user', content: 'yes', userInputId });
    expect(() => answer('call_other')).toThrow('does not wait for an answer');
    const asked = it.events.find(({ type }) => type === 'user_input.requested');
    answer(asked?.userInputId ?? '');
    await it.until('completed');
    expect(it.result('ask_user')).toBe('yes');
  });

  test('takes words that come meanwhile at its next step, and does not end before', async () => {
    let steer: (() => void) | undefined;
    const seen: string[] = [];
    const it = scene(async (_caller, { request }) => {
      steer?.();
      steer = undefined;
      seen.push(String(request.messages.at(-1)?.content));
      const message = { role: 'assistant' as const, content: `answer ${seen.length}` };
      return { message, finishReason: 'stop', model: 'm', usage: { input: 1, output: 1 }, requestId: 'r' };
    });
    steer = () => void it.rooms.room.sessions.steer(CALLER, it.id, { role: 'user', content: 'also this' });
    expect((await it.run()).output).toBe('answer 2');
    expect(seen).toEqual(['Begin.', 'also this']);
    expect(it.types).toContain('steer.received');
  });

  test('asks the fallback models in turn, and says so', async () => {
    const asked: string[] = [];
    const converse: Converse = async (_caller, { request: { model } }) => {
      asked.push(model);
      if (model !== 'c') throw fail('upstream_down', { message: `${model} is down` });
      const message = { role: 'assistant' as const, content: 'here' };
      return { message, finishReason: 'stop', model: 'x/c', usage: { input: 1, output: 1 }, requestId: 'r' };
    };
    const config = { ...testAgent().config, fallbackModels: ['b', 'c'] };
    const it = scene(converse, { model: 'a', config });
    expect((await it.run()).output).toBe('here');
    expect(asked).toEqual(['a', 'b', 'c']);
    expect(it.types.filter((type) => type?.startsWith('fallback'))).toEqual([
      'fallback.triggered',
      'fallback.triggered',
      'fallback.succeeded',
    ]);
  });

  test('fails with the words of the model when nobody answers, and the session may try again', async () => {
    let isUp = false;
    const converse: Converse = async () => {
      if (!isUp) throw fail('upstream_down', { message: 'it is down' });
      const message = { role: 'assistant' as const, content: 'here' };
      return { message, finishReason: 'stop', model: 'm', usage: { input: 1, output: 1 }, requestId: 'r' };
    };
    const it = scene(converse);
    it.begin();
    expect((await it.until('failed')).error).toContain('it is down');
    expect(it.session.status).toBe('failed');
    expect(it.types.slice(-2)).toEqual(['session.error', 'turn.end']);
    isUp = true;
    expect((await it.run()).output).toBe('here');
    expect(it.session.status).toBe('running');
  });

  test('that is interrupted answers its calls, and the session goes on', async () => {
    const it = scene([
      { calls: [{ name: 'hangs' }, { name: 'add', args: { a: 1, b: 1 } }] },
      { text: 'So.' },
    ]);
    it.begin();
    while (!it.types.includes('tool_call.start')) await Bun.sleep(1);
    it.rooms.room.turns.interrupt(it.session, 'Interrupted.');
    expect(it.turn()).toMatchObject({ status: 'failed', error: 'Interrupted.' });
    expect(it.types.slice(-3)).toEqual(['tool_call.error', 'tool_call.error', 'turn.end']);
    const again = it.begin('Once more.');
    expect(again.number).toBe(2);
    while (it.types.filter((type) => type === 'tool_call.start').length < 2) await Bun.sleep(1);
    it.rooms.room.sessions.cancel(CALLER, it.id);
    expect(it.session.status).toBe('cancelled');
    expect(it.types.slice(-2)).toEqual(['turn.end', 'session.end']);
    expect(() => it.begin()).toThrow('is cancelled');
  });

  test('takes no word of a tool that ends because svc does', async () => {
    const it = scene([{ calls: [{ name: 'dies' }] }]);
    it.begin();
    while (!it.types.includes('tool_call.start')) await Bun.sleep(1);
    await it.rooms.room.stop(1);
    endOfOthers.resolve();
    await Bun.sleep(5);
    expect(it.types.at(-1)).toBe('tool_call.start');
    expect(it.turn().status).toBe('running');
  });

  test('that waits for leave is cancelled with its review', async () => {
    const approval = {
      tools: ['add'],
      matchMode: 'exact' as const,
      timeoutMs: 60_000,
      defaultAction: 'deny' as const,
    };
    const it = scene([{ calls: [{ name: 'add', args: { a: 1, b: 1 } }] }], {
      config: { ...testAgent().config, approval },
    });
    it.begin();
    await it.until('waiting');
    expect(it.rooms.open()).toHaveLength(1);
    it.rooms.room.sessions.cancel(CALLER, it.id);
    expect(it.rooms.open()).toHaveLength(0);
    expect(it.types).toContain('approval.cancelled');
  });

  test.each([
    ['denied', 'deny', 'Denied: this call was not carried out.'],
    ['approved', 'approve', '2'],
  ] as const)('goes on when it is %s', async (_, action, result) => {
    const approval = {
      tools: ['add'],
      matchMode: 'exact' as const,
      timeoutMs: 60_000,
      defaultAction: 'deny' as const,
    };
    const it = scene([{ calls: [{ name: 'add', args: { a: 1, b: 1 } }] }, { text: 'Well.' }], {
      config: { ...testAgent().config, approval },
    });
    it.begin();
    await it.until('waiting');
    const [review] = it.rooms.open();
    it.rooms.decide(review?.id ?? '', action);
    await it.until('completed');
    expect(it.result('add')).toStartWith(result);
    expect(it.events.find(({ type }) => type === 'approval.resolved')?.approvalAction).toBe(action);
  });

  test('ends at the limits of its agent', async () => {
    const script = Array.from({ length: 9 }, () => ({
      text: 'More. ',
      calls: [{ name: 'add', args: { a: 1, b: 1 } }],
    }));
    const steps = scene(script, { maxSteps: 2 });
    expect((await steps.run()).iteration).toBe(2);
    expect(steps.events.at(-1)?.finishReason).toBe('max_steps');
    const calls = scene(script, { maxToolCallsPerTurn: 2 });
    await calls.run();
    expect(calls.types.filter((type) => type === 'tool_call.end')).toHaveLength(2);
    expect(calls.events.at(-1)?.finishReason).toBe('max_tool_calls');
    const turns = scene([{ text: 'Yes.' }], { maxTurns: 1 });
    await turns.run();
    expect(() => turns.begin()).toThrow('has had its 1 turns');
  });
});

describe('an agent that starts others', () => {
  const helper = testAgent({ id: 'agt_helper', name: 'helper', mode: 'subagent', tools: [] });

  test('gets their answers, and the tree is told', async () => {
    const script: Converse = (caller, wish) => {
      const isHelper = String(wish.request.messages.at(0)?.content).startsWith('Sum');
      const steps: ScriptedStep[] = isHelper
        ? [{ text: 'summed' }]
        : [
            { calls: [{ name: 'spawn_agent', args: { agent: 'helper', task: 'Sum it.' } }] },
            { text: 'Good.' },
          ];
      return scriptedModel(steps)(caller, wish);
    };
    const it = scene(script, {}, [helper]);
    expect((await it.run()).output).toBe('Good.');
    expect(it.result('spawn_agent')).toBe('summed');
    expect(it.types).toEqual(expect.arrayContaining(['spawn.start', 'spawn.end']));
  });

  test('may not go deeper than its bounds, nor start an agent that is not there', async () => {
    const config = { ...testAgent().config, spawn: { ...testAgent().config.spawn, maxDepth: 0 } };
    const calls = [{ name: 'spawn_agent', args: { agent: 'helper', task: 'x' } }];
    const it = scene([{ calls }, { text: 'So be it.' }], { config }, [helper]);
    await it.run();
    expect(it.result('spawn_agent')).toContain('no deeper');
    const other = scene([
      { calls: [{ name: 'spawn_agent', args: { agent: 'nobody', task: 'x' } }] },
      { text: '.' },
    ]);
    await other.run();
    expect(other.result('spawn_agent')).toContain('There is no agent "nobody"');
  });

  test('hears of its jobs when they are over', async () => {
    const seen: string[] = [];
    const script: Converse = async (caller, wish) => {
      const messages = wish.request.messages;
      if (String(messages[0]?.content) === 'Job.')
        return scriptedModel([{ text: 'job result' }])(caller, wish);
      seen.push(String(messages.at(-1)?.content));
      if (seen.length === 2) await Bun.sleep(30);
      return scriptedModel([{ calls: [{ name: 'delegate_job', args: { agent: 'helper', task: 'Job.' } }] }])(
        caller,
        wish,
      );
    };
    const it = scene(script, {}, [helper]);
    it.begin();
    for (let i = 0; i < 300 && !seen.some((words) => words.includes('job result')); i++) await Bun.sleep(1);
    expect(seen.some((words) => words.includes('job result'))).toBe(true);
    it.rooms.room.sessions.cancel(CALLER, it.id);
  });

  test('hears of a job that somebody has cancelled', async () => {
    const seen: string[] = [];
    const script: Converse = async (caller, { request, signal, ...wish }) => {
      const words = String(request.messages.at(-1)?.content);
      if (words === 'Job.') await new Promise((_, reject) => signal.addEventListener('abort', reject));
      seen.push(words);
      if (seen.length === 2) while (it.store.countSteers(it.id) === 0) await Bun.sleep(1);
      const calls = [{ name: 'delegate_job', args: { agent: 'helper', task: 'Job.' } }];
      return scriptedModel([{ calls }])(caller, { request, signal, ...wish });
    };
    const it = scene(script, {}, [helper]);
    it.begin();
    while (!it.types.includes('spawn.start')) await Bun.sleep(1);
    const { rows } = it.store.list(CALLER.tenant, { agentId: helper.id, limit: 1, offset: 0 });
    it.rooms.room.sessions.cancel(CALLER, rows[0]?.id ?? '');
    while (!seen.some((words) => words.includes('Cancelled by usr_a.'))) await Bun.sleep(1);
    it.rooms.room.sessions.cancel(CALLER, it.id);
  });

  test('takes them along when it is cancelled', async () => {
    const slow: Converse = async (caller, wish) => {
      if (String(wish.request.messages[0]?.content) === 'Wait.')
        await new Promise((_, reject) =>
          wish.signal.addEventListener('abort', () => reject(wish.signal.reason)),
        );
      return scriptedModel([{ calls: [{ name: 'spawn_agent', args: { agent: 'helper', task: 'Wait.' } }] }])(
        caller,
        wish,
      );
    };
    const it = scene(slow, {}, [helper]);
    it.begin();
    while (!it.types.includes('spawn.start')) await Bun.sleep(1);
    it.rooms.room.sessions.cancel(CALLER, it.id);
    const { rows } = it.store.list(CALLER.tenant, { limit: 10, offset: 0 });
    expect(rows.map(({ status }) => status)).toEqual(['cancelled', 'cancelled']);
  });
});
