import { endpoint, type Group } from '../endpoint.ts';
import { fields, ids, int32, model, oneOf, struct, t, timestamp } from '../schema.ts';
import { AgentSessionTurn, SessionStatus } from './turns.ts';

/** A session of an agent. */
export const AgentSession = model('AgentSession', {
  id: t.String(),
  tenantId: t.String(),
  agentId: t.String(),
  status: SessionStatus,
  turnCount: int32(),
  totalTokens: int32(),
  metadata: struct(),
  createdAt: timestamp(),
  updatedAt: timestamp(),
  completedAt: timestamp(),
  turns: t.Array(AgentSessionTurn),
});

const here = { spec: 'agents', tag: 'Agent sessions' } as const;

/** Sessions: runs of an agent that hold its turns. */
export const agentSessions = {
  ListSessions: endpoint({
    ...here,
    id: 'ListSessions',
    method: 'GET',
    path: '/v1/agents/sessions',
    summary: 'List the sessions',
    query: fields({
      tenantId: t.String(),
      agentId: t.String(),
      status: SessionStatus,
      limit: int32(),
      offset: int32(),
    }),
    response: model('ListSessionsResponse', { sessions: t.Array(AgentSession), total: int32() }),
    access: 'viewer',
  }),
  CreateSession: endpoint({
    ...here,
    id: 'CreateSession',
    method: 'POST',
    path: '/v1/agents/sessions',
    summary: 'Open a session of an agent',
    body: model('CreateSessionRequest', { tenantId: t.String(), agentId: t.String(), metadata: struct() }),
    response: model('CreateSessionResponse', { session: AgentSession }),
    access: 'member',
  }),
  GetSession: endpoint({
    ...here,
    id: 'GetSession',
    method: 'GET',
    path: '/v1/agents/sessions/{id}',
    summary: 'Get a session and its turns',
    params: ids('id'),
    query: fields({
      tenantId: t.String(),
      beforeTurn: t.Integer({
        minimum: 0,
        description:
          'Shows the turns before this one: of a long session the latest turns are shown, 8 MiB at once.',
      }),
    }),
    response: model('GetSessionResponse', { session: AgentSession }),
    access: 'viewer',
  }),
  SteerSession: endpoint({
    ...here,
    id: 'SteerSession',
    method: 'POST',
    path: '/v1/agents/sessions/{sessionId}/steer',
    summary: 'Add a message to a running turn',
    params: ids('sessionId'),
    body: model('AgentsServiceSteerSessionBody', {
      tenantId: t.String(),
      role: oneOf('user', 'system'),
      content: t.String(),
      userInputId: t.String({
        description: 'The question that it answers; it is refused when another one waits, or none (409).',
      }),
    }),
    response: model('SteerSessionResponse', { accepted: t.Boolean(), message: t.String() }),
    access: 'member',
  }),
  CancelSession: endpoint({
    ...here,
    id: 'CancelSession',
    method: 'POST',
    path: '/v1/agents/sessions/{sessionId}/cancel',
    summary: 'Cancel a session and what it is doing',
    params: ids('sessionId'),
    body: model('AgentsServiceCancelSessionBody', { tenantId: t.String() }),
    response: model('CancelSessionResponse', { success: t.Boolean(), message: t.String() }),
    access: 'member',
  }),
  CompleteSession: endpoint({
    ...here,
    id: 'CompleteSession',
    method: 'POST',
    path: '/v1/agents/sessions/{sessionId}/complete',
    summary: 'Close a session',
    params: ids('sessionId'),
    body: model('AgentsServiceCompleteSessionBody', { tenantId: t.String() }),
    response: model('CompleteSessionResponse', { success: t.Boolean(), message: t.String() }),
    access: 'member',
  }),
  InterruptTurn: endpoint({
    ...here,
    spec: 'extra',
    id: 'InterruptTurn',
    method: 'POST',
    path: '/v1/agents/sessions/{sessionId}/interrupt',
    summary: 'End the turn that is under way; the session goes on',
    params: ids('sessionId'),
    body: model('InterruptTurnRequest', { tenantId: t.String() }),
    response: model('InterruptTurnResponse', { success: t.Boolean(), message: t.String() }),
    access: 'member',
  }),
} satisfies Group;
