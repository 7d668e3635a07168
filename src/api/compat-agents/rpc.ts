import { type Endpoint, endpoint, type Group } from '../endpoint.ts';
import { empty, type TObject, t, type Value } from '../schema.ts';
import { compatAgents as agents } from './agents.ts';
import { compatApprovals as approvals } from './approvals.ts';
import { type CamelCased, camelCased } from './camel-case.ts';
import { compatSessions as sessions } from './sessions.ts';
import { compatTurns as turns } from './turns.ts';

/** The service whose methods these are. */
export const RPC_SERVICE = 'svc.compat_agents.v1.CompatAgentsService';

type Message<E extends Endpoint> = CamelCased<Part<E['params']> & Part<E['query']> & Part<E['body']>>;
type StreamOf<E> = E extends { readonly stream: infer S extends 'sse' } ? S : undefined;
type Part<S> = Value<S> extends undefined ? unknown : Value<S>;

/** The method of an operation: path, query and body in one message, in camelCase. */
function method<const E extends Endpoint>(rest: E) {
  return endpoint({
    spec: 'compat-agents',
    tag: `${rest.tag} (RPC)`,
    id: rest.id as E['id'],
    method: 'POST',
    path: `/${RPC_SERVICE}/${rest.id as E['id']}`,
    summary: rest.summary,
    headers: rest.headers,
    body: t.Unsafe<Message<E>>(camelCased(message(rest))),
    response: camelCased(rest.response as E['response']),
    chunk: rest.chunk && camelCased(rest.chunk),
    access: rest.access,
    stream: rest.stream as StreamOf<E>,
    unbuilt: true,
  });
}

function message({ id, params = empty, query = empty, body = empty }: Endpoint): TObject {
  const parts = [params, query, body as TObject];
  const properties = Object.assign({}, ...parts.map((part) => part.properties));
  return t.Object(properties, {
    $id: `${id}Request`,
    additionalProperties: body.additionalProperties ?? false,
  });
}

/** The operations of compat-agents-rest in RPC style: POST, JSON in and out, camelCase. */
export const compatAgentsRpc = {
  CreateAgent: method(agents.CreateAgent),
  ListAgents: method(agents.ListAgents),
  GetAgent: method(agents.GetAgent),
  UpdateAgent: method(agents.UpdateAgent),
  DeleteAgent: method(agents.DeleteAgent),
  CreateSession: method(sessions.CreateSession),
  ListSessions: method(sessions.ListSessions),
  GetSession: method(sessions.GetSession),
  UpdateSession: method(sessions.UpdateSession),
  DeleteSession: method(sessions.DeleteSession),
  SubmitEvents: method(sessions.SubmitEvents),
  StreamEvents: method(sessions.StreamEvents),
  ListItems: method(turns.ListItems),
  ListTurns: method(turns.ListTurns),
  GetTurn: method(turns.GetTurn),
  ListTurnItems: method(turns.ListTurnItems),
  ListSubagents: method(turns.ListSubagents),
  ListTraces: method(turns.ListTraces),
  ListApprovals: method(approvals.ListApprovals),
  GetApproval: method(approvals.GetApproval),
  ResolveApproval: method(approvals.ResolveApproval),
} satisfies Group;
