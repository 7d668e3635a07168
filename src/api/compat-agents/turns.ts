import { endpoint, type Group } from '../endpoint.ts';
import { ids, nullable, object, oneOf, open, struct, t } from '../schema.ts';
import { AgentContent, SessionItem } from './items.ts';
import { cursorQuery, page } from './paging.ts';

/** The tokens that were used. */
export const TokenUsage = open('TokenUsage', {
  input_tokens: t.Integer(),
  input_tokens_details: open('InputTokensDetails', { cached_tokens: t.Integer() }),
  output_tokens: t.Integer(),
  output_tokens_details: open('OutputTokensDetails', { reasoning_tokens: t.Integer() }),
  total_tokens: t.Integer(),
});

/** One piece of work: what the agent does about one input. */
export const CompatTurn = open(
  'Turn',
  {
    id: t.String(),
    object: t.Literal('agent.session.turn'),
    session_id: t.String(),
    agent_id: t.String(),
    subagent_id: nullable(t.String()),
    status: oneOf('queued', 'in_progress', 'waiting', 'completed', 'failed', 'cancelled'),
    created_at: t.Integer(),
    started_at: nullable(t.Integer()),
    completed_at: nullable(t.Integer()),
    error: nullable(open('SessionTurnError', { code: t.String(), message: t.String() })),
    usage: nullable(TokenUsage),
  },
  { prompt_cache_options: nullable(open('TurnPromptCache', { ttl: oneOf('30m', '12h') })) },
);

/** An agent that another one has started in a session. */
export const Subagent = open('Subagent', {
  id: t.String(),
  object: t.Literal('agent.session.subagent'),
  session_id: t.String(),
  parent_agent_id: t.String(),
  name: nullable(t.String()),
  instructions: nullable(t.Array(AgentContent)),
  status: oneOf('active', 'closed'),
  opened_at: t.Integer(),
  closed_at: nullable(t.Integer()),
});

/** The trace of a root turn, as OTLP JSON. */
export const SessionTrace = object('SessionTrace', {
  id: t.String(),
  object: t.Literal('agent.session.trace'),
  session_id: t.String(),
  created_at: t.Integer(),
  otlp: struct(),
});

const here = {
  spec: 'compat-agents-rest',
  tag: 'Compat turns',
  method: 'GET',
  access: 'viewer',
  unbuilt: true,
} as const;

/** What a session has done, in the wire format of stock clients. */
export const compatTurns = {
  ListItems: endpoint({
    ...here,
    id: 'ListItems',
    path: '/compat/v1/agents/sessions/{sessionId}/items',
    summary: 'List what a session holds',
    params: ids('sessionId'),
    query: cursorQuery,
    response: page('AgentSessionItemList', SessionItem),
  }),
  ListTurns: endpoint({
    ...here,
    id: 'ListTurns',
    path: '/compat/v1/agents/sessions/{sessionId}/turns',
    summary: 'List the turns of a session',
    params: ids('sessionId'),
    query: cursorQuery,
    response: page('TurnList', CompatTurn),
  }),
  GetTurn: endpoint({
    ...here,
    id: 'GetTurn',
    path: '/compat/v1/agents/sessions/{sessionId}/turns/{turnId}',
    summary: 'Get a turn',
    params: ids('sessionId', 'turnId'),
    response: CompatTurn,
  }),
  ListTurnItems: endpoint({
    ...here,
    id: 'ListTurnItems',
    path: '/compat/v1/agents/sessions/{sessionId}/turns/{turnId}/items',
    summary: 'List what a turn holds',
    params: ids('sessionId', 'turnId'),
    query: cursorQuery,
    response: page('AgentSessionItemList', SessionItem),
  }),
  ListSubagents: endpoint({
    ...here,
    id: 'ListSubagents',
    path: '/compat/v1/agents/sessions/{sessionId}/subagents',
    summary: 'List the agents that were started in a session',
    params: ids('sessionId'),
    query: cursorQuery,
    response: page('SubagentList', Subagent),
  }),
  ListTraces: endpoint({
    ...here,
    id: 'ListTraces',
    path: '/compat/v1/agents/sessions/{sessionId}/traces',
    summary: 'List the traces of the root turns of a session',
    params: ids('sessionId'),
    query: cursorQuery,
    response: page('SessionTraceList', SessionTrace),
  }),
} satisfies Group;
