import type { App } from '../../../app.ts';
import type { Caller, Route } from '../../../http/route.ts';
import type { Converse, Embed } from '../../gateway/index.ts';
import { CodeCache, type MemoryModule } from '../../memory/index.ts';
import type { Agent, Agents } from '../definitions/agent.ts';
import { memoryTools } from '../tools/memory/index.ts';
import type { ToolSource } from '../tools/tool.ts';
import { Accesses } from './accesses.ts';
import type { AgentMemories, Recalled } from './face.ts';
import { Forgetting } from './forgetting.ts';
import { Learning } from './learning/learning.ts';
import { LessonStore } from './learning/lesson-store.ts';
import { LIMITS } from './limits.ts';
import { Placing } from './placing.ts';
import { Recall } from './recall.ts';
import { RecallStore } from './recall-store.ts';
import { Remembering } from './remembering.ts';
import { memoryRoutes } from './routes.ts';
import { MemoryService } from './service.ts';
import { shelvesWithin, userOf } from './shelves.ts';
import { MemoryStore } from './store.ts';
import type { MemoryRow } from './tables.ts';
import { VectorStore } from './vector-store.ts';
import { Vectors } from './vectors.ts';

export { memoryPrompt } from './prompt.ts';

/** What the memory of agents takes from its surroundings. */
export interface MemoriesNeeds {
  readonly agents: Agents;
  readonly embed: Embed;
  readonly converse: Converse;
  /** The model that makes vectors of a tenant's memories; undefined: they are found by their words alone. */
  readonly embeddingModel: (tenant: string) => string | undefined;
  /** Memory collections, which agents may search. */
  readonly documents: Pick<MemoryModule['documents'], 'query'>;
}

/** The memory of agents, ready to be composed. */
export interface MemoriesRoom {
  readonly routes: readonly Route[];
  readonly memories: AgentMemories;
  /** memory_query and memory_store. */
  readonly tools: ToolSource;
  start(): void;
  stop(): void;
}

/** What agents remember: kept, superseded, recalled, and learned from what users say. */
export function createMemoriesRoom(app: App, needs: MemoriesNeeds): MemoriesRoom {
  const memories = new MemoryStore(app.db);
  const vectorStore = new VectorStore(app.db);
  const cache = new CodeCache(vectorStore, LIMITS.vectorCacheBytes);
  const vectors = new Vectors(app, { ...needs, store: vectorStore, cache });
  const accesses = new Accesses(app, memories);
  const store = new RecallStore(app.db);
  const recall = new Recall({ memories, store, vectorStore, cache, vectors, accesses });
  const placing = new Placing(app, { memories, vectorStore });
  const remembering = new Remembering(app, { memories, vectors, recall, placing });
  const lessons = new LessonStore(app.db);
  const learning = new Learning(app, { ...needs, lessons, memories, remembering });
  new Forgetting(app, { ...needs, memories, vectorStore, cache, placing });
  const service = new MemoryService(app, { ...needs, memories, vectorStore, vectors, remembering, placing });
  const face: AgentMemories = {
    recall: (caller, agent, wish) => recall.find(caller, reachOf(caller, agent), wish),
    remember: async (caller, agent, memory, signal) =>
      recalled(await remembering.keepOne({ caller, agentId: agent.id, signal }, memory)),
    learn: (caller, agent, turn) => learning.note(caller, agent, turn),
  };
  return {
    routes: memoryRoutes(service),
    memories: face,
    tools: memoryTools({
      recall: face.recall,
      rememberOnce: async (caller, agent, callId, memory, signal) =>
        recalled(await remembering.keepOnce({ caller, agentId: agent.id, signal }, callId, memory)),
      documents: needs.documents,
    }),
    start() {
      vectors.start();
      accesses.start();
    },
    stop: () => accesses.stop(),
  };
}

function reachOf(caller: Caller, agent: Agent) {
  return shelvesWithin(agent.memory.scope, { agentId: agent.id, userId: userOf(caller) });
}

/** A memory as one that was just recalled. */
function recalled({ id, type, scope, content, factKey, confidence }: MemoryRow): Recalled {
  return { id, type, scope, content, factKey, confidence, score: 1 };
}
