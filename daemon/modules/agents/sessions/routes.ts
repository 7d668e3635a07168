import { agentSessions } from '../../../../src/api/agents/sessions.ts';
import { agentTurns } from '../../../../src/api/agents/turns.ts';
import type { Input } from '../../../../src/api/endpoint.ts';
import { fail, invalid } from '../../../../src/errors/app-error.ts';
import { pageOf } from '../../../../src/kit/page.ts';
import { implement, type Route } from '../../../http/route.ts';
import { eventWire } from '../events/event.ts';
import type { EventLog } from '../events/log.ts';
import type { TurnStore } from '../turns/store.ts';
import type { NewTurn } from './new-session.ts';
import type { SessionService } from './service.ts';
import { shownTurns } from './shown-turns.ts';
import type { SessionStore } from './store.ts';
import type { Streaming } from './streaming.ts';
import type { TurnService } from './turn-service.ts';
import { sessionWire, statusOf, statusWire, turnWire } from './wire.ts';

const EVENTS_PAGE = { usual: 200, most: 1_000 };

type TurnBody = Input<typeof agentTurns.RunTurn>['body'];

/** What answering takes. */
export interface SessionRouteParts {
  readonly sessions: SessionService;
  readonly turns: TurnService;
  readonly streaming: Streaming;
  readonly store: SessionStore;
  readonly calls: TurnStore;
  readonly log: EventLog;
}

/** Sessions and their turns. */
export function sessionRoutes(parts: SessionRouteParts): Route[] {
  return [...ofSessions(parts), ...ofTurns(parts)];
}

function ofSessions({ sessions, turns, store, calls }: SessionRouteParts): Route[] {
  return implement(agentSessions, {
    ListSessions({ caller, query }) {
      const { rows, total } = sessions.list(caller.tenant, {
        agentId: query.agentId || undefined,
        status: statusOf(query.status),
        ...pageOf(query),
      });
      return { sessions: rows.map((row) => sessionWire(row)), total };
    },
    CreateSession({ caller, body }) {
      const { agentId = '', metadata = {} } = body;
      return { session: sessionWire(sessions.create(caller, { agentId, metadata }), []) };
    },
    GetSession({ caller, params, query }) {
      const row = sessions.get(caller.tenant, params.id);
      return { session: sessionWire(row, shownTurns({ store, calls }, row, query.beforeTurn)) };
    },
    SteerSession({ caller, params, body }) {
      const { role = 'user', content = '', userInputId } = body;
      const message = sessions.steer(caller, params.sessionId, { role, content, userInputId });
      return { accepted: true, message };
    },
    CancelSession: ({ caller, params }) => ({
      success: true,
      message: sessions.cancel(caller, params.sessionId),
    }),
    CompleteSession: ({ caller, params }) => ({
      success: true,
      message: sessions.complete(caller, params.sessionId),
    }),
    InterruptTurn({ caller, params }) {
      turns.interrupt(sessions.get(caller.tenant, params.sessionId), `Interrupted by ${caller.actor}.`);
      return { success: true, message: 'The turn is interrupted; the session goes on.' };
    },
  });
}

function ofTurns({ sessions, turns, streaming, store, calls, log }: SessionRouteParts): Route[] {
  return implement(agentTurns, {
    async RunTurn({ caller, params, body, signal, idempotencyKey: requestKey }) {
      const session = sessions.get(caller.tenant, params.sessionId);
      const { turn, after } = turns.begin(caller, session, { ...wishOf(body, false), requestKey });
      const { tenant, sessionId, number } = turn;
      await streaming.settled({ tenant, sessionId, number, after, signal });
      // What is answered now would be kept for those who ask again under the same key.
      if (signal.aborted) throw fail('cancelled');
      const now = store.turn(tenant, sessionId, number) ?? turn;
      const { status } = sessions.get(tenant, sessionId);
      const shown = turnWire(now, calls.shownCalls(tenant, sessionId, number));
      return { turn: shown, sessionStatus: statusWire(status) };
    },
    RunTurnStream({ caller, params, body, request, signal, requestId, idempotencyKey: requestKey }) {
      const session = sessions.get(caller.tenant, params.sessionId);
      const { tenant, id: sessionId } = session;
      const seen = lastEventId(request.headers.get('last-event-id'));
      if (seen !== undefined) {
        const [next] = log.store.after(sessionId, seen, 1);
        const number = next?.turnNumber ?? session.turnCount;
        return streaming.turn({ tenant, sessionId, number, after: seen, signal, requestId });
      }
      const wish = { ...wishOf(body, body.enableStreaming ?? true), requestKey };
      const { turn, after } = turns.begin(caller, session, wish);
      return streaming.turn({ tenant, sessionId, number: turn.number, after, signal, requestId });
    },
    ListSessionEvents({ caller, params, query, request, signal, requestId }) {
      const { tenant, id: sessionId } = sessions.get(caller.tenant, params.sessionId);
      const after = lastEventId(request.headers.get('last-event-id')) ?? Math.max(query.after ?? 0, 0);
      if (query.follow) return streaming.session({ tenant, sessionId, after, signal, requestId });
      const events = log.store.after(sessionId, after, pageOf(query, EVENTS_PAGE).limit);
      return {
        events: events.map((event) => ({ id: event.seq, event: eventWire(event) })),
        latest: log.store.latest(sessionId),
      };
    },
  });
}

function wishOf(
  { userInput = '', userInputId, queue = false, enableWebSearch: searches = false }: TurnBody,
  streams: boolean,
): NewTurn {
  return { userInput, userInputId, queue, options: { streams, searches } };
}

function lastEventId(header: string | null): number | undefined {
  if (header === null || header === '') return undefined;
  const id = /^\d+$/.test(header) ? Number(header) : Number.NaN;
  if (Number.isSafeInteger(id)) return id;
  throw invalid({ field: 'last-event-id', description: 'must be the id of an event of this session' });
}
