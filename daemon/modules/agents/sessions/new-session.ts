import { newId } from '../../../../src/kit/id.ts';
import type { Caller } from '../../../http/route.ts';
import type { Agent } from '../definitions/agent.ts';
import type { SessionRow, TurnOptions, TurnRow } from './tables.ts';

/** A session at its beginning. */
export function newSession(
  agent: Agent,
  metadata: Record<string, unknown>,
  nowMs: number,
  depth = 0,
): SessionRow {
  return {
    id: newId('ses', nowMs),
    tenant: agent.tenant,
    agentId: agent.id,
    agent,
    status: 'created',
    metadata,
    turnCount: 0,
    steps: 0,
    promptTokens: 0,
    completionTokens: 0,
    costMicros: 0,
    depth,
    createdAt: nowMs,
    updatedAt: nowMs,
    completedAt: null,
  };
}

/** What a turn is begun with. */
export interface NewTurn {
  readonly userInput: string;
  readonly options: TurnOptions;
  /** Waits for the turn that is under way, where there is one. */
  readonly queue: boolean;
  /** The question that the input answers; whichever waits when absent. */
  readonly userInputId?: string;
  /** Its Idempotency-Key: the same turn is meant when it comes again, also after a crash. */
  readonly requestKey?: string;
}

/** A turn at its beginning. */
export function newTurn(
  caller: Caller,
  sessionId: string,
  number: number,
  { userInput, options, requestKey }: NewTurn,
  nowMs: number,
): TurnRow {
  return {
    id: newId('turn', nowMs),
    tenant: caller.tenant,
    sessionId,
    number,
    status: 'queued',
    requestKey: requestKey === undefined ? null : keyOf(caller, requestKey),
    caller: keptCaller(caller),
    options,
    userInput,
    recalled: null,
    output: '',
    error: null,
    iteration: 0,
    toolCalls: 0,
    isAsking: false,
    contextTokens: 0,
    promptTokens: 0,
    completionTokens: 0,
    costMicros: 0,
    activeMs: 0,
    createdAt: nowMs,
    completedAt: null,
  };
}

/** An Idempotency-Key as rows keep it: everybody has their own. */
export const keyOf = ({ actor }: Caller, requestKey: string) => `${actor} ${requestKey}`;

/** A caller as rows keep it: who it is and what it may do, and nothing of the request. */
function keptCaller({ tenant, role, actor, userId, via }: Caller): Caller {
  return { tenant, role, actor, via, ...(userId === undefined ? {} : { userId }) };
}
