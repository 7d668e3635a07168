import { systemClock } from '../../../../src/kit/time.ts';
import type { App } from '../../../app.ts';
import type { Caller } from '../../../http/route.ts';
import { openTestApp } from '../../../testing/app.ts';
import type { Converse } from '../../gateway/index.ts';
import type { Agent } from '../definitions/agent.ts';
import { EventStore } from '../events/store.ts';
import type { Review } from '../reviews/face.ts';
import { createReviewsRoom, policy } from '../reviews/index.ts';
import { createSessionsRoom, type SessionsRoom } from '../sessions/index.ts';
import type { ToolSource } from '../tools/tool.ts';

/** Who speaks in tests. */
export const CALLER: Caller = {
  tenant: 'org_a',
  role: 'member',
  actor: 'usr_a',
  userId: 'usr_a',
  via: 'api-key',
};

/** An agent for tests. */
export function testAgent(change: Partial<Agent> = {}): Agent {
  return {
    id: 'agt_test',
    tenant: CALLER.tenant,
    name: 'tester',
    description: '',
    model: 'test/model',
    systemPrompt: '',
    tools: [],
    config: {
      lifecycle: 'ephemeral',
      identity: [],
      model: {},
      fallbackModels: [],
      approval: { tools: [], matchMode: 'exact', timeoutMs: 60_000, defaultAction: 'deny' },
      sandbox: {},
      spawn: { agents: [], async: true, maxConcurrentJobs: 4, maxDepth: 3, maxNodes: 32, maxTokens: 0 },
      compaction: { enabled: false, model: '', contextTokens: 0 },
    },
    maxTurns: 0,
    maxToolCallsPerTurn: 0,
    maxSteps: 0,
    mode: 'primary',
    permissionMode: 'rules',
    workingDirectory: '',
    memory: { enabled: false, scope: 'agent', autoRetrieve: false, autoRetrieveTopK: 10, autoExtract: false },
    version: 1,
    ...change,
  };
}

/** What sessions are tested with. */
export interface TestRooms {
  readonly app: App;
  readonly room: SessionsRoom;
  readonly events: EventStore;
  /** Decides a review as a person does. */
  readonly decide: (id: string, action: 'approve' | 'deny') => void;
  /** The reviews that are open. */
  readonly open: () => ReadonlyArray<Pick<Review, 'id' | 'note' | 'calls'>>;
}

/** The rooms of sessions and reviews over one database, as one process of the daemon has them. */
export function openRooms(
  agents: readonly Agent[],
  converse: Converse,
  sources: readonly ToolSource[],
  app: App = openTestApp(systemClock, {}),
): TestRooms {
  const reviews = createReviewsRoom(app);
  const find = (tenant: string, reference: string) =>
    agents.find((one) => one.tenant === tenant && (one.id === reference || one.name === reference));
  const room = createSessionsRoom(app, {
    agents: { find, get: (tenant, id) => find(tenant, id) ?? never(id) },
    converse,
    contextWindow: () => undefined,
    reviews: reviews.reviews,
    policy,
    sources,
    cap: (_context, output) => output,
    memories: {
      recall: async () => [],
      remember: () => Promise.reject(new Error('nothing is remembered here')),
      learn: () => undefined,
    },
    memoryPrompt: () => '',
    clear: async () => undefined,
    allow: () => undefined,
  });
  room.start();
  reviews.start();
  return {
    app,
    room,
    events: new EventStore(app.db),
    decide: (id, action) => {
      reviews.service.submit(CALLER, id, {
        action: action === 'approve' ? 'APPROVAL_ACTION_APPROVE' : 'APPROVAL_ACTION_DENY',
      });
    },
    open: () => reviews.service.list(CALLER.tenant, { status: 'pending', limit: 50, offset: 0 }).rows,
  };
}

function never(id: string): never {
  throw new Error(`no agent ${id}`);
}
