import { afterAll, beforeAll, expect, test } from 'bun:test';
import { svcCommand } from './support/daemon.ts';
import { type SurfacesScene, startSurfaces } from './support/surfaces-scene.ts';

let scene: SurfacesScene;

beforeAll(async () => {
  scene = await startSurfaces();
});

afterAll(() => scene?.stop());

async function svc(...argv: string[]) {
  const { url, apiKey, dataDir } = scene.daemon;
  const child = Bun.spawn([...svcCommand(), ...argv], {
    env: { PATH: process.env.PATH, HOME: dataDir, SVC_API_URL: url, SVC_API_KEY: apiKey },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return { code: await child.exited, stdout, stderr };
}

test('svc model list shows the models, and what is known of them', async () => {
  const { code, stdout } = await svc('model', 'list');
  expect(code).toBe(0);
  const rows = stdout
    .trimEnd()
    .split('\n')
    .map((line) => line.split('\t'));
  expect(rows.map(([id]) => id)).toContain('local/bm25');
  const known = rows.find(([id]) => id === 'openai/dall-e-2');
  expect(known?.slice(0, 2)).toEqual(['openai/dall-e-2', 'openai']);
  const found = await svc('model', 'list', 'TEXT', '--provider', 'openai', '--json');
  expect(JSON.parse(found.stdout)).toMatchObject([{ id: 'openai/text-1', owned_by: 'openai' }]);
});

test('svc model list shows context and prices of models that the data set has', async () => {
  const models = JSON.parse((await svc('model', 'list', 'gpt-4o-mini', '--json')).stdout);
  expect(models[0]).toMatchObject({ id: 'openai/gpt-4o-mini', context_window: 128_000 });
  expect(models[0].pricing.output_per_million).toBeGreaterThan(models[0].pricing.input_per_million);
});

test('svc model test measures a model that talks, one that makes vectors, and one that ranks', async () => {
  const talking = await svc('model', 'test', 'local/echo');
  expect(talking.code).toBe(0);
  expect(talking.stdout).toContain('said\tCount from one to twenty');
  expect(talking.stdout).toMatch(/tokens\t\d+/);
  const vectors = await svc('model', 'test', 'voyage/voyage-3', '--json');
  expect(JSON.parse(vectors.stdout)).toMatchObject({
    ok: true,
    kind: 'embeddings',
    said: 'a vector of 4 numbers',
  });
  const ranking = JSON.parse((await svc('model', 'test', 'local/bm25', '--json')).stdout);
  expect(ranking).toMatchObject({ ok: true, kind: 'rerank', said: 'the right document first' });
});

test.each([
  [['nothing-like-it'], 5, 'svc model list'],
  [['openai/nothing-like-it', '--as', 'rerank'], 2, '--as'],
  [['openai/limited'], 1, 'svc provider test openai'],
])('svc model test %j ends with %d and says what to do next', async (args, code, next) => {
  const ended = await svc('model', 'test', ...args);
  expect(ended.stdout).toContain('failed');
  expect(ended.stdout).toContain(next);
  expect(ended.code).toBe(code);
});
