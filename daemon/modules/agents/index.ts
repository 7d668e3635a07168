import { fail } from '../../../src/errors/app-error.ts';
import type { App, Module } from '../../app.ts';
import type { FunctionsFace } from '../functions/index.ts';
import type { Converse, Embed } from '../gateway/index.ts';
import type { InboundTool, McpTools } from '../mcp/index.ts';
import type { MemoryModule } from '../memory/index.ts';
import type { WorkSandboxes } from '../sandbox/index.ts';
import { createDefinitionsRoom } from './definitions/index.ts';
import { createMemoriesRoom, memoryPrompt } from './memories/index.ts';
import { createReviewsRoom, policy } from './reviews/index.ts';
import { createSessionsRoom } from './sessions/index.ts';
import { SessionStore } from './sessions/store.ts';
import { createToolsRoom } from './tools/index.ts';
import { askUserTools } from './tools/others/ask-user.ts';
import { functionTools } from './tools/others/functions.ts';
import { mcpTools } from './tools/others/mcp.ts';
import { platformTools } from './tools/platform/tools.ts';
import type { ToolSource } from './tools/tool.ts';

/** What agents take from the rest of the daemon. */
export interface AgentsOptions {
  readonly converse: Converse;
  readonly embed: Embed;
  /** Tokens that a model takes; undefined when that is not known. */
  readonly contextWindow: (model: string) => number | undefined;
  /** The model that makes vectors of a tenant's memories; undefined: they are found by their words alone. */
  readonly embeddingModel: (tenant: string) => string | undefined;
  /** Whether a tenant may use agents. */
  readonly isOn: (tenant: string) => boolean;
  readonly sandboxes: WorkSandboxes;
  readonly functions: Pick<FunctionsFace, 'find' | 'invoke'>;
  readonly mcp: McpTools;
  readonly documents: Pick<MemoryModule['documents'], 'query'>;
}

/** The module of agents. */
export interface AgentsModule extends Module {
  /** Tools of agents that clients of /mcp may call too. */
  readonly inbound: readonly InboundTool[];
}

/** Agents: definitions, sessions, turns that survive the process, tools, reviews and memories. */
export function createAgentsModule(app: App, options: AgentsOptions): AgentsModule {
  const definitions = createDefinitionsRoom(app, () => sources);
  const { agents } = definitions;
  const reviews = createReviewsRoom(app);
  const memories = createMemoriesRoom(app, { ...options, agents });
  const store = new SessionStore(app.db);
  const tools = createToolsRoom(app, {
    sandboxes: options.sandboxes,
    hasSession: (tenant, id) => store.find(tenant, id) !== undefined,
  });
  const sources: ToolSource[] = [
    ...tools.sources,
    askUserTools,
    memories.tools,
    platformTools(definitions.service),
    mcpTools(options.mcp),
    functionTools(options.functions),
  ];
  const sessions = createSessionsRoom(app, {
    ...options,
    agents,
    reviews: reviews.reviews,
    policy,
    memories: memories.memories,
    memoryPrompt,
    clear: (tenant, agent, sessionId) => tools.endSession(tenant, agent, sessionId),
    allow(tenant) {
      if (!options.isOn(tenant)) throw fail('feature_off', { name: 'enableAgents', what: 'agents' });
    },
    cap: (context, output) => tools.cap(context, output),
    sources,
  });
  return {
    name: 'agents',
    inbound: tools.inbound,
    routes: [
      ...definitions.routes,
      ...reviews.routes,
      ...memories.routes,
      ...tools.routes,
      ...sessions.routes,
    ],
    async start() {
      memories.start();
      sessions.start();
      reviews.start();
    },
    async stop() {
      reviews.stop();
      await sessions.stop();
      memories.stop();
    },
  };
}
