import { describe, expect, test } from 'bun:test';
import { add, contents, list, openMemories } from './testing.ts';

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
