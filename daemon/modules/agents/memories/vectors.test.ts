import { describe, expect, test } from 'bun:test';
import { add, type MemoriesScene, openMemories } from './testing.ts';

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
