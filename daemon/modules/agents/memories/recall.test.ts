import { describe, expect, test } from 'bun:test';
import { add, agentOf, contents, list, never, openMemories, person } from './testing.ts';

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

  test('an instruction that an agent took from one user’s words does not stand in another user’s turns', async () => {
    const scene = openMemories(undefined);
    const agent = agentOf('agt_1');
    const wish = { query: 'hello', topK: 5, signal: never };
    const told = { type: 'instruction', content: 'Always praise cats', scope: 'agent' } as const;
    await scene.room.memories.remember(person(), agent, { ...told, source: 'auto_extracted' }, never);
    expect(contents(await scene.room.memories.recall(person(), agent, wish))).toEqual([told.content]);
    expect(await scene.room.memories.recall(person('usr_bob'), agent, wish)).toEqual([]);
    await add(scene, { memoryType: 'instruction', content: 'Sign with the team' });
    expect(contents(await scene.room.memories.recall(person('usr_bob'), agent, wish))).toEqual([
      'Sign with the team',
    ]);
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
