import { endpoint, type Group } from '../endpoint.ts';
import { fields, ids, int32, model, oneOf, t, timestamp } from '../schema.ts';

/** The kinds of memory that agents keep. */
export const MEMORY_TYPES = ['fact', 'instruction', 'session_summary', 'document'] as const;

/** Who shares a memory: one agent, all agents of a user, or the tenant. */
export const MEMORY_SCOPES = ['agent', 'user', 'global'] as const;

/** A memory of an agent. */
export const AgentMemoryEntry = model('AgentMemoryEntry', {
  id: t.String(),
  agentId: t.String(),
  tenantId: t.String(),
  memoryType: oneOf(...MEMORY_TYPES),
  content: t.String(),
  factKey: t.String(),
  confidence: t.Number(),
  source: oneOf('auto_extracted', 'user_explicit', 'tool_stored', 'consolidation'),
  scope: oneOf(...MEMORY_SCOPES),
  userId: t.String(),
  accessCount: int32(),
  isActive: t.Boolean(),
  createdAt: timestamp(),
  updatedAt: timestamp(),
  sourceSessionId: t.String(),
  sourceTurnNumber: int32(),
  supersededBy: t.String(),
  lastAccessedAt: timestamp(),
});

const here = { spec: 'agents', tag: 'Agent memories' } as const;

/** What agents remember between sessions. */
export const agentMemories = {
  ListAgentMemories: endpoint({
    ...here,
    id: 'ListAgentMemories',
    method: 'GET',
    path: '/v1/agents/{agentId}/memories',
    summary: 'List the memories of an agent',
    params: ids('agentId'),
    query: fields({
      tenantId: t.String(),
      memoryType: oneOf(...MEMORY_TYPES),
      scope: oneOf(...MEMORY_SCOPES),
      activeOnly: t.Boolean(),
      includeShared: t.Boolean({
        description: 'Also what other agents have kept for this user and for the tenant.',
      }),
      limit: int32(),
      offset: int32(),
    }),
    response: model('ListAgentMemoriesResponse', { memories: t.Array(AgentMemoryEntry), total: int32() }),
    access: 'viewer',
  }),
  CreateAgentMemory: endpoint({
    ...here,
    id: 'CreateAgentMemory',
    method: 'POST',
    path: '/v1/agents/{agentId}/memories',
    summary: 'Give an agent a memory',
    params: ids('agentId'),
    body: model('AgentsServiceCreateAgentMemoryBody', {
      tenantId: t.String(),
      memoryType: oneOf(...MEMORY_TYPES),
      content: t.String(),
      factKey: t.String(),
      confidence: t.Number(),
      scope: oneOf(...MEMORY_SCOPES),
    }),
    response: model('CreateAgentMemoryResponse', { memory: AgentMemoryEntry }),
    access: 'member',
  }),
  UpdateAgentMemory: endpoint({
    ...here,
    id: 'UpdateAgentMemory',
    method: 'PATCH',
    path: '/v1/agents/memories/{memoryId}',
    summary: 'Change a memory',
    params: ids('memoryId'),
    body: model('AgentsServiceUpdateAgentMemoryBody', {
      tenantId: t.String(),
      content: t.String(),
      factKey: t.String(),
      confidence: t.Number(),
    }),
    response: model('UpdateAgentMemoryResponse', { memory: AgentMemoryEntry }),
    access: 'member',
  }),
  DeactivateAgentMemory: endpoint({
    ...here,
    id: 'DeactivateAgentMemory',
    method: 'POST',
    path: '/v1/agents/memories/{memoryId}/deactivate',
    summary: 'Retire a memory and keep its record',
    params: ids('memoryId'),
    body: model('AgentsServiceDeactivateAgentMemoryBody', { tenantId: t.String() }),
    response: model('DeactivateAgentMemoryResponse', { success: t.Boolean() }),
    access: 'member',
  }),
  DeleteAgentMemory: endpoint({
    ...here,
    id: 'DeleteAgentMemory',
    method: 'DELETE',
    path: '/v1/agents/memories/{memoryId}',
    summary: 'Delete a memory',
    params: ids('memoryId'),
    query: fields({ tenantId: t.String() }),
    response: model('DeleteAgentMemoryResponse', { success: t.Boolean() }),
    access: 'member',
  }),
  SetupMemory: endpoint({
    ...here,
    id: 'SetupMemory',
    method: 'POST',
    path: '/v1/agents/memory/setup',
    summary: 'Prepare the store that memories are searched in',
    body: model('SetupMemoryRequest', {}),
    response: model('SetupMemoryResponse', {
      success: t.Boolean(),
      message: t.String(),
      backend: t.String(),
    }),
    access: 'admin',
  }),
} satisfies Group;
