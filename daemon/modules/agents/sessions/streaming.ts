import { asAppError, fail } from '../../../../src/errors/app-error.ts';
import { type ServerEvent, sse } from '../../../http/sse.ts';
import { eventWire, type StoredEvent } from '../events/event.ts';
import { type Followed, followEvents } from '../events/follow.ts';
import type { EventLog } from '../events/log.ts';
import type { SessionStore } from './store.ts';
import { isOver } from './wire.ts';

/** A turn whose events are wanted. */
export interface StreamedTurn {
  readonly tenant: string;
  readonly sessionId: string;
  readonly number: number;
  /** The event that was seen last. */
  readonly after: number;
  readonly signal: AbortSignal;
  readonly requestId: string;
}

/** Streams what happens in sessions: messages of `{result}` or `{error}`, numbered, from the rows and as it happens. */
export class Streaming {
  constructor(
    private readonly log: EventLog,
    private readonly sessions: SessionStore,
  ) {}

  /** Answers the events of a turn until its end. A reader that leaves harms nothing. */
  turn(wanted: StreamedTurn): Response {
    const { sessionId, number } = wanted;
    const isLast = ({ type, turnNumber }: StoredEvent, next: StoredEvent | undefined) =>
      turnNumber >= number && type === 'turn.end' && next?.type !== 'session.end';
    const isEnded = ({ type }: StoredEvent, next: StoredEvent | undefined) =>
      type === 'session.end' && next === undefined;
    return this.respond(wanted, {
      sessionId,
      after: wanted.after,
      signal: wanted.signal,
      isLast: (event, next) => isLast(event, next) || isEnded(event, next),
      isOver: () => this.isTurnOver(wanted),
    });
  }

  /** Answers the events of a session until its end. */
  session(wanted: Omit<StreamedTurn, 'number'>): Response {
    const { tenant, sessionId, after, signal } = wanted;
    return this.respond(wanted, {
      sessionId,
      after,
      signal,
      isOver: () => {
        const status = this.sessions.find(tenant, sessionId)?.status;
        return status === undefined || status === 'completed' || status === 'cancelled';
      },
    });
  }

  /** Resolves when a turn is over or waits for a person, or when the signal fires. */
  async settled({
    tenant,
    sessionId,
    number,
    after,
    signal,
  }: Omit<StreamedTurn, 'requestId'>): Promise<void> {
    const isSettled = () => {
      const turn = this.sessions.turn(tenant, sessionId, number);
      return !turn || isOver(turn.status) || turn.status === 'waiting';
    };
    const events = followEvents(this.log, { sessionId, after, signal, isOver: isSettled });
    for await (const _ of events);
  }

  private respond(
    { tenant, sessionId, signal, requestId }: Omit<StreamedTurn, 'number'>,
    followed: Followed,
  ) {
    const failure = (error: unknown) => ({
      data: {
        error: asAppError(error ?? fail('unavailable', { message: 'svc is stopping.' })).toWire(requestId),
      },
    });
    return sse(messages(this.log, followed), {
      signal,
      greets: true,
      failure,
      heartbeat: () => this.heartbeat(tenant, sessionId),
    });
  }

  /** Whoever waits for an approval hears that it is still wanted. It is no part of what has happened, so it has no number. */
  private heartbeat(tenant: string, sessionId: string): ServerEvent | undefined {
    const turn = this.sessions.current(tenant, sessionId);
    if (!turn || this.sessions.find(tenant, sessionId)?.status !== 'waiting_for_approval') return undefined;
    const result = { type: 'approval.heartbeat', sessionId, turnNumber: turn.number };
    return { data: { result } };
  }

  private isTurnOver({ tenant, sessionId, number }: StreamedTurn): boolean {
    const turn = this.sessions.turn(tenant, sessionId, number);
    return !turn || isOver(turn.status);
  }
}

async function* messages(log: EventLog, followed: Followed): AsyncGenerator<ServerEvent> {
  for await (const event of followEvents(log, followed))
    yield { id: event.seq, data: { result: eventWire(event) } };
}
