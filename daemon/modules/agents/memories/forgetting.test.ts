import { expect, test } from 'bun:test';
import { add, contents, list, openMemories } from './testing.ts';

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
