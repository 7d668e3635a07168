import { endpoint, type Group } from '../endpoint.ts';
import { empty, fields, ids, nullable, object, oneOf, open, stringMap, t } from '../schema.ts';
import { EnvironmentRequest } from './environment.ts';
import { SessionEvent, SessionInput } from './events.ts';
import { cursor, page } from './paging.ts';
import { CompatSession, InputMessage, Review } from './session.ts';
import { agentSettings } from './tools.ts';

const changeable = {
  metadata: nullable(stringMap()),
  prompt_cache_options: nullable(open('PromptCacheRequest', {}, { ttl: oneOf('30m', '12h') })),
  review: Review,
  spend_control: nullable(open('SpendControlRequest', { limit: nullable(t.Number({ minimum: 0 })) })),
};

const SessionAgentRequest = open(
  'SessionAgentRequest',
  {},
  { ...agentSettings, model: t.String({ minLength: 1 }) },
);

const here = { spec: 'compat-agents-rest', tag: 'Compat sessions', unbuilt: true } as const;

/** Sessions of agents, in the wire format of stock clients. */
export const compatSessions = {
  CreateSession: endpoint({
    ...here,
    id: 'CreateSession',
    method: 'POST',
    path: '/compat/v1/agents/sessions',
    summary: 'Open a session of an agent, and give it its first input',
    body: open(
      'SessionCreateRequest',
      { environment: EnvironmentRequest },
      {
        ...changeable,
        agent: SessionAgentRequest,
        agent_id: t.String(),
        input: nullable(t.Union([t.String(), t.Array(InputMessage)])),
        stream: t.Boolean(),
        stream_options: open('SessionStreamOptions', {}, { include_obfuscation: t.Boolean() }),
        vault_ids: nullable(t.Array(t.String())),
      },
    ),
    response: CompatSession,
    chunk: SessionEvent,
    access: 'member',
  }),
  ListSessions: endpoint({
    ...here,
    id: 'ListSessions',
    method: 'GET',
    path: '/compat/v1/agents/sessions',
    summary: 'List the sessions',
    query: fields({ ...cursor, agent_id: t.String(), metadata: stringMap() }),
    response: page('AgentSessionList', CompatSession),
    access: 'viewer',
  }),
  GetSession: endpoint({
    ...here,
    id: 'GetSession',
    method: 'GET',
    path: '/compat/v1/agents/sessions/{sessionId}',
    summary: 'Get a session',
    params: ids('sessionId'),
    response: CompatSession,
    access: 'viewer',
  }),
  UpdateSession: endpoint({
    ...here,
    id: 'UpdateSession',
    method: 'POST',
    path: '/compat/v1/agents/sessions/{sessionId}',
    summary: 'Change a session',
    params: ids('sessionId'),
    body: open('SessionUpdateRequest', {}, { ...changeable, agent: SessionAgentRequest }),
    response: CompatSession,
    access: 'member',
  }),
  DeleteSession: endpoint({
    ...here,
    id: 'DeleteSession',
    method: 'DELETE',
    path: '/compat/v1/agents/sessions/{sessionId}',
    summary: 'Delete a session',
    params: ids('sessionId'),
    response: object('AgentSessionDeleted', {
      id: t.String(),
      object: t.Literal('agent.session.deleted'),
      deleted: t.Boolean(),
    }),
    access: 'member',
  }),
  SubmitEvents: endpoint({
    ...here,
    id: 'SubmitEvents',
    method: 'POST',
    path: '/compat/v1/agents/sessions/{sessionId}/events',
    summary: 'Give a session messages, answers or a stop',
    params: ids('sessionId'),
    headers: fields({ 'idempotency-key': t.String() }),
    body: open('SubmitEventsRequest', { events: t.Array(SessionInput, { minItems: 1 }) }),
    response: empty,
    access: 'member',
  }),
  StreamEvents: endpoint({
    ...here,
    id: 'StreamEvents',
    method: 'GET',
    path: '/compat/v1/agents/sessions/{sessionId}/events',
    summary: 'Watch a session',
    params: ids('sessionId'),
    query: fields({ include_obfuscation: t.Boolean() }),
    headers: fields({ 'last-event-id': t.String() }),
    response: SessionEvent,
    stream: 'sse',
    access: 'viewer',
  }),
} satisfies Group;
