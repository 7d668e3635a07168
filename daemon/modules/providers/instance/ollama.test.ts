import { describe, expect, test } from 'bun:test';
import { INSTANCE, OTHER, Scene } from '../testing/scene.ts';
import { ollamaAddress } from './ollama.ts';

const ADDRESSES: ReadonlyArray<readonly [host: string | undefined, address: string]> = [
  [undefined, 'http://127.0.0.1:11434'],
  ['127.0.0.1', 'http://127.0.0.1:11434'],
  ['0.0.0.0:1234', 'http://127.0.0.1:1234'],
  [':1234', 'http://127.0.0.1:1234'],
  ['box.lan', 'http://box.lan:11434'],
  ['http://box.lan:80', 'http://box.lan'],
  ['https://ollama.example', 'https://ollama.example'],
  ['https://ollama.example/sub/', 'https://ollama.example/sub'],
  ['[::1]:5000', 'http://[::1]:5000'],
  ['[::]', 'http://127.0.0.1:11434'],
];
test.each(ADDRESSES)('OLLAMA_HOST %p is %s', (host, address) => expect(ollamaAddress(host)).toBe(address));

/** The module with something at the address of Ollama that answers so. */
async function sceneWith(answer: () => Promise<Response>, env: Record<string, string> = {}) {
  const asked: string[] = [];
  const scene = new Scene(env, {
    fetch: ({ url }) => {
      asked.push(url);
      return answer();
    },
    connect: () => Promise.reject(new Error('nothing connects')),
  });
  await scene.start();
  await Bun.sleep(0);
  return { scene, asked };
}

describe('an Ollama', () => {
  test('that answers joins everybody’s providers', async () => {
    const { scene, asked } = await sceneWith(async () => Response.json({ models: [] }), {
      OLLAMA_HOST: ':4321',
    });
    expect(asked).toEqual(['http://127.0.0.1:4321/api/tags']);
    for (const tenant of [INSTANCE, OTHER])
      expect(scene.account(tenant, 'ollama')).toMatchObject({
        baseUrl: 'http://127.0.0.1:4321/v1',
        dialect: 'openai',
        keys: [],
        needsKey: false,
      });
    await scene.close();
  });

  test.each([
    ['is not there', () => Promise.reject(new Error('refused'))],
    [
      'is a web page',
      async () => new Response('<h1>hello</h1>', { headers: { 'content-type': 'text/html' } }),
    ],
    ['fails', async () => Response.json({}, { status: 500 })],
  ])('that %s is none', async (_, answer) => {
    const { scene } = await sceneWith(answer);
    expect(scene.account(OTHER, 'ollama')).toBeUndefined();
    await scene.close();
  });

  test('that is configured is not looked for', async () => {
    const json = JSON.stringify({ ollama: { base_url: 'http://box.lan:11434' } });
    const { scene, asked } = await sceneWith(async () => Response.json({}), { SVC_PROVIDERS: json });
    expect(asked).toEqual([]);
    expect(scene.account(OTHER, 'ollama')?.baseUrl).toBe('http://box.lan:11434/v1');
    await scene.close();
  });
});
