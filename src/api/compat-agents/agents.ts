import { endpoint, type Group } from '../endpoint.ts';
import { ids, nullable, object, open, stringMap, t } from '../schema.ts';
import { cursorQuery, page } from './paging.ts';
import { AgentReasoning, AgentText, agentSettings, CompatAgentTool, MultiAgent } from './tools.ts';

/** What a new agent is made of. */
export const CompatAgentRequest = open(
  'AgentCreateRequest',
  { model: t.String({ minLength: 1 }) },
  { ...agentSettings, metadata: nullable(stringMap()), name: nullable(t.String()) },
);

const CompatAgentUpdate = open(
  'AgentUpdateRequest',
  {},
  {
    ...agentSettings,
    metadata: nullable(stringMap()),
    model: t.String({ minLength: 1 }),
    name: nullable(t.String()),
  },
);

/** An agent. */
export const CompatAgent = open(
  'Agent',
  {
    id: t.String(),
    object: t.Literal('agent'),
    created_at: t.Integer({ description: 'Unix time in seconds.' }),
    updated_at: t.Integer(),
    model: t.String(),
    name: nullable(t.String()),
    instructions: nullable(t.String()),
    metadata: stringMap(),
    multi_agent: MultiAgent,
    reasoning: AgentReasoning,
    service_tier: t.String(),
    text: AgentText,
    tools: t.Array(CompatAgentTool),
  },
  { compaction: agentSettings.compaction, experimental: agentSettings.experimental },
);

const here = { spec: 'compat-agents-rest', tag: 'Compat agents', unbuilt: true } as const;

/** Agents, in the wire format of stock clients. */
export const compatAgents = {
  CreateAgent: endpoint({
    ...here,
    id: 'CreateAgent',
    method: 'POST',
    path: '/compat/v1/agents',
    summary: 'Create an agent',
    body: CompatAgentRequest,
    response: CompatAgent,
    access: 'member',
  }),
  ListAgents: endpoint({
    ...here,
    id: 'ListAgents',
    method: 'GET',
    path: '/compat/v1/agents',
    summary: 'List the agents',
    query: cursorQuery,
    response: page('AgentList', CompatAgent),
    access: 'viewer',
  }),
  GetAgent: endpoint({
    ...here,
    id: 'GetAgent',
    method: 'GET',
    path: '/compat/v1/agents/{agentId}',
    summary: 'Get an agent',
    params: ids('agentId'),
    response: CompatAgent,
    access: 'viewer',
  }),
  UpdateAgent: endpoint({
    ...here,
    id: 'UpdateAgent',
    method: 'POST',
    path: '/compat/v1/agents/{agentId}',
    summary: 'Change an agent',
    params: ids('agentId'),
    body: CompatAgentUpdate,
    response: CompatAgent,
    access: 'member',
  }),
  DeleteAgent: endpoint({
    ...here,
    id: 'DeleteAgent',
    method: 'DELETE',
    path: '/compat/v1/agents/{agentId}',
    summary: 'Delete an agent',
    params: ids('agentId'),
    response: object('AgentDeleted', {
      id: t.String(),
      object: t.Literal('agent.deleted'),
      deleted: t.Boolean(),
    }),
    access: 'member',
  }),
} satisfies Group;
