import { createHash } from 'node:crypto';
import type { SandboxEvents } from '../history/events.ts';
import type { Sandbox, SandboxEventRow } from '../tables.ts';
import { attributes, nanos, type ResourceSpans, type Span } from './messages.ts';
import { resourceOf, SCOPE } from './resource.ts';

/** Events that only say that something begins: what they began is told when it ended. */
const BEGINNINGS: ReadonlySet<string> = new Set([
  'created',
  'stopping',
  'reviving',
  'restoring',
  'archiving',
  'terminating',
]);

/** The work that an event ends, and the events that may have begun it. */
const WORK: Readonly<Record<string, { readonly name: string; readonly begunBy: readonly string[] }>> = {
  running: { name: 'create', begunBy: ['created'] },
  stopped: { name: 'stop', begunBy: ['stopping'] },
  revived: { name: 'revive', begunBy: ['reviving'] },
  restored: { name: 'restore', begunBy: ['restoring'] },
  archived: { name: 'archive', begunBy: ['archiving'] },
  terminated: { name: 'terminate', begunBy: ['terminating'] },
  failed: { name: 'fail', begunBy: [] },
  'command.finished': { name: 'command', begunBy: [] },
};

/** The span that an event is; undefined for one that only begins something. */
export function toSpan(event: SandboxEventRow, events: SandboxEvents): Span | undefined {
  if (BEGINNINGS.has(event.type)) return undefined;
  const { name, begunBy } = WORK[event.type] ?? { name: event.type, begunBy: [] };
  const exitCode = numberOf(event.metadata.exitCode);
  const error = event.error ?? (exitCode ? `exit status ${exitCode}` : undefined);
  return {
    ...idsOf(event),
    name: `sandbox.${name}`,
    kind: 1,
    startTimeUnixNano: nanos(beginOf(event, begunBy, events)),
    endTimeUnixNano: nanos(event.createdAt),
    attributes: attributes({
      'svc.event.id': event.id,
      'svc.event.type': event.type,
      'svc.command.id': typeof event.metadata.commandId === 'string' ? event.metadata.commandId : undefined,
      'process.exit.code': exitCode,
    }),
    status: error === undefined ? { code: 1 } : { code: 2, message: error },
  };
}

/** Spans of one sandbox as OTLP has them. */
export function toResourceSpans(
  row: Sandbox,
  spans: readonly Span[],
  labels: Readonly<Record<string, string>>,
): ResourceSpans {
  return { resource: { attributes: resourceOf(row, labels) }, scopeSpans: [{ scope: SCOPE, spans }] };
}

/** A span that says that the way to the receiver is open. */
export function testSpans(
  tenant: string,
  labels: Readonly<Record<string, string>>,
  now: number,
): ResourceSpans {
  const random = crypto.getRandomValues(new Uint8Array(24));
  const span: Span = {
    traceId: random.subarray(0, 16),
    spanId: random.subarray(16),
    name: 'svc.test',
    kind: 1,
    startTimeUnixNano: nanos(now),
    endTimeUnixNano: nanos(now),
    attributes: [],
    status: { code: 1 },
  };
  const resource = attributes({ 'service.name': 'svc', ...labels, 'svc.tenant.id': tenant });
  return { resource: { attributes: resource }, scopeSpans: [{ scope: SCOPE, spans: [span] }] };
}

/** Ids that are the same each time the event is sent, so that a receiver can tell a repetition. */
function idsOf(event: SandboxEventRow): Pick<Span, 'traceId' | 'spanId'> {
  const hash = createHash('sha256').update(`${event.tenant}\n${event.sandboxId}\n${event.id}`).digest();
  return { traceId: new Uint8Array(hash.subarray(0, 16)), spanId: new Uint8Array(hash.subarray(16, 24)) };
}

function beginOf(event: SandboxEventRow, begunBy: readonly string[], events: SandboxEvents): number {
  if (event.durationMs !== null) return event.createdAt - event.durationMs;
  const begin =
    begunBy.length > 0 ? events.lastOf(event.tenant, event.sandboxId, begunBy, event.id) : undefined;
  return begin?.createdAt ?? event.createdAt;
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}
