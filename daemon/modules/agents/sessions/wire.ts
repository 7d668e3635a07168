import type { AgentSession } from '../../../../src/api/agents/sessions.ts';
import type { AgentSessionTurn, SessionStatus, TurnStatus } from '../../../../src/api/agents/turns.ts';
import type { Value } from '../../../../src/api/schema.ts';
import { rfc3339 } from '../../../../src/kit/time.ts';
import type { ShownCall } from '../turns/store.ts';
import type { ListedSession } from './store.ts';
import type { SessionState, TurnRow, TurnState } from './tables.ts';

type TurnWire = Value<typeof AgentSessionTurn>;
type SessionWire = Value<typeof AgentSession>;

/** Whether a turn is over. */
export const isOver = (status: TurnState): boolean => status === 'completed' || status === 'failed';

const TURN_STATUS: Readonly<Record<TurnState, Value<typeof TurnStatus>>> = {
  queued: 'TURN_STATUS_PENDING',
  running: 'TURN_STATUS_RUNNING',
  waiting: 'TURN_STATUS_RUNNING',
  completed: 'TURN_STATUS_COMPLETED',
  failed: 'TURN_STATUS_FAILED',
};

/** A state of a session in the words of the wire. */
export function statusWire(status: SessionState): Value<typeof SessionStatus> {
  return `SESSION_STATUS_${status.toUpperCase() as Uppercase<SessionState>}`;
}

/** The state that a status of the wire names; undefined when it names none. */
export function statusOf(wire: Value<typeof SessionStatus> | undefined): SessionState | undefined {
  if (wire === undefined || wire === 'SESSION_STATUS_UNSPECIFIED') return undefined;
  return wire.slice('SESSION_STATUS_'.length).toLowerCase() as SessionState;
}

/** A turn on the wire, with its calls. */
export function turnWire(turn: TurnRow, calls: readonly ShownCall[]): TurnWire {
  const { promptTokens, completionTokens, createdAt, completedAt } = turn;
  return {
    id: turn.id,
    sessionId: turn.sessionId,
    turnNumber: turn.number,
    status: TURN_STATUS[turn.status],
    userInput: turn.userInput,
    assistantOutput: turn.output,
    toolCalls: JSON.stringify(calls.map(callWire)),
    promptTokens,
    completionTokens,
    totalTokens: promptTokens + completionTokens,
    latencyMs: String((completedAt ?? createdAt) - createdAt),
    ...(turn.error === null ? {} : { error: turn.error }),
    createdAt: rfc3339(createdAt),
    ...(completedAt === null ? {} : { completedAt: rfc3339(completedAt) }),
  };
}

function callWire({ id, name, args, iteration, state, ok, output, durationMs }: ShownCall) {
  return {
    id,
    name,
    args,
    iteration,
    ...(state === 'finished' || state === 'told'
      ? { success: ok, result: output ?? '', durationMs }
      : { state }),
  };
}

/** A session on the wire. `turns` are there where one session is shown. */
export function sessionWire(row: ListedSession, turns?: readonly TurnWire[]): SessionWire {
  return {
    id: row.id,
    tenantId: row.tenant,
    agentId: row.agentId,
    status: statusWire(row.status),
    turnCount: row.turnCount,
    totalTokens: row.promptTokens + row.completionTokens,
    metadata: row.metadata,
    createdAt: rfc3339(row.createdAt),
    updatedAt: rfc3339(row.updatedAt),
    ...(row.completedAt === null ? {} : { completedAt: rfc3339(row.completedAt) }),
    ...(turns ? { turns: [...turns] } : {}),
  };
}
