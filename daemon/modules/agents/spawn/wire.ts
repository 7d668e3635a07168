import type { SpawnTreeNode } from '../../../../src/api/agents/spawn.ts';
import type { Value } from '../../../../src/api/schema.ts';
import { rfc3339 } from '../../../../src/kit/time.ts';
import type { KnownNode } from './store.ts';

/** How a node stands, in one word. */
export function nodeStatus({ session, error }: KnownNode): string {
  if (session.status === 'completed') return error === null ? 'completed' : 'failed';
  return session.status === 'created' ? 'pending' : session.status;
}

/** A node on the wire. `executionId` is its session. */
export function nodeWire(known: KnownNode): Value<typeof SpawnTreeNode> {
  const { node, session, result, error } = known;
  return {
    id: node.id,
    treeId: node.treeId,
    parentNodeId: node.parentId ?? '',
    agentId: session.agentId,
    depth: node.depth,
    status: nodeStatus(known),
    task: node.task,
    result: error ?? result ?? '',
    promptTokens: session.promptTokens,
    completionTokens: session.completionTokens,
    totalTokens: session.promptTokens + session.completionTokens,
    startedAt: rfc3339(node.createdAt),
    ...(session.completedAt === null ? {} : { completedAt: rfc3339(session.completedAt) }),
    executionId: node.sessionId,
    tenantId: node.tenant,
  };
}
