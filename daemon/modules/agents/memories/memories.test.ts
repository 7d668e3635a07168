import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { AgentMemoryEntry } from '../../../../src/api/agents/memories.ts';
import type { Value } from '../../../../src/api/schema.ts';
import { agentOf, type MemoriesScene, never, openMemories, person } from './testing.ts';

type Entry = Value<typeof AgentMemoryEntry>;

const add = async (
  scene: MemoriesScene,
  body: Record<string, unknown>,
  agentId = 'agt_1',
  caller = person(),
): Promise<Entry> => {
  const answer: { memory: Entry } = await scene.call(
    'CreateAgentMemory',
    { params: { agentId }, body },
    caller,
  );
  return answer.memory;
};
const list = async (
  scene: MemoriesScene,
  query: Record<string, unknown> = {},
  agentId = 'agt_1',
  caller = person(),
) =>
  (await scene.call('ListAgentMemories', { params: { agentId }, query }, caller)) as {
    memories: Entry[];
    total: number;
  };
const contents = (entries: ReadonlyArray<{ content?: string }>) =>
  entries.map(({ content }) => content ?? '');

describe('the operations', () => {
  test('a memory is made, listed, changed, retired and removed', async () => {
    const scene = openMemories(undefined);
    const made = await add(scene, {
      memoryType: 'fact',
      content: ' Tea at four ',
      factKey: 'tea',
      confidence: 0.5,
    });
    expect(made).toMatchObject({
      ...{ agentId: 'agt_1', tenantId: 'org_a', userId: 'usr_ann', scope: 'agent', source: 'user_explicit' },
      ...{ content: 'Tea at four', confidence: 0.5, isActive: true, accessCount: 0 },
    });
    expect(made.id).toStartWith('mem_');
    const params = { memoryId: made.id ?? '' };
    await scene.call('UpdateAgentMemory', { params, body: { content: 'Tea at five', confidence: 0.6 } });
    expect((await list(scene)).memories).toMatchObject([
      { content: 'Tea at five', factKey: 'tea', confidence: 0.6 },
    ]);
    await scene.call('DeactivateAgentMemory', { params });
    await scene.call('DeactivateAgentMemory', { params });
    expect(await list(scene)).toMatchObject({ total: 1, memories: [{ isActive: false }] });
    expect(await list(scene, { activeOnly: true })).toEqual({ total: 0, memories: [] });
    await expect(scene.call('UpdateAgentMemory', { params, body: { content: 'again' } })).rejects.toThrow(
      'it was retired',
    );
    await scene.call('DeleteAgentMemory', { params });
    expect((await list(scene)).total).toBe(0);
    await expect(scene.call('DeleteAgentMemory', { params })).rejects.toThrow('There is no memory');
  });

  test('lists are filtered, and have pages', async () => {
    const scene = openMemories(undefined);
    for (const [memoryType, scope] of [
      ['fact', 'agent'],
      ['fact', 'user'],
      ['instruction', 'global'],
    ])
      await add(scene, { memoryType, scope, content: `${memoryType} ${scope}` });
    const shown = async (query: Record<string, unknown>) => contents((await list(scene, query)).memories);
    expect(await shown({})).toEqual(['instruction global', 'fact user', 'fact agent']);
    expect(await shown({ memoryType: 'fact' })).toEqual(['fact user', 'fact agent']);
    expect(await shown({ scope: 'global' })).toEqual(['instruction global']);
    expect(await list(scene, { limit: 1, offset: 1 })).toMatchObject({
      total: 3,
      memories: [{ scope: 'user' }],
    });
    expect((await list(scene, {}, 'agt_2')).total).toBe(0);
    expect((await list(scene, { includeShared: true }, 'agt_2')).total).toBe(2);
  });

  test.each([
    [{ content: '' }, 'content: must not be empty'],
    [{ content: 'x'.repeat(8_001) }, 'content: has at most'],
    [{ content: 'x', memoryType: 'rumour' }, 'memoryType: must be one of'],
    [{ content: 'x', scope: 'world' }, 'scope: must be one of'],
    [{ content: 'x', confidence: 1.1 }, 'confidence: must be from 0 to 1'],
    [{ content: 'x', confidence: Number.NaN }, 'confidence: must be from 0 to 1'],
    [{ content: 'x', factKey: 'two words' }, 'factKey: has at most'],
    [{ content: 'x', factKey: 'k'.repeat(129) }, 'factKey: has at most'],
  ])('%j is refused, and nothing is kept', async (body, message) => {
    const scene = openMemories(undefined);
    await expect(add(scene, body)).rejects.toThrow(message);
    expect((await list(scene)).total).toBe(0);
  });

  test('an unknown agent, or one of another tenant, is not found', async () => {
    const scene = openMemories(undefined);
    for (const agent of ['agt_9', 'agt_b']) {
      await expect(add(scene, { content: 'x' }, agent)).rejects.toThrow('There is no agent');
      await expect(list(scene, {}, agent)).rejects.toThrow('There is no agent');
    }
  });

  test('a key that another valid fact has is refused', async () => {
    const scene = openMemories(undefined);
    await add(scene, { content: 'one', factKey: 'a' });
    const { id = '' } = await add(scene, { content: 'two', factKey: 'b' });
    const params = { memoryId: id };
    await expect(scene.call('UpdateAgentMemory', { params, body: { factKey: 'a' } })).rejects.toThrow(
      'exists already',
    );
    await scene.call('UpdateAgentMemory', { params, body: { factKey: 'b' } });
  });

  test('setup says what is searched with', async () => {
    const scene = openMemories(undefined);
    const setup = () =>
      scene.call('SetupMemory') as Promise<{ backend: string; message: string; success: boolean }>;
    expect(await setup()).toMatchObject({ success: true, backend: 'sqlite-fts5' });
    scene.model = 'down';
    expect(await setup()).toMatchObject({
      backend: 'sqlite-fts5',
      message: expect.stringContaining('does not answer'),
    });
    scene.model = 'words';
    expect(await setup()).toMatchObject({
      backend: 'sqlite-fts5+vectors',
      message: expect.stringContaining('64 numbers by words'),
    });
  });
});

describe('what is remembered', () => {
  test('a fact takes the place of the one with its key, in one step', async () => {
    const scene = openMemories('words');
    const old = await add(scene, { content: 'The user likes red', factKey: 'colour' });
    const now = await add(scene, { content: 'The user likes teal', factKey: 'colour' });
    const { memories } = await list(scene);
    expect(memories).toMatchObject([
      { id: now.id, isActive: true, content: 'The user likes teal' },
      { id: old.id, isActive: false, supersededBy: now.id },
    ]);
    const found = await scene.room.memories.recall(person(), agentOf('agt_1'), {
      query: 'colour likes red',
      topK: 5,
      signal: never,
    });
    expect(found.map(({ id }) => id)).toEqual([now.id ?? '']);
  });

  test('when the successor cannot be written, the fact stays', async () => {
    const scene = openMemories(undefined);
    await add(scene, { content: 'one', factKey: 'a' });
    scene.app.db.raw.run(
      "CREATE TRIGGER refuse BEFORE INSERT ON agent_memories WHEN NEW.content = 'two' BEGIN SELECT RAISE(ABORT, 'full'); END",
    );
    await expect(add(scene, { content: 'two', factKey: 'a' })).rejects.toThrow('full');
    expect((await list(scene)).memories).toMatchObject([{ content: 'one', isActive: true }]);
  });

  test.each([undefined, 'words'])('the same again makes it surer, with the model %p', async (model) => {
    const scene = openMemories(model);
    const first = await add(scene, { content: 'Deploys are on Tuesday.', confidence: 0.6 });
    const again = await add(scene, { content: 'deploys are on tuesday', confidence: 0.6 });
    expect(again.id).toBe(first.id ?? '');
    expect(again.confidence).toBeCloseTo(0.7);
    expect((await list(scene)).total).toBe(1);
  });

  test('what says nearly the same makes it surer, and what says more is kept', async () => {
    const scene = openMemories('words');
    const one = await add(scene, {
      content: 'The whole team deploys the service on every Tuesday',
      confidence: 0.6,
    });
    const near = await add(scene, {
      content: 'The whole team deploys service on every Tuesday',
      confidence: 0.6,
    });
    expect(near.id).toBe(one.id ?? '');
    const denied = await add(scene, { content: 'The whole team never deploys the service on every Tuesday' });
    expect(denied.id).not.toBe(one.id ?? '');
    const other = await add(scene, { content: 'The whole team deploys the service on every Friday' });
    expect(other.id).not.toBe(one.id ?? '');
  });

  test('facts with different keys are different facts, however near', async () => {
    const scene = openMemories('words');
    await add(scene, { content: 'The user is in Paris', factKey: 'user.home' });
    await add(scene, { content: 'The user is in Paris', factKey: 'user.work' });
    expect((await list(scene, { activeOnly: true })).total).toBe(2);
  });

  test('at most one version of a fact is valid, and every other one has a successor', async () => {
    const steps = fc.array(
      fc.tuple(fc.constantFrom('a', 'b', ''), fc.constantFrom('x', 'y', 'z'), fc.boolean()),
      {
        maxLength: 12,
      },
    );
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        const scene = openMemories('words');
        await Promise.all(
          all.map(([factKey, word, poisoned]) =>
            add(scene, { factKey, content: `${word}${poisoned ? ' poison' : ''}` }),
          ),
        );
        const { memories } = await list(scene, { limit: 100 });
        const ids = new Set(memories.map(({ id }) => id));
        const valid = memories.filter(({ isActive, factKey }) => isActive && factKey !== '');
        expect(new Set(valid.map(({ factKey }) => factKey)).size).toBe(valid.length);
        for (const { isActive, supersededBy = '' } of memories)
          expect(isActive ? supersededBy === '' : ids.has(supersededBy)).toBe(true);
        const keys = new Set(all.map(([key]) => key).filter(Boolean));
        for (const key of keys) expect(valid.map(({ factKey }) => factKey)).toContain(key);
        scene.app.db.close();
      }),
      { numRuns: 30 },
    );
  });
});

describe('recall', () => {
  test.each([undefined, 'words', 'down'])('finds what fits first, with the model %p', async (model) => {
    const scene = openMemories(model);
    for (const content of [
      'The staging database is db2',
      'Invoices go out on Monday',
      'The cafeteria has soup',
    ])
      await add(scene, { content });
    const found = await scene.room.memories.recall(person(), agentOf('agt_1'), {
      ...{ query: 'which database has staging?', topK: 2, signal: never },
    });
    expect(found[0]?.content).toBe('The staging database is db2');
    expect(found.map(({ score }) => score)).toEqual(
      found.map(({ score }) => score).toSorted((a, b) => b - a),
    );
  });

  test('sees as far as the scope of the agent, and never another user or tenant', async () => {
    const scene = openMemories('words');
    const ann = person();
    const bob = person('usr_bob');
    for (const scope of ['agent', 'user', 'global'])
      await add(scene, { content: `secret of ${scope}`, scope }, 'agt_2');
    await add(scene, { content: 'secret of mine', scope: 'agent' }, 'agt_1');
    await add(scene, { content: 'secret of bob', scope: 'user' }, 'agt_1', bob);
    await add(scene, { content: 'secret of b', scope: 'global' }, 'agt_b', person('usr_ann', 'org_b'));
    const seen = async (scope: 'agent' | 'user' | 'global', caller = ann) => {
      const found = await scene.room.memories.recall(caller, agentOf('agt_1', { scope }), {
        ...{ query: 'secret', topK: 10, signal: never },
      });
      return contents(found)
        .map((text) => text.replace('secret of ', ''))
        .sort();
    };
    expect(await seen('agent')).toEqual(['mine']);
    expect(await seen('user')).toEqual(['mine', 'user']);
    expect(await seen('global')).toEqual(['global', 'mine', 'user']);
    expect(await seen('global', bob)).toEqual(['bob', 'global', 'mine']);
    expect(contents((await list(scene, { includeShared: true }, 'agt_1', bob)).memories)).not.toContain(
      'secret of user',
    );
  });

  test('another user cannot change what is a user’s own, nor another tenant anything', async () => {
    const scene = openMemories(undefined);
    const { id = '' } = await add(scene, { content: 'mine', scope: 'user' });
    for (const caller of [person('usr_bob'), person('usr_ann', 'org_b')])
      for (const operation of ['UpdateAgentMemory', 'DeactivateAgentMemory', 'DeleteAgentMemory'])
        await expect(scene.call(operation, { params: { memoryId: id } }, caller)).rejects.toThrow(
          'There is no memory',
        );
    expect((await list(scene)).memories).toMatchObject([{ isActive: true, content: 'mine' }]);
  });

  test('a key has memories of its own', async () => {
    const scene = openMemories(undefined);
    const key = { tenant: 'org_a', role: 'member', actor: 'key_1', via: 'api-key' } as const;
    await add(scene, { content: 'of the key', scope: 'user' }, 'agt_1', key);
    expect((await list(scene, {}, 'agt_1', key)).memories).toMatchObject([{ userId: 'key_1' }]);
    expect((await list(scene)).total).toBe(0);
  });

  test('asks for types, and adds standing instructions where there is room', async () => {
    const scene = openMemories('words');
    await add(scene, { content: 'Answer in German', memoryType: 'instruction' });
    await add(scene, { content: 'The weather station is on the roof' });
    const ask = async (more: object) =>
      contents(
        await scene.room.memories.recall(person(), agentOf('agt_1'), {
          ...{ query: 'weather station', topK: 2, signal: never },
          ...more,
        }),
      );
    expect(await ask({ standing: false })).toEqual(['The weather station is on the roof']);
    expect(await ask({ types: ['fact'] })).toEqual(['The weather station is on the roof']);
    expect(await ask({ types: ['instruction'], query: 'german' })).toEqual(['Answer in German']);
    expect(await ask({})).toEqual(['The weather station is on the roof', 'Answer in German']);
    expect(await ask({ query: '' })).toEqual(['Answer in German']);
    expect(await ask({ topK: 1 })).toEqual(['The weather station is on the roof']);
  });

  test('counts what was recalled, later and all at once', async () => {
    const scene = openMemories(undefined);
    await add(scene, { content: 'tea' });
    const wish = { query: 'tea', topK: 1, signal: never };
    for (let i = 0; i < 3; i++) await scene.room.memories.recall(person(), agentOf('agt_1'), wish);
    expect((await list(scene)).memories).toMatchObject([{ accessCount: 0 }]);
    scene.room.stop();
    expect((await list(scene)).memories).toMatchObject([
      { accessCount: 3, lastAccessedAt: '2026-03-01T12:30:00.000Z' },
    ]);
  });

  test('changed and retired memories are found as they are now', async () => {
    const scene = openMemories('words');
    const { id = '' } = await add(scene, { content: 'The host is db2' });
    const ask = async (query: string) =>
      contents(
        await scene.room.memories.recall(person(), agentOf('agt_1'), { query, topK: 3, signal: never }),
      );
    expect(await ask('host db2')).toEqual(['The host is db2']);
    await scene.call('UpdateAgentMemory', {
      params: { memoryId: id },
      body: { content: 'The printer is red' },
    });
    expect(await ask('db2')).toEqual([]);
    expect(await ask('printer')).toEqual(['The printer is red']);
    await scene.call('DeactivateAgentMemory', { params: { memoryId: id } });
    expect(await ask('printer')).toEqual([]);
  });
});

describe('vectors', () => {
  const settled = async (scene: MemoriesScene) => {
    const bare = () =>
      scene.app.db.raw
        .query<{ n: number }, []>(
          'SELECT count(*) AS n FROM agent_memories WHERE active = 1 AND seq NOT IN (SELECT memory FROM agent_memory_vectors)',
        )
        .get()?.n;
    for (let i = 0; i < 200 && bare() !== 0; i++) await Bun.sleep(5);
    return bare();
  };

  test('that could not be made are made in the background', async () => {
    const scene = openMemories('down');
    for (const content of ['one', 'two', 'three']) await add(scene, { content });
    expect(scene.embedded).toEqual([]);
    scene.model = 'words';
    scene.app.jobs.start();
    expect(await settled(scene)).toBe(0);
    expect(scene.embedded.flat().sort()).toEqual(['one', 'three', 'two']);
    await scene.app.jobs.stop();
  });

  test('of memories from before a model was there are made at the start, but for those that it refuses', async () => {
    const scene = openMemories(undefined);
    for (const content of ['one', 'poison', 'three']) await add(scene, { content });
    scene.model = 'words';
    scene.room.start();
    scene.app.jobs.start();
    await settled(scene);
    expect(scene.embedded.flat().sort()).toEqual(['one', 'three']);
    await scene.app.jobs.stop();
    scene.room.stop();
  });

  test('are those of the model in use, when there is another one', async () => {
    const scene = openMemories('words');
    await add(scene, { content: 'The host is db2' });
    scene.model = 'others';
    scene.room.start();
    scene.app.jobs.start();
    const models = () =>
      scene.app.db.raw
        .query<{ model: string }, []>(
          'SELECT s.model FROM agent_memory_vectors v JOIN agent_memory_spaces s ON s.seq = v.space',
        )
        .all();
    for (let i = 0; i < 200 && models()[0]?.model !== 'others'; i++) await Bun.sleep(5);
    expect(models()).toEqual([{ model: 'others' }]);
    await scene.app.jobs.stop();
    scene.room.stop();
  });
});

test('what an agent alone has known goes with it, and nothing else', async () => {
  const scene = openMemories('words');
  for (let i = 0; i < 40; i++) await add(scene, { content: `note ${i} ${'abcdefghij'[i % 10]}${i}` });
  await add(scene, { content: 'of the tenant', scope: 'global' });
  await add(scene, { content: 'of the other' }, 'agt_2');
  const [gone] = scene.agents.splice(0, 1);
  const left = () =>
    scene.app.db.raw.query<{ content: string }, []>('SELECT content FROM agent_memories ORDER BY seq').all();
  scene.app.jobs.start();
  for (let i = 0; i < 200 && left().length > 2; i++) await Bun.sleep(5);
  expect(contents(left())).toEqual(['of the tenant', 'of the other']);
  if (gone) scene.agents.push(gone);
  expect(contents((await list(scene)).memories)).toEqual(['of the tenant']);
  await add(scene, { content: 'known anew' });
  await scene.app.jobs.stop();
});
