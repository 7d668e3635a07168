import { rfc3339 } from '../../../../src/kit/time.ts';
import type { ExecutionRow, Sandbox, SandboxEventRow } from '../tables.ts';

/** An event as it is answered (spec, SandboxEvent). */
export function toEvent(event: SandboxEventRow, sessionId: string) {
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

/** An execution as it is answered (spec, SandboxExecution). */
export function toExecution(row: ExecutionRow, { sessionId }: Sandbox) {
  return {
    id: row.id,
    sandboxId: row.sandboxId,
    sessionId,
    toolName: row.kind,
    toolCallId: '',
    language: row.language,
    command: row.command,
    exitCode: row.exitCode ?? undefined,
    stdout: row.stdout,
    stderr: row.stderr,
    durationMs: String(row.durationMs ?? 0),
    timedOut: row.timedOut,
    createdAt: rfc3339(row.createdAt),
  };
}
