import { createHash } from 'node:crypto';
import { attributes, nanos, type ResourceSpans, SCOPE, type Span } from '../../../otlp/messages.ts';
import type { SandboxEvents } from '../history/events.ts';
import type { Sandbox, SandboxEventRow } from '../tables.ts';
import { resourceOf } from './resource.ts';

/** Events that only say that work begins, and the work: what came of it is told when it ended. */
const BEGUN: Readonly<Record<string, string>> = {
  created: 'create',
  stopping: 'stop',
  reviving: 'revive',
  restoring: 'restore',
  archiving: 'archive',
  terminating: 'terminate',
};

/** Events that end work, and the work when nothing has begun it here. */
const ENDED: Readonly<Record<string, string>> = {
  running: 'create',
  stopped: 'stop',
  revived: 'revive',
  archived: 'archive',
  terminated: 'terminate',
  failed: 'failed',
  error: 'error',
};

const WORK = [...Object.keys(BEGUN), ...Object.keys(ENDED)];

/** The span that an event is; undefined for one that only begins something. */
export function toSpan(event: SandboxEventRow, events: Pick<SandboxEvents, 'lastOf'>): Span | undefined {
  if (BEGUN[event.type]) return undefined;
  const exitCode = numberOf(event.metadata.exitCode);
  const error = event.error ?? (exitCode ? `exit status ${exitCode}` : undefined);
  const begin = beginOf(event, events);
  return {
    ...idsOf(event),
    name: `sandbox.${(begin && BEGUN[begin.type]) ?? ENDED[event.type] ?? NAMES[event.type] ?? event.type}`,
    kind: 1,
    startTimeUnixNano: nanos(
      event.createdAt - (event.durationMs ?? event.createdAt - (begin ?? event).createdAt),
    ),
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

/** Other events whose span has a name of its own. */
const NAMES: Readonly<Record<string, string>> = { 'command.finished': 'command' };

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

/** The event that began the work that this one ends. */
function beginOf(event: SandboxEventRow, events: Pick<SandboxEvents, 'lastOf'>): SandboxEventRow | undefined {
  if (!ENDED[event.type]) return undefined;
  const before = events.lastOf(event.tenant, event.sandboxId, WORK, event.id);
  return before && BEGUN[before.type] ? before : undefined;
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}
