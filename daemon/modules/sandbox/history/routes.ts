import { sandboxHistory } from '../../../../src/api/sandbox/history.ts';
import { invalid } from '../../../../src/errors/app-error.ts';
import { pageOf } from '../../../../src/kit/page.ts';
import type { Bus } from '../../../bus/bus.ts';
import { implement, type Route } from '../../../http/route.ts';
import { type ServerEvent, sse } from '../../../http/sse.ts';
import type { CommandService } from '../command/service.ts';
import type { LifecycleService } from '../lifecycle/service.ts';
import type { SandboxEventRow } from '../tables.ts';
import type { SandboxEvents } from './events.ts';
import { followEvents } from './follow.ts';
import { toEvent, toExecution } from './wire.ts';

/** The operations on what happened to a sandbox and what ran in it. */
export function historyRoutes(
  bus: Bus,
  lifecycle: LifecycleService,
  commands: CommandService,
  events: SandboxEvents,
): Route[] {
  return implement(sandboxHistory, {
    ListSandboxEvents: ({ caller, params, query }) => {
      const row = lifecycle.get(caller.tenant, params.sandboxId);
      const { limit, offset } = pageOf(query);
      const { rows, total } = events.list(caller.tenant, row.id, query.eventType, limit, offset);
      return { events: rows.map((event) => toEvent(event, row.sessionId)), total };
    },
    ListSandboxExecutions: ({ caller, params, query }) => {
      const row = lifecycle.get(caller.tenant, params.sandboxId);
      const { limit, offset } = pageOf(query);
      const { rows, total } = commands.list(caller.tenant, row.id, limit, offset);
      return { executions: rows.map((execution) => toExecution(execution, row)), total };
    },
    WatchSandboxEvents: ({ caller: { tenant }, params, query, request, signal, headers }) => {
      const { id, sessionId } = lifecycle.get(tenant, params.sandboxId);
      const after = lastSeen(request, query.after) ?? events.newest();
      const isOver = () => (lifecycle.store.find(tenant, id)?.state ?? 'terminated') === 'terminated';
      const rows = followEvents(events, bus, { tenant, sandboxId: id, after, signal, isOver });
      return sse(
        toMessages(rows, query.eventType, () => sessionId),
        { signal, headers, greets: true },
      );
    },
    WatchEvents: ({ caller: { tenant }, query, request, signal, headers }) => {
      const after = lastSeen(request, query.after) ?? events.newest();
      const rows = followEvents(events, bus, { tenant, after, signal });
      const sessionOf = (id: string) => lifecycle.store.find(tenant, id)?.sessionId ?? '';
      return sse(toMessages(rows, query.eventType, sessionOf), { signal, headers, greets: true });
    },
  });
}

/** The event that the reader saw last; undefined when it does not say. Errors: invalid_argument. */
function lastSeen(request: Request, query: string | undefined): number | undefined {
  const text = request.headers.get('last-event-id') || query;
  if (text === undefined) return undefined;
  if (!/^\d{1,15}$/.test(text))
    throw invalid({ field: 'Last-Event-ID', description: 'must be the id of an event' });
  return Number(text);
}

async function* toMessages(
  rows: AsyncIterable<SandboxEventRow>,
  type: string | undefined,
  sessionOf: (sandboxId: string) => string,
): AsyncGenerator<ServerEvent> {
  for await (const row of rows) {
    if (!type || row.type === type) yield { id: row.id, data: toEvent(row, sessionOf(row.sandboxId)) };
  }
}
