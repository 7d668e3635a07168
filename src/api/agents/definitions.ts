import { endpoint, type Group } from '../endpoint.ts';
import { enumeration, fields, ids, int32, model, object, oneOf, struct, t, timestamp } from '../schema.ts';
import { MEMORY_SCOPES } from './memories.ts';

/** Who may talk to an agent: people, or other agents only. */
export const AgentMode = enumeration('AgentMode', [
  'AGENT_MODE_UNSPECIFIED',
  'AGENT_MODE_PRIMARY',
  'AGENT_MODE_SUBAGENT',
]);

/** Whether an agent asks before it acts. */
export const TaskPermissionMode = enumeration('TaskPermissionMode', [
  'TASK_PERMISSION_MODE_UNSPECIFIED',
  'TASK_PERMISSION_MODE_ASK',
  'TASK_PERMISSION_MODE_ALWAYS',
  'TASK_PERMISSION_MODE_DENY',
]);

/** How far an agent may go on its own. */
export const AgentExecutionPolicy = model('AgentExecutionPolicy', {
  taskPermissionMode: TaskPermissionMode,
  maxSteps: int32(),
  workingDirectory: t.String(),
});

/** What an agent remembers, and when it looks. */
export const AgentMemoryConfig = model('AgentMemoryConfig', {
  enabled: t.Boolean(),
  scope: oneOf(...MEMORY_SCOPES),
  autoRetrieve: t.Boolean(),
  autoRetrieveTopK: int32({ description: '10 when absent.' }),
  autoExtract: t.Boolean(),
});

/** An agent: its model, instructions, tools and limits. */
export const AgentDefinition = model('AgentDefinition', {
  id: t.String(),
  tenantId: t.String(),
  name: t.String(),
  description: t.String(),
  model: t.String(),
  systemPrompt: t.String(),
  tools: t.Array(t.String()),
  config: struct(),
  maxTurns: int32(),
  maxToolCallsPerTurn: int32(),
  enabled: t.Boolean(),
  createdAt: timestamp(),
  updatedAt: timestamp(),
  mode: AgentMode,
  maxSteps: int32(),
  taskPermissionMode: TaskPermissionMode,
  hidden: t.Boolean(),
  color: t.String(),
  workingDirectory: t.String(),
  mentionAlias: t.String(),
  executionPolicy: AgentExecutionPolicy,
  memoryConfig: AgentMemoryConfig,
  version: int32({ description: 'Counts up with every change.' }),
});

/** One change of an agent, without what it has become. */
export const AgentVersion = object(
  'AgentVersion',
  {
    version: int32(),
    createdAt: timestamp(),
    changedBy: t.String({ description: 'The user or the key.' }),
    changes: t.Array(t.String(), { description: 'The fields that it has changed.' }),
  },
  { changedByAgent: t.String({ description: 'The agent that has done it for them, when one has.' }) },
);

const warnings = t.Array(t.String(), {
  description: 'What may be meant otherwise. Nothing is refused for it.',
});

const here = { spec: 'agents', tag: 'Agents' } as const;

/** Agents: their model, instructions, tools and limits. */
export const agentDefinitions = {
  ListAgents: endpoint({
    ...here,
    id: 'ListAgents',
    method: 'GET',
    path: '/v1/agents',
    summary: 'List the agents',
    query: fields({
      tenantId: t.String(),
      enabled: t.Boolean(),
      limit: int32(),
      offset: int32(),
      includeHidden: t.Boolean(),
      mode: AgentMode,
    }),
    response: model('ListAgentsResponse', { agents: t.Array(AgentDefinition), total: int32() }),
    access: 'viewer',
  }),
  CreateAgent: endpoint({
    ...here,
    id: 'CreateAgent',
    method: 'POST',
    path: '/v1/agents',
    summary: 'Create an agent',
    body: model('CreateAgentRequest', {
      tenantId: t.String(),
      name: t.String(),
      description: t.String(),
      model: t.String(),
      systemPrompt: t.String(),
      tools: t.Array(t.String()),
      config: struct(),
      maxTurns: int32(),
      maxToolCallsPerTurn: int32(),
      mode: AgentMode,
      maxSteps: int32(),
      taskPermissionMode: TaskPermissionMode,
      hidden: t.Boolean(),
      color: t.String(),
      workingDirectory: t.String(),
      mentionAlias: t.String(),
      executionPolicy: AgentExecutionPolicy,
      memoryConfig: AgentMemoryConfig,
    }),
    response: model('CreateAgentResponse', { agent: AgentDefinition, warnings }),
    access: 'member',
  }),
  GetAgent: endpoint({
    ...here,
    id: 'GetAgent',
    method: 'GET',
    path: '/v1/agents/{id}',
    summary: 'Get an agent',
    params: ids('id'),
    query: fields({ tenantId: t.String() }),
    response: model('GetAgentResponse', { agent: AgentDefinition }),
    access: 'viewer',
  }),
  UpdateAgent: endpoint({
    ...here,
    id: 'UpdateAgent',
    method: 'PATCH',
    path: '/v1/agents/{id}',
    summary: 'Change an agent; running sessions keep what they began with',
    params: ids('id'),
    body: model('AgentsServiceUpdateAgentBody', {
      tenantId: t.String(),
      name: t.String(),
      description: t.String(),
      model: t.String(),
      systemPrompt: t.String(),
      tools: t.Array(t.String()),
      config: struct(),
      maxTurns: int32(),
      maxToolCallsPerTurn: int32(),
      enabled: t.Boolean(),
      mode: AgentMode,
      maxSteps: int32(),
      taskPermissionMode: TaskPermissionMode,
      hidden: t.Boolean(),
      color: t.String(),
      workingDirectory: t.String(),
      mentionAlias: t.String(),
      executionPolicy: AgentExecutionPolicy,
      memoryConfig: AgentMemoryConfig,
      clearTools: t.Boolean({
        description: 'Empties the list of tools; an empty list alone changes nothing.',
      }),
      version: int32({
        description: 'The version that the change was made from: 409 when another has come in between.',
      }),
    }),
    response: model('UpdateAgentResponse', { agent: AgentDefinition, warnings }),
    access: 'member',
  }),
  DeleteAgent: endpoint({
    ...here,
    id: 'DeleteAgent',
    method: 'DELETE',
    path: '/v1/agents/{id}',
    summary: 'Delete an agent',
    params: ids('id'),
    query: fields({ tenantId: t.String() }),
    response: model('DeleteAgentResponse', { success: t.Boolean(), message: t.String() }),
    access: 'member',
  }),
  ImportAgentFromOpencode: endpoint({
    ...here,
    id: 'ImportAgentFromOpencode',
    method: 'POST',
    path: '/v1/agents/import/opencode',
    summary: 'Import an agent in the opencode format',
    body: model('ImportAgentFromOpencodeRequest', {
      tenantId: t.String(),
      opencodeAgentJson: t.String(),
      dryRun: t.Boolean(),
    }),
    response: model('ImportAgentFromOpencodeResponse', {
      valid: t.Boolean(),
      warnings: t.Array(t.String()),
      agent: AgentDefinition,
    }),
    access: 'member',
  }),
  ExportAgentToOpencode: endpoint({
    ...here,
    id: 'ExportAgentToOpencode',
    method: 'GET',
    path: '/v1/agents/{id}/export/opencode',
    summary: 'Export an agent to the opencode format',
    params: ids('id'),
    query: fields({ tenantId: t.String() }),
    response: model('ExportAgentToOpencodeResponse', {
      opencodeAgentJson: t.String(),
      warnings: t.Array(t.String()),
    }),
    access: 'viewer',
  }),
  ListAgentVersions: endpoint({
    ...here,
    spec: 'extra',
    id: 'ListAgentVersions',
    method: 'GET',
    path: '/v1/agents/{id}/versions',
    summary: 'Show the last 100 changes of an agent, newest first',
    params: ids('id'),
    query: fields({ tenantId: t.String() }),
    response: object('ListAgentVersionsResponse', { versions: t.Array(AgentVersion) }),
    access: 'viewer',
  }),
  GetAgentVersion: endpoint({
    ...here,
    spec: 'extra',
    id: 'GetAgentVersion',
    method: 'GET',
    path: '/v1/agents/{id}/versions/{version}',
    summary: 'Show an agent as it was at a version',
    params: t.Object({ id: t.String({ minLength: 1 }), version: int32({ minimum: 1 }) }),
    query: fields({ tenantId: t.String() }),
    response: object('GetAgentVersionResponse', { version: AgentVersion, agent: AgentDefinition }),
    access: 'viewer',
  }),
  RestoreAgentVersion: endpoint({
    ...here,
    spec: 'extra',
    id: 'RestoreAgentVersion',
    method: 'POST',
    path: '/v1/agents/{id}/versions/{version}/restore',
    summary: 'Make an agent what it was at a version; that is a new version',
    params: t.Object({ id: t.String({ minLength: 1 }), version: int32({ minimum: 1 }) }),
    body: model('RestoreAgentVersionRequest', { tenantId: t.String() }),
    response: object('RestoreAgentVersionResponse', { agent: AgentDefinition }),
    access: 'member',
  }),
} satisfies Group;
