import { agentReviews } from '../../../src/api/agents/reviews.ts';
import { agentSpawn, type SpawnTreeNode } from '../../../src/api/agents/spawn.ts';
import type { Value } from '../../../src/api/schema.ts';
import type { Client } from '../../../src/client/client.ts';
import type { ShownReview } from '../review/shown.ts';

/** An agent of a tree: `executionId` is its session. */
export type SpawnNode = Value<typeof SpawnTreeNode>;

/** The tree of agents that a session belongs to, from its root on; empty when it has started none. Errors: not_found. */
export async function treeBelow(client: Client, sessionId: string): Promise<SpawnNode[]> {
  const params = { sessionId };
  const { nodes: below = [] } = await client.call(agentSpawn.ListSpawnNodes, { params, query: { limit: 1 } });
  const treeId = below[0]?.treeId;
  if (!treeId) return [];
  const { nodes = [] } = await client.call(agentSpawn.GetSpawnTree, { params: { treeId }, query: {} });
  return nodes;
}

/** The sessions of the agents that a session has started, and that those have. */
export function sessionsBelow(nodes: readonly SpawnNode[], sessionId: string): string[] {
  const own = nodes.find(({ executionId }) => executionId === sessionId);
  const children = nodes.filter(({ parentNodeId }) => own?.id && parentNodeId === own.id);
  return children.flatMap(({ executionId = '' }) => [executionId, ...sessionsBelow(nodes, executionId)]);
}

/** What a session waits for, and what the agents wait for that it has started. Errors: not_found. */
export async function pendingBelow(client: Client, sessionId: string): Promise<ShownReview[]> {
  const nodes = await treeBelow(client, sessionId);
  const sessions = [sessionId, ...sessionsBelow(nodes, sessionId)];
  const pages = await Promise.all(
    sessions.map((id) =>
      client.call(agentReviews.ListReviews, {
        query: { sessionId: id, status: 'APPROVAL_REVIEW_STATUS_PENDING' },
      }),
    ),
  );
  return pages.flatMap(({ reviews = [] }) => reviews);
}
