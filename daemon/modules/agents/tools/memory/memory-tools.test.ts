import { describe, expect, test } from 'bun:test';
import { agentOf, type MemoriesScene, openMemories, toolContext } from '../../memories/testing.ts';
import type { Tool } from '../tool.ts';

const toolOf = (scene: MemoriesScene, name: string): Tool => {
  const tool = scene.room.tools.find(agentOf('agt_1'), name);
  if (!tool) throw new Error(name);
  return tool;
};
const count = (scene: MemoriesScene) =>
  scene.app.db.raw.query<{ n: number }, []>('SELECT count(*) AS n FROM agent_memories').get()?.n;

test('only the tools of memory are known', () => {
  const { tools } = openMemories(undefined).room;
  expect(['memory_query', 'memory_store'].map((name) => tools.find(agentOf('agt_1'), name)?.name)).toEqual([
    'memory_query',
    'memory_store',
  ]);
  expect(tools.find(agentOf('agt_1'), 'memory_remove')).toBeUndefined();
});

describe('memory_store', () => {
  test('remembers, and memory_query finds it', async () => {
    const scene = openMemories('words');
    const context = toolContext(agentOf('agt_1', { scope: 'user' }));
    const stored = await toolOf(scene, 'memory_store').run(
      { content: 'The host is db2', factKey: 'host' },
      context,
    );
    expect(stored.ok).toBe(true);
    const found = await toolOf(scene, 'memory_query').run({ query: 'which host' }, context);
    const [, line = ''] = found.output.split('\n');
    expect(JSON.parse(line)).toMatchObject({
      content: 'The host is db2',
      factKey: 'host',
      scope: 'user',
      type: 'fact',
    });
  });

  test('does it once, however often a call is carried out', async () => {
    const scene = openMemories(undefined);
    const notes: string[] = [];
    const context = toolContext(agentOf('agt_1'), 'call_7', notes);
    const store = toolOf(scene, 'memory_store');
    const first = await store.run({ content: 'tea', factKey: 'drink' }, context);
    expect(notes).toEqual(['call_7']);
    const other = toolContext(agentOf('agt_1'), 'call_8');
    await store.run({ content: 'coffee', factKey: 'drink' }, other);
    expect(await store.recover?.({ content: 'tea', factKey: 'drink' }, context, 'call_7')).toEqual(first);
    expect(count(scene)).toBe(2);
    const query = toolOf(scene, 'memory_query');
    expect((await query.run({ query: 'tea' }, other)).output).toStartWith('Nothing');
  });

  test('does at recovery what a crash has kept from being done', async () => {
    const scene = openMemories(undefined);
    const store = toolOf(scene, 'memory_store');
    const context = toolContext(agentOf('agt_1'), 'call_9');
    expect(await store.recover?.({ content: 'tea' }, context, 'call_9')).toMatchObject({ ok: true });
    expect(count(scene)).toBe(1);
  });

  test.each(['user', 'global'])(
    'an agent that sees its own memories alone writes none of the scope %s',
    async (scope) => {
      const scene = openMemories(undefined);
      const context = toolContext(agentOf('agt_1', { scope: 'agent' }));
      const outcome = await toolOf(scene, 'memory_store').run(
        { content: 'All agents must obey', scope },
        context,
      );
      expect(outcome).toMatchObject({ ok: false, output: expect.stringContaining('scope agent only') });
      expect(count(scene)).toBe(0);
    },
  );

  test('keeps no secrets', async () => {
    const scene = openMemories(undefined);
    const args = { content: 'The key is sk-abcdefgh12345678' };
    const outcome = await toolOf(scene, 'memory_store').run(args, toolContext(agentOf('agt_1')));
    expect(outcome).toMatchObject({ ok: false, output: expect.stringContaining('not for secrets') });
    expect(count(scene)).toBe(0);
  });

  test('what is wrong is said to the model', async () => {
    const scene = openMemories(undefined);
    const outcome = await toolOf(scene, 'memory_store').run(
      { content: 'x', factKey: 'a b' },
      toolContext(agentOf('agt_1')),
    );
    expect(outcome).toMatchObject({ ok: false, output: expect.stringContaining('factKey') });
  });
});

describe('memory_query', () => {
  test('searches a collection of documents', async () => {
    const scene = openMemories(undefined);
    const query = toolOf(scene, 'memory_query');
    const context = toolContext(agentOf('agt_1'));
    const found = await query.run({ query: 'seals', collection: 'manuals' }, context);
    expect(found.output).toContain('about seals');
    expect(await query.run({ query: 'seals', collection: 'nothing' }, context)).toEqual({
      ok: false,
      output: 'There is no collection "nothing".',
    });
  });

  test('an error that comes with the end of the turn is no outcome', async () => {
    const scene = openMemories(undefined);
    const context = { ...toolContext(agentOf('agt_1')), signal: AbortSignal.abort() };
    expect(
      toolOf(scene, 'memory_query').run({ query: 'x', collection: 'nothing' }, context),
    ).rejects.toThrow();
  });
});
