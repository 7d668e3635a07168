import { endpoint, type Group } from '../endpoint.ts';
import { fields, ids, int32, model, t, timestamp } from '../schema.ts';

/** An agent that was started by another one. */
export const SpawnTreeNode = model('SpawnTreeNode', {
  id: t.String(),
  treeId: t.String(),
  parentNodeId: t.String(),
  agentId: t.String(),
  depth: int32(),
  status: t.String(),
  task: t.String(),
  result: t.String(),
  promptTokens: int32(),
  completionTokens: int32(),
  totalTokens: int32(),
  startedAt: timestamp(),
  completedAt: timestamp(),
  executionId: t.String(),
  tenantId: t.String(),
});

const here = { spec: 'agents', tag: 'Sub-agents' } as const;

/** The trees of agents that agents have started. */
export const agentSpawn = {
  ListSpawnNodes: endpoint({
    ...here,
    id: 'ListSpawnNodes',
    method: 'GET',
    path: '/v1/agents/sessions/{sessionId}/spawn-nodes',
    summary: 'List the agents that a session has started',
    params: ids('sessionId'),
    query: fields({ tenantId: t.String(), limit: int32(), offset: int32() }),
    response: model('ListSpawnNodesResponse', { nodes: t.Array(SpawnTreeNode), total: int32() }),
    access: 'viewer',
  }),
  GetSpawnTree: endpoint({
    ...here,
    id: 'GetSpawnTree',
    method: 'GET',
    path: '/v1/agents/spawn-trees/{treeId}',
    summary: 'Get a tree of agents',
    params: ids('treeId'),
    query: fields({ tenantId: t.String() }),
    response: model('GetSpawnTreeResponse', { nodes: t.Array(SpawnTreeNode), total: int32() }),
    access: 'viewer',
  }),
} satisfies Group;
