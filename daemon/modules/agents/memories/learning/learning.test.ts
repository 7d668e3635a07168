import { expect, test } from 'bun:test';
import type { AgentMemoryEntry } from '../../../../../src/api/agents/memories.ts';
import type { Value } from '../../../../../src/api/schema.ts';
import { agentOf, type MemoriesScene, openMemories, person } from '../testing.ts';

const TURN = { sessionId: 'ses_1', turnNumber: 4, userInput: 'I moved from Lisbon to Porto.' };
const answer = JSON.stringify({
  facts: [{ factKey: 'user.home_city', content: 'The user lives in Porto.', confidence: 0.9 }],
});

const learn = (scene: MemoriesScene, turn = TURN, agent = agentOf('agt_1', { scope: 'user' })) =>
  scene.app.db.transaction(() => scene.room.memories.learn(person(), agent, turn));
const lessons = (scene: MemoriesScene) =>
  scene.app.db.raw
    .query<{ state: string; input: string }, []>('SELECT state, input FROM agent_memory_lessons')
    .all();
const over = async (scene: MemoriesScene) => {
  scene.app.jobs.start();
  for (let i = 0; i < 400 && lessons(scene).some(({ state }) => state === 'waiting'); i++) {
    await Bun.sleep(5);
    scene.clock.ms += 10_000;
    if (i % 5 === 0) scene.app.jobs.add({ kind: 'agent_memories.prune' });
  }
  await scene.app.jobs.stop();
  return lessons(scene);
};
const memories = async (scene: MemoriesScene) => {
  const { memories: all } = (await scene.call('ListAgentMemories', { params: { agentId: 'agt_1' } })) as {
    memories: Value<typeof AgentMemoryEntry>[];
  };
  return all;
};

test('what a user says is learned in the background, and takes the place of what was known', async () => {
  const scene = openMemories('words');
  const body = { content: 'The user lives in Lisbon.', factKey: 'user.home_city', scope: 'user' };
  await scene.call('CreateAgentMemory', { params: { agentId: 'agt_1' }, body });
  scene.answer = () => answer;
  learn(scene);
  expect(await over(scene)).toEqual([{ state: 'learned', input: '' }]);
  expect(await memories(scene)).toMatchObject([
    {
      ...{ content: 'The user lives in Porto.', source: 'auto_extracted', scope: 'user', isActive: true },
      ...{ sourceSessionId: 'ses_1', sourceTurnNumber: 4, userId: 'usr_ann', confidence: 0.9 },
    },
    { content: 'The user lives in Lisbon.', isActive: false },
  ]);
});

test('the model gets what the user said and the keys that are known, and no memory', async () => {
  const scene = openMemories(undefined);
  const body = { content: 'A memory of before.', factKey: 'user.home_city', scope: 'user' };
  await scene.call('CreateAgentMemory', { params: { agentId: 'agt_1' }, body });
  learn(scene);
  await over(scene);
  expect(scene.asked[0]).toContain(JSON.stringify(TURN.userInput));
  expect(scene.asked[0]).toContain('user.home_city');
  expect(scene.asked[0]).not.toContain('A memory of before');
});

test('what was said later counts, whatever is learned first', async () => {
  const scene = openMemories('words');
  learn(scene, { ...TURN, turnNumber: 1 });
  scene.clock.ms += 5;
  const body = { content: 'The user lives in Braga.', factKey: 'user.home_city', scope: 'user' };
  await scene.call('CreateAgentMemory', { params: { agentId: 'agt_1' }, body });
  scene.answer = () => answer;
  await over(scene);
  const [late, valid] = await memories(scene);
  expect(valid).toMatchObject({ content: 'The user lives in Braga.', isActive: true });
  expect(late).toMatchObject({ isActive: false, supersededBy: valid?.id });
});

test('a turn is learned from once, however often it is asked for', async () => {
  const scene = openMemories(undefined);
  scene.answer = () => answer;
  learn(scene);
  learn(scene);
  await over(scene);
  learn(scene);
  await over(scene);
  expect(scene.asked).toHaveLength(1);
  expect(await memories(scene)).toHaveLength(1);
});

test('a crash between the answer and the end leaves either all of a turn or nothing, and it is done again', async () => {
  const scene = openMemories(undefined);
  scene.answer = () => JSON.stringify([{ content: 'first' }, { content: 'second' }]);
  scene.app.db.raw.run(
    "CREATE TRIGGER crash BEFORE INSERT ON agent_memories WHEN NEW.content = 'second' BEGIN SELECT RAISE(ABORT, 'crash'); END",
  );
  learn(scene);
  scene.app.jobs.start();
  for (let i = 0; i < 200 && scene.asked.length < 1; i++) await Bun.sleep(5);
  await scene.app.jobs.stop();
  expect(await memories(scene)).toEqual([]);
  scene.app.db.raw.run('DROP TRIGGER crash');
  scene.clock.ms += 60_000;
  expect(await over(scene)).toEqual([{ state: 'learned', input: '' }]);
  expect((await memories(scene)).map(({ content }) => content)).toEqual(['second', 'first']);
});

test('what is rolled back is not learned', () => {
  const scene = openMemories(undefined);
  const failing = () =>
    scene.app.db.transaction(() => {
      scene.room.memories.learn(person(), agentOf('agt_1'), TURN);
      throw new Error('no');
    });
  expect(failing).toThrow('no');
  expect(lessons(scene)).toEqual([]);
  expect(scene.app.jobs.list('org_a', 10, 0).filter(({ kind }) => kind === 'agent_memories.learn')).toEqual(
    [],
  );
});

test('a model that answers nonsense is asked three times, then what was said is let go of', async () => {
  const scene = openMemories(undefined);
  scene.answer = () => 'I cannot do that.';
  learn(scene);
  expect(await over(scene)).toEqual([{ state: 'failed', input: '' }]);
  expect(scene.asked).toHaveLength(3);
});

test('a model that answers at the second time has been asked twice', async () => {
  const scene = openMemories(undefined);
  scene.answer = (call) => (call === 1 ? 'hm' : answer);
  learn(scene);
  expect(await over(scene)).toMatchObject([{ state: 'learned' }]);
  expect(await memories(scene)).toHaveLength(1);
});

test.each([
  ['is off', { enabled: false }],
  ['does not extract', { autoExtract: false }],
])('an agent whose memory %s learns nothing', (_, memory) => {
  const scene = openMemories(undefined);
  learn(scene, TURN, agentOf('agt_1', memory));
  expect(lessons(scene)).toEqual([]);
});

test('of an agent that is gone nothing is learned', async () => {
  const scene = openMemories(undefined);
  learn(scene, TURN, agentOf('agt_gone'));
  expect(await over(scene)).toEqual([{ state: 'failed', input: '' }]);
  expect(scene.asked).toEqual([]);
});
