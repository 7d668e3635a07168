import { sandboxHistory } from '../../../../src/api/sandbox/history.ts';
import { pageOf } from '../../../../src/kit/page.ts';
import { rfc3339 } from '../../../../src/kit/time.ts';
import { implement, type Route } from '../../../http/route.ts';
import type { CommandService } from '../command/service.ts';
import type { LifecycleService } from '../lifecycle/service.ts';
import type { ExecutionRow, Sandbox, SandboxEventRow } from '../tables.ts';
import type { SandboxEvents } from './events.ts';

/** The operations on what happened to a sandbox and what ran in it. */
export function historyRoutes(
  lifecycle: LifecycleService,
  commands: CommandService,
  events: SandboxEvents,
): Route[] {
  return implement(sandboxHistory, {
    ListSandboxEvents: ({ caller, params, query }) => {
      const row = lifecycle.get(caller.tenant, params.sandboxId);
      const { limit, offset } = pageOf(query);
      const { rows, total } = events.list(caller.tenant, row.id, query.eventType, limit, offset);
      return { events: rows.map((event) => toEvent(event, row)), total };
    },
    ListSandboxExecutions: ({ caller, params, query }) => {
      const row = lifecycle.get(caller.tenant, params.sandboxId);
      const { limit, offset } = pageOf(query);
      const { rows, total } = commands.list(caller.tenant, row.id, limit, offset);
      return { executions: rows.map((execution) => toExecution(execution, row)), total };
    },
  });
}

function toEvent(event: SandboxEventRow, { sessionId }: Sandbox) {
  return {
    id: String(event.id),
    sandboxId: event.sandboxId,
    sessionId,
    tenantId: event.tenant,
    eventType: event.type,
    message: event.message,
    metadata: event.metadata,
    durationMs: String(event.durationMs ?? 0),
    error: event.error ?? '',
    createdAt: rfc3339(event.createdAt),
  };
}

function toExecution(row: ExecutionRow, { sessionId }: Sandbox) {
  return {
    id: row.id,
    sandboxId: row.sandboxId,
    sessionId,
    toolName: row.kind,
    toolCallId: '',
    language: 'sh',
    command: row.command,
    exitCode: row.exitCode ?? undefined,
    stdout: row.stdout,
    stderr: row.stderr,
    durationMs: String(row.durationMs ?? 0),
    timedOut: row.timedOut,
    createdAt: rfc3339(row.createdAt),
  };
}
