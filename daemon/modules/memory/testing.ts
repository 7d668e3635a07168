import { createHash } from 'node:crypto';
import { fail } from '../../../src/errors/app-error.ts';
import type { Clock } from '../../../src/kit/time.ts';
import type { App } from '../../app.ts';
import type { Call, Caller } from '../../http/route.ts';
import { openTestApp } from '../../testing/app.ts';
import { createMemoryModule, type MemoryModule } from './index.ts';

/** Memory over a real database, with vectors that are made of words in place of a model. */
export interface MemoryScene {
  readonly app: App;
  readonly memory: MemoryModule;
  readonly clock: Clock & { ms: number };
  /** Texts of each call for vectors. */
  readonly embedded: Array<readonly string[]>;
  /** Calls an operation as a tenant. */
  call(operation: string, input?: Partial<Pick<Call, 'params' | 'body'>>, tenant?: string): Promise<never>;
}

/** Numbers in the vectors of this scene. */
export const DIMENSION = 64;

/** A vector of a text: texts with the same words are near each other. */
export function wordVector(text: string, dimension = DIMENSION): Float32Array {
  const vector = new Float32Array(dimension);
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []) {
    const hash = createHash('md5').update(word).digest();
    const at = hash.readUInt32LE(0) % dimension;
    vector[at] = (vector[at] ?? 0) + ((hash[4] ?? 0) & 1 ? 1 : -1);
  }
  return vector;
}

/** Starts one. A text with the word "poison" cannot be embedded. */
export function openMemory(app: App = openTestApp({ now: () => clock.ms }, {})): MemoryScene {
  const embedded: Array<readonly string[]> = [];
  const memory = createMemoryModule(app, async (_, { model, texts, dimensions }) => {
    if (model !== 'words') throw fail('model_not_found', { model, near: [] });
    embedded.push(texts);
    await Bun.sleep(0);
    if (texts.some((text) => text.includes('poison'))) throw fail('upstream_failed', { message: 'poisoned' });
    return texts.map((text) => wordVector(text, dimensions));
  });
  const call = async (operation: string, input = {}, tenant = 'org_a') => {
    const route = memory.routes.find(({ endpoint }) => endpoint.id === operation);
    if (!route) throw new Error(`There is no operation ${operation}.`);
    const caller: Caller = { tenant, role: 'owner', actor: 'key_1', via: 'api-key' };
    const signal = new AbortController().signal;
    const made = { params: {}, body: {}, query: {}, ...input, caller, signal } as unknown as Call;
    return (await route.handle(made)) as never;
  };
  return { app, memory, clock, embedded, call };
}

const clock = { ms: Date.parse('2026-03-01T12:30:00Z'), now: () => clock.ms };
