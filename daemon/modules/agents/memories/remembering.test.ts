import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { add, agentOf, list, never, openMemories, person } from './testing.ts';

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
