import { endpoint, type Group } from '../endpoint.ts';
import { enumeration, fields, ids, int32, int64, model, oneOf, t, timestamp } from '../schema.ts';
import { RpcStatus } from '../status.ts';

/** How a session stands. */
export const SessionStatus = enumeration('SessionStatus', [
  'SESSION_STATUS_UNSPECIFIED',
  'SESSION_STATUS_CREATED',
  'SESSION_STATUS_RUNNING',
  'SESSION_STATUS_WAITING_FOR_INPUT',
  'SESSION_STATUS_WAITING_FOR_APPROVAL',
  'SESSION_STATUS_COMPLETED',
  'SESSION_STATUS_FAILED',
  'SESSION_STATUS_CANCELLED',
]);

/** How a turn stands. */
export const TurnStatus = enumeration('TurnStatus', [
  'TURN_STATUS_UNSPECIFIED',
  'TURN_STATUS_PENDING',
  'TURN_STATUS_RUNNING',
  'TURN_STATUS_COMPLETED',
  'TURN_STATUS_FAILED',
]);

/** A turn of a session. */
export const AgentSessionTurn = model('AgentSessionTurn', {
  id: t.String(),
  sessionId: t.String(),
  turnNumber: int32(),
  status: TurnStatus,
  userInput: t.String(),
  assistantOutput: t.String(),
  toolCalls: t.String({ description: 'JSON text.' }),
  promptTokens: int32(),
  completionTokens: int32(),
  totalTokens: int32(),
  latencyMs: int64(),
  error: t.String(),
  createdAt: timestamp(),
  completedAt: timestamp(),
});

/** A call of a tool that waits for approval. `toolArgs` is JSON text. */
export const PendingToolCall = model('PendingToolCall', {
  toolCallId: t.String(),
  toolName: t.String(),
  toolArgs: t.String(),
});

/** What a turn reports, in the order in which it can happen. */
export const AGENT_EVENTS = [
  'session.start',
  'turn.start',
  'compaction.triggered',
  'compaction.applied',
  'compaction.failed',
  'llm.start',
  'fallback.triggered',
  'fallback.succeeded',
  'fallback.failed',
  'llm.chunk',
  'llm.end',
  'approval.requested',
  'approval.heartbeat',
  'approval.resolved',
  'approval.cancelled',
  'tool_call.start',
  'sandbox.create',
  'sandbox.ready',
  'sandbox.exec',
  'sandbox.result',
  'sandbox.error',
  'web.search.start',
  'web.search.results',
  'spawn.start',
  'spawn.end',
  'user_input.requested',
  'user_input.received',
  'tool_call.end',
  'tool_call.error',
  'steer.received',
  'session.error',
  'turn.end',
  'session.end',
] as const;

/** One thing that happened in a turn. Which fields it has follows from its type. */
export const AgentEvent = model('AgentEvent', {
  type: oneOf(...AGENT_EVENTS),
  sessionId: t.String(),
  turnNumber: int32(),
  textDelta: t.String(),
  toolCallId: t.String(),
  toolName: t.String(),
  toolArgs: t.String(),
  toolResult: t.String(),
  toolSuccess: t.Boolean(),
  toolDurationMs: int64(),
  finishReason: t.String(),
  error: t.String(),
  promptTokens: int32(),
  completionTokens: int32(),
  totalTokens: int32(),
  turn: AgentSessionTurn,
  reviewId: t.String(),
  pendingToolCalls: t.Array(PendingToolCall),
  approvalAction: t.String(),
  sandboxId: t.String(),
  sandboxExitCode: int32(),
  sandboxDurationMs: int64(),
  fallbackFromModel: t.String(),
  fallbackToModel: t.String(),
  fallbackAttempt: int32(),
  userInputId: t.String(),
});

/** An event with its number in its session. */
export const NumberedAgentEvent = model('NumberedAgentEvent', { id: t.Integer(), event: AgentEvent });

const QUEUE = 'Waits for the turn that is under way; without it a second turn is refused (409).';

const ANSWERS = 'The question that the input answers; it is refused when another one waits, or none (409).';

const here = { spec: 'agents', tag: 'Agent turns' } as const;

/** Turns: one input, and all that the agent does about it. */
export const agentTurns = {
  RunTurn: endpoint({
    ...here,
    id: 'RunTurn',
    method: 'POST',
    path: '/v1/agents/sessions/{sessionId}/turns',
    summary: 'Run a turn and wait for its end',
    params: ids('sessionId'),
    body: model('AgentsServiceRunTurnBody', {
      tenantId: t.String(),
      userInput: t.String(),
      enableWebSearch: t.Boolean(),
      queue: t.Boolean({ description: QUEUE }),
      userInputId: t.String({ description: ANSWERS }),
    }),
    response: model('RunTurnResponse', { turn: AgentSessionTurn, sessionStatus: SessionStatus }),
    access: 'member',
  }),
  RunTurnStream: endpoint({
    ...here,
    id: 'RunTurnStream',
    method: 'POST',
    path: '/v1/agents/sessions/{sessionId}/turns/stream',
    summary: 'Run a turn and stream what happens',
    params: ids('sessionId'),
    body: model('AgentsServiceRunTurnStreamBody', {
      tenantId: t.String(),
      userInput: t.String(),
      enableStreaming: t.Boolean(),
      enableWebSearch: t.Boolean(),
      queue: t.Boolean({ description: QUEUE }),
      userInputId: t.String({ description: ANSWERS }),
    }),
    response: model('StreamResultOfAgentEvent', { result: AgentEvent, error: RpcStatus }),
    headers: fields({ 'last-event-id': t.String() }),
    stream: 'sse',
    access: 'member',
  }),
  ListSessionEvents: endpoint({
    ...here,
    spec: 'extra',
    id: 'ListSessionEvents',
    method: 'GET',
    path: '/v1/agents/sessions/{sessionId}/events',
    summary: 'List what has happened in a session, or stream it as it happens',
    params: ids('sessionId'),
    query: fields({
      tenantId: t.String(),
      after: t.Integer({ description: 'The id of the event that was seen last.' }),
      limit: int32(),
      follow: t.Boolean({ description: 'Streams `{result}` messages instead, until the session is over.' }),
    }),
    headers: fields({ 'last-event-id': t.String() }),
    response: model('ListSessionEventsResponse', {
      events: t.Array(NumberedAgentEvent),
      latest: t.Integer(),
    }),
    access: 'viewer',
  }),
} satisfies Group;
