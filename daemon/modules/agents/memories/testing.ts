import type { AgentMemoryEntry } from '../../../../src/api/agents/memories.ts';
import type { Value } from '../../../../src/api/schema.ts';
import { fail } from '../../../../src/errors/app-error.ts';
import type { Clock } from '../../../../src/kit/time.ts';
import type { App } from '../../../app.ts';
import type { Call, Caller } from '../../../http/route.ts';
import { openTestApp } from '../../../testing/app.ts';
import type { Reply } from '../../gateway/index.ts';
import type { Agent, MemorySettings } from '../definitions/agent.ts';
import type { ToolContext } from '../tools/tool.ts';
import { createMemoriesRoom, type MemoriesRoom } from './index.ts';

/** Memory of agents over a real database, with vectors that are made of words and a model that a test answers for. */
export interface MemoriesScene {
  readonly app: App;
  readonly room: MemoriesRoom;
  readonly clock: Clock & { ms: number };
  /** Texts of each call for vectors. */
  readonly embedded: Array<readonly string[]>;
  /** Prompts of each call of the model. */
  readonly asked: string[];
  /** The model of vectors; undefined: there is none. Or one that does not answer. */
  model: string | undefined;
  /** Agents that are there. */
  readonly agents: Agent[];
  /** What the model answers. */
  answer: (call: number) => string;
  /** Calls an operation. */
  call(
    operation: string,
    input?: Partial<Pick<Call, 'params' | 'body' | 'query'>>,
    caller?: Caller,
  ): Promise<never>;
}

/** A person of a tenant. */
export function person(userId = 'usr_ann', tenant = 'org_a'): Caller {
  return { tenant, role: 'owner', actor: userId, userId, via: 'cookie' };
}

/** An agent of a tenant. */
export function agentOf(id: string, memory: Partial<MemorySettings> = {}, tenant = 'org_a'): Agent {
  const settings = {
    enabled: true,
    scope: 'agent',
    autoRetrieve: true,
    autoRetrieveTopK: 10,
    autoExtract: true,
  } as const;
  return {
    id,
    tenant,
    name: id,
    model: 'test/model',
    memory: { ...settings, ...memory },
  } as unknown as Agent;
}

/** Where a call of a tool stands; `notes` gets what it notes. */
export function toolContext(agent: Agent, callId = 'call_1', notes: string[] = []): ToolContext {
  return {
    ...{ agent, callId, caller: person(), sessionId: 'ses_1', turnNumber: 3, signal: never },
    note: (text) => void notes.push(text),
    tell: () => undefined,
  };
}

/** A signal that does not fire. */
export const never = new AbortController().signal;

const DIMENSION = 64;

/** Starts one with the agents agt_1 and agt_2 of org_a and agt_b of org_b. A text with the word "poison" has no vector. */
export function openMemories(model: string | undefined, app?: App): MemoriesScene {
  const clock = { ms: Date.parse('2026-03-01T12:30:00Z'), now: () => clock.ms };
  const used = app ?? openTestApp(clock, {});
  const agents = [agentOf('agt_1'), agentOf('agt_2'), agentOf('agt_b', {}, 'org_b')];
  const find = (tenant: string, id: string) => agents.find((one) => one.id === id && one.tenant === tenant);
  const scene: Omit<MemoriesScene, 'room' | 'call'> = {
    ...{ app: used, clock, model, agents, embedded: [], asked: [] },
    answer: () => '{"facts": []}',
  };
  const room = createMemoriesRoom(used, {
    agents: {
      find,
      get(tenant, id) {
        const agent = find(tenant, id);
        if (!agent) throw fail('not_found', { what: 'agent', id });
        return agent;
      },
    },
    embeddingModel: () => scene.model,
    async embed(_, { model, texts }) {
      await Bun.sleep(0);
      if (model === 'down' || texts.some((text) => text.includes('poison')))
        throw fail('upstream_failed', { message: 'down' });
      scene.embedded.push(texts);
      return texts.map(vectorOf);
    },
    async converse(_, { request }) {
      await Bun.sleep(0);
      scene.asked.push(request.messages.map(({ content }) => content).join('\n'));
      const message = { role: 'assistant' as const, content: scene.answer(scene.asked.length) };
      return { message, finishReason: 'stop' } as Reply;
    },
    documents: {
      async query(_, name, { query = '' }) {
        if (name !== 'manuals') throw fail('not_found', { what: 'collection', id: name });
        const text = `about ${query}`;
        return [
          {
            seq: 1,
            documentId: 'd1',
            position: 0,
            text,
            metadata: {},
            score: 0.5,
            rank: 1,
            foundBy: 'words',
          },
        ];
      },
    },
  });
  return Object.assign(scene, {
    room,
    async call(operation: string, input = {}, caller = person()) {
      const route = room.routes.find(({ endpoint }) => endpoint.id === operation);
      if (!route) throw new Error(`There is no operation ${operation}.`);
      const made = { params: {}, body: {}, query: {}, ...input, caller, signal: never } as unknown as Call;
      return (await route.handle(made)) as never;
    },
  });
}

/** Texts with the same words are near each other. */
function vectorOf(text: string): Float32Array {
  const vector = new Float32Array(DIMENSION);
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []) {
    const hash = Bun.hash.xxHash32(word);
    vector[hash % DIMENSION] = (vector[hash % DIMENSION] ?? 0) + ((hash >> 16) & 1 ? 1 : -1);
  }
  return vector;
}

/** Gives an agent a memory over the API. */
export async function add(
  scene: MemoriesScene,
  body: Record<string, unknown>,
  agentId = 'agt_1',
  caller = person(),
): Promise<Entry> {
  const answer: { memory: Entry } = await scene.call(
    'CreateAgentMemory',
    { params: { agentId }, body },
    caller,
  );
  return answer.memory;
}

/** The memories of an agent, as the API lists them. */
export async function list(
  scene: MemoriesScene,
  query: Record<string, unknown> = {},
  agentId = 'agt_1',
  caller = person(),
): Promise<{ memories: Entry[]; total: number }> {
  return await scene.call('ListAgentMemories', { params: { agentId }, query }, caller);
}

/** What memories say. */
export function contents(entries: ReadonlyArray<{ content?: string }>): string[] {
  return entries.map(({ content }) => content ?? '');
}

type Entry = Value<typeof AgentMemoryEntry>;
