import { describe, expect, test } from 'bun:test';
import { AppError } from '../../../src/errors/app-error.ts';
import type { Provider } from './provider.ts';
import { Router } from './router.ts';

function provider(name: string, ids: readonly string[], closed = false): Provider {
  const complete = async () => new Response(name);
  return { name, closed, models: async () => ids.map((id) => ({ id, created: 1 })), complete };
}

const local = provider('local', ['echo'], true);
const openai = provider('openai', ['gpt-5']);
const box = provider('box', ['llama', 'meta/llama'], true);
const hub = provider('hub', ['meta/llama', 'gpt-5']);

async function route(model: string, ...providers: Provider[]): Promise<string> {
  try {
    const destination = await new Router(providers).route(model);
    return `${destination.provider.name} ${destination.id}`;
  } catch (error) {
    return error instanceof AppError ? error.code : String(error);
  }
}

const CASES: ReadonlyArray<readonly [model: string, providers: Provider[], expected: string]> = [
  ['local/echo', [local], 'local echo'],
  ['echo', [local], 'local echo'],
  ['local/other', [local, openai], 'model_not_found'],
  ['local/', [local], 'model_not_found'],
  ['gpt-5', [local], 'model_not_found'],
  ['gpt-5', [openai, local], 'openai gpt-5'],
  ['gpt-9-unlisted', [openai, local], 'openai gpt-9-unlisted'],
  ['openai/gpt-9-unlisted', [openai, local], 'openai gpt-9-unlisted'],
  ['box/llama', [openai, box, local], 'box llama'],
  ['llama', [openai, box, local], 'box llama'],
  ['box/meta/llama', [openai, box, local], 'box meta/llama'],
  ['meta/llama', [openai, box, local], 'box meta/llama'],
  ['box/unlisted', [openai, box, local], 'model_not_found'],
  ['hub/unlisted', [hub, local], 'hub unlisted'],
  ['unlisted', [hub, local], 'model_not_found'],
  ['meta/other', [openai, hub, local], 'openai meta/other'],
  ['gpt-5', [provider('openai', ['gpt-5'], true), local], 'openai gpt-5'],
  ['gpt-6', [provider('openai', ['gpt-5'], true), local], 'model_not_found'],
];

describe('a call', () => {
  for (const [model, providers, expected] of CASES)
    test(`for ${model} among ${providers.map(({ name }) => name).join(', ')}: ${expected}`, async () =>
      expect(await route(model, ...providers)).toBe(expected));
});

test('a name that is nearly one is answered with the nearest names', async () => {
  const error = await new Router([box, local]).route('local/ehco').catch((thrown: AppError) => thrown);
  expect((error as AppError).http).toBe(404);
  expect((error as AppError).hint).toBe('Did you mean local/echo?');
});

test('the list has every model under the name that calls use', async () => {
  const list = await new Router([box, local]).list();
  expect(list.map(({ id }) => id)).toEqual(['box/llama', 'box/meta/llama', 'local/echo']);
});

test('one model is found by its full name and by its bare one', async () => {
  const router = new Router([box, local]);
  expect((await router.get('local/echo')).id).toBe('local/echo');
  expect((await router.get('echo')).id).toBe('local/echo');
  expect((await router.get('meta/llama')).id).toBe('box/meta/llama');
  expect(((await router.get('nothing').catch((error: unknown) => error)) as AppError).code).toBe(
    'model_not_found',
  );
});
