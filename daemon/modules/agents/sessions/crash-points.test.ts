import { describe, expect, test } from 'bun:test';
import { systemClock } from '../../../../src/kit/time.ts';
import type { App } from '../../../app.ts';
import { openTestApp } from '../../../testing/app.ts';
import { CALLER, openRooms, type TestRooms, testAgent } from '../testing/rooms.ts';
import { type ScriptedStep, scriptedModel } from '../testing/scripted-model.ts';
import { askUserTools } from '../tools/others/ask-user.ts';
import { done, type Tool, type ToolSource } from '../tools/tool.ts';
import { SessionStore } from './store.ts';

const SCRIPT: readonly ScriptedStep[] = [
  { text: 'Looking. ', calls: [{ name: 'look' }, { name: 'effect', args: { n: 1 } }] },
  { calls: [{ name: 'risky' }, { name: 'durable' }] },
  { calls: [{ name: 'ask_user', args: { question: 'Which?' } }] },
  { text: 'All is done.' },
];
const NAMES = ['look', 'effect', 'risky', 'durable'];
const AGENT = testAgent({
  tools: [...NAMES, 'ask_user'],
  config: {
    ...testAgent().config,
    approval: { tools: ['risky'], matchMode: 'exact', timeoutMs: 60_000, defaultAction: 'deny' },
  },
});

/** How often each call has had its effect: the world outside the process. */
class World {
  readonly effects = new Map<string, number>();

  has(callId: string): boolean {
    return this.effects.has(callId);
  }

  act(callId: string): void {
    this.effects.set(callId, (this.effects.get(callId) ?? 0) + 1);
  }
}

class Killed extends Error {}

/** A database that a process loses after so many commits: whatever it tries later does not happen. */
function dyingApp(app: App, commits: number): { readonly app: App; readonly dead: () => boolean } {
  let left = commits;
  const alive = () => {
    if (left <= 0) throw new Killed();
  };
  const db: App['db'] = {
    ...app.db,
    get sql() {
      alive();
      return app.db.sql;
    },
    get raw() {
      alive();
      return app.db.raw;
    },
    transaction(work) {
      alive();
      const result = app.db.transaction(work);
      left--;
      return result;
    },
  };
  return { app: { ...app, db }, dead: () => left <= 0 };
}

function toolsOf(world: World, dead: () => boolean): ToolSource {
  const act = (callId: string) => {
    if (dead()) throw new Killed();
    world.act(callId);
  };
  const base = (name: string) => ({ name, description: '', parameters: { type: 'object' } });
  const tools: Tool[] = [
    { ...base('look'), isRead: true, run: async () => done('seen') },
    ...['effect', 'risky'].map((name) => ({
      ...base(name),
      async run(_args: object, { callId }: { callId: string }) {
        await Promise.resolve();
        act(callId);
        await Promise.resolve();
        return done('done');
      },
    })),
    {
      ...base('durable'),
      async run(_args, { callId, note }) {
        note('begun');
        act(callId);
        await Promise.resolve();
        return done('done');
      },
      recover: async (_args, { callId }) => {
        if (!world.has(callId)) act(callId);
        return done('done');
      },
    },
  ];
  return { find: (_agent, name) => tools.find((tool) => tool.name === name) };
}

/** One life of a process: goes on as far as it can. Answers whether it has come to the end. */
async function live(rooms: TestRooms, sessionId: string, unknown: Set<string>, dead: () => boolean) {
  const store = new SessionStore(rooms.app.db);
  for (let i = 0; i < 400 && !dead(); i++) {
    await Bun.sleep(0);
    if (dead()) return false;
    const session = store.find(CALLER.tenant, sessionId);
    const turn = store.turn(CALLER.tenant, sessionId, 1);
    if (turn?.status === 'completed' || turn?.status === 'failed') return true;
    for (const review of rooms.open()) {
      if (review.note) for (const { toolCallId } of review.calls) unknown.add(toolCallId);
      rooms.decide(review.id, review.note ? 'deny' : 'approve');
    }
    if (session?.status === 'waiting_for_input') rooms.room.turns.answer(session, 'the first');
  }
  return false;
}

async function liveOn(app: App, world: World, commits: number, sessionId: string, unknown: Set<string>) {
  const { app: dying, dead } = dyingApp(app, commits);
  try {
    const rooms = openRooms([AGENT], scriptedModel(SCRIPT), [askUserTools, toolsOf(world, dead)], dying);
    return await live(rooms, sessionId, unknown, dead);
  } catch (error) {
    if (error instanceof Killed || dead()) return false;
    throw error;
  }
}

function begin(app: App): string {
  const rooms = openRooms([AGENT], scriptedModel(SCRIPT), [], app);
  const session = rooms.room.sessions.create(CALLER, { agentId: AGENT.id, metadata: {} });
  return session.id;
}

/** Runs a turn in processes that end after so many commits each, and a last one that does not. */
async function runThrough(kills: readonly number[]) {
  const app = openTestApp(systemClock, {});
  const world = new World();
  const unknown = new Set<string>();
  const sessionId = begin(app);
  const store = new SessionStore(app.db);
  const wish = { userInput: 'Do it.', options: { streams: true, searches: false }, queue: false };
  const { app: dying, dead } = dyingApp(app, kills[0] ?? Number.POSITIVE_INFINITY);
  try {
    const rooms = openRooms([AGENT], scriptedModel(SCRIPT), [askUserTools, toolsOf(world, dead)], dying);
    rooms.room.turns.begin(CALLER, rooms.room.sessions.get(CALLER.tenant, sessionId), wish);
    await live(rooms, sessionId, unknown, dead);
  } catch (error) {
    if (!dead()) throw error;
  }
  const died = dead();
  const acknowledged = store.turn(CALLER.tenant, sessionId, 1) !== undefined;
  for (const commits of kills.slice(1)) await liveOn(app, world, commits, sessionId, unknown);
  const ended = await liveOn(app, world, Number.POSITIVE_INFINITY, sessionId, unknown);
  return { app, world, unknown, sessionId, store, acknowledged, died, ended };
}

function check({ app, world, unknown, sessionId, store }: Awaited<ReturnType<typeof runThrough>>): void {
  const turn = store.turn(CALLER.tenant, sessionId, 1);
  expect({ status: turn?.status, output: turn?.output, error: turn?.error }).toEqual({
    status: 'completed',
    output: 'All is done.',
    error: null,
  });
  for (const [callId, times] of world.effects) expect([callId, times]).toEqual([callId, 1]);
  const rows = app.db.raw
    .query<{ id: string; name: string; state: string; ok: number }, []>(
      'SELECT id, name, state, ok FROM agent_tool_calls ORDER BY iteration, position',
    )
    .all();
  expect(rows.map(({ name, state }) => [name, state])).toEqual(
    ['look', 'effect', 'risky', 'durable', 'ask_user'].map((name) => [name, 'told']),
  );
  for (const { id, name, ok } of rows) {
    if (unknown.has(id)) expect(ok).toBe(0);
    else expect([name, ok, world.effects.get(id) ?? 1]).toEqual([name, 1, 1]);
  }
  const seqs = app.db.raw
    .query<{ seq: number }, [string]>('SELECT seq FROM agent_events WHERE session_id = ? ORDER BY seq')
    .all(sessionId)
    .map(({ seq }) => seq);
  expect(seqs).toEqual(seqs.map((_, i) => i + 1));
}

describe('a turn whose process ends', () => {
  test('goes through at once when nothing ends', async () => {
    const run = await runThrough([Number.POSITIVE_INFINITY]);
    check(run);
    expect(run.unknown.size).toBe(0);
  });

  test('after any of its commits goes on, and no call has its effect twice', async () => {
    let points = 0;
    for (let kill = 1; kill <= 60; kill++) {
      const run = await runThrough([kill]);
      if (!run.died) break;
      if (!run.acknowledged) continue;
      points++;
      check(run);
    }
    expect(points).toBeGreaterThan(20);
  });

  test('again and again goes on as well', async () => {
    for (const first of [2, 5, 9, 14, 19])
      for (const second of [1, 2, 3, 5]) {
        const run = await runThrough([first, second, second, second + 1]);
        if (run.acknowledged) check(run);
      }
  });
});
