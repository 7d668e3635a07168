import { agentDefinitions } from '../../../src/api/agents/definitions.ts';
import { type AgentSession, agentSessions } from '../../../src/api/agents/sessions.ts';
import { agentTurns } from '../../../src/api/agents/turns.ts';
import type { Value } from '../../../src/api/schema.ts';
import type { Client } from '../../../src/client/client.ts';
import { RemoteError } from '../../../src/client/remote-error.ts';
import { AppError, invalid } from '../../../src/errors/app-error.ts';
import { SECOND_MS } from '../../../src/kit/time.ts';
import { pause } from './feed.ts';

/** A session as the daemon tells of it. */
export type Session = Value<typeof AgentSession>;
/** A turn of one. */
export type Turn = NonNullable<Session['turns']>[number];

/** A turn that was begun. */
export interface BegunTurn {
  readonly number: number;
  /** The session's latest event before it. */
  readonly after: number;
}

const TRIES = 60;

/** An agent by its name, alias or id; undefined when there is none. Errors: RemoteError for anything else. */
export async function findAgent(client: Client, reference: string) {
  try {
    const { agent } = await client.call(agentDefinitions.GetAgent, { params: { id: reference } });
    return agent;
  } catch (error) {
    if (error instanceof RemoteError && error.http === 404) return undefined;
    throw error;
  }
}

/** Opens a session of an agent and answers its id. Errors: RemoteError. */
export async function openSession(client: Client, agent: string): Promise<string> {
  const { session } = await client.call(agentSessions.CreateSession, { body: { agentId: agent } });
  return session?.id ?? '';
}

/** A session with its turns. Errors: not_found. */
export async function getSession(client: Client, id: string): Promise<Session> {
  const { session = {} } = await client.call(agentSessions.GetSession, { params: { id } });
  return session;
}

/** A session, when it is of that agent. Errors: not_found; invalid_argument naming `--session`. */
export async function sessionOf(client: Client, id: string, agent: string): Promise<Session> {
  const session = await getSession(client, id);
  if (session.agentId === agent) return session;
  const known = await findAgent(client, agent);
  if (known && known.id === session.agentId) return session;
  throw invalid({ field: '--session', description: `is a session of ${session.agentId}, not of ${agent}` });
}

/** The number of a session's latest event; 0 when nothing has happened. */
export async function latestEvent(client: Client, sessionId: string): Promise<number> {
  const query = { after: Number.MAX_SAFE_INTEGER, limit: 1 };
  const { latest = 0 } = await client.call(agentTurns.ListSessionEvents, { params: { sessionId }, query });
  return latest;
}

/**
 * Begins a turn; it goes on by itself, and its events are read with `sessionEvents`. Input to a session that has asked something
 * is the answer, and the turn is the one that has asked. When the connection breaks before the daemon has answered, it is looked
 * up whether the turn has begun, so that it never begins twice. Errors: RemoteError (409 when a turn is under way and `queue` is not set).
 */
export async function beginTurn(
  client: Client,
  sessionId: string,
  userInput: string,
  queue = false,
): Promise<BegunTurn> {
  const before = await getSession(client, sessionId);
  const after = await latestEvent(client, sessionId);
  for (let tries = 0; ; tries++) {
    try {
      const { body } = await client.open(agentTurns.RunTurnStream, {
        params: { sessionId },
        body: { userInput, queue },
      });
      await body?.cancel();
      return { number: begunNumber(before, await getSession(client, sessionId), userInput), after };
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'unreachable' || tries >= TRIES) throw error;
      await pause(SECOND_MS);
      const now = await getSession(client, sessionId).catch(() => undefined);
      if (now && hasBegun(before, now)) return { number: begunNumber(before, now, userInput), after };
    }
  }
}

function hasBegun(before: Session, now: Session): boolean {
  const wasAnswered = isAsking(before) && !isAsking(now);
  return wasAnswered || (now.turnCount ?? 0) > (before.turnCount ?? 0);
}

function begunNumber(before: Session, now: Session, userInput: string): number {
  const newer = (now.turns ?? []).filter(({ turnNumber = 0 }) => turnNumber > (before.turnCount ?? 0));
  const mine = newer.find((turn) => turn.userInput === userInput);
  return mine?.turnNumber ?? openTurn(before)?.turnNumber ?? now.turnCount ?? 0;
}

const isAsking = ({ status }: Session) => status === 'SESSION_STATUS_WAITING_FOR_INPUT';

/** The turn of a session that is under way. */
export function openTurn({ turns = [] }: Session): Turn | undefined {
  return turns.find(({ status }) => status === 'TURN_STATUS_RUNNING');
}

/**
 * The number of the event before a turn's first one. Events stand in the order of their turns, so that a few looks find it
 * among any number of them.
 */
export async function beforeTurn(client: Client, sessionId: string, turnNumber: number): Promise<number> {
  let [low, high] = [0, await latestEvent(client, sessionId)];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const query = { after: middle, limit: 1 };
    const { events = [] } = await client.call(agentTurns.ListSessionEvents, { params: { sessionId }, query });
    const isEarlier = (events[0]?.event?.turnNumber ?? turnNumber) < turnNumber;
    if (isEarlier) low = middle + 1;
    else high = middle;
  }
  return low;
}
