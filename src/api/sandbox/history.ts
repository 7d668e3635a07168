import { endpoint, type Group } from '../endpoint.ts';
import { fields, ids, int32, int64, model, struct, t, timestamp } from '../schema.ts';

/** Something that happened to a sandbox. */
export const SandboxEvent = model('SandboxEvent', {
  id: int64(),
  sandboxId: t.String(),
  sessionId: t.String(),
  tenantId: t.String(),
  eventType: t.String(),
  message: t.String(),
  metadata: struct(),
  durationMs: int64(),
  error: t.String(),
  createdAt: timestamp(),
});

/** A command or code that ran in a sandbox. */
export const SandboxExecution = model('SandboxExecution', {
  id: t.String(),
  sandboxId: t.String(),
  sessionId: t.String(),
  toolName: t.String(),
  toolCallId: t.String(),
  language: t.String(),
  command: t.String(),
  exitCode: int32(),
  stdout: t.String(),
  stderr: t.String(),
  durationMs: int64(),
  timedOut: t.Boolean(),
  createdAt: timestamp(),
});

const here = { spec: 'agents', tag: 'Sandbox history' } as const;

const resumable = fields({
  'last-event-id': t.String({
    description: 'Id of the last event that was seen; the stream goes on after it.',
  }),
});

const afterEvent = t.String({
  pattern: '^[0-9]{1,15}$',
  description:
    'As the header Last-Event-ID, which wins. Without either, the stream begins with what happens next.',
});

/** What happened to a sandbox, and what ran in it. */
export const sandboxHistory = {
  ListSandboxEvents: endpoint({
    ...here,
    id: 'ListSandboxEvents',
    method: 'GET',
    path: '/v1/sandbox/{sandboxId}/events',
    summary: 'List the lifecycle events of a sandbox, newest first',
    params: ids('sandboxId'),
    query: fields({ tenantId: t.String(), eventType: t.String(), limit: int32(), offset: int32() }),
    response: model('ListSandboxEventsResponse', { events: t.Array(SandboxEvent), total: int32() }),
    access: 'viewer',
  }),
  ListSandboxExecutions: endpoint({
    ...here,
    id: 'ListSandboxExecutions',
    method: 'GET',
    path: '/v1/sandbox/{sandboxId}/executions',
    summary: 'List what ran in a sandbox, newest first',
    params: ids('sandboxId'),
    query: fields({ tenantId: t.String(), limit: int32(), offset: int32() }),
    response: model('ListSandboxExecutionsResponse', {
      executions: t.Array(SandboxExecution),
      total: int32(),
    }),
    access: 'viewer',
  }),
  WatchSandboxEvents: endpoint({
    ...here,
    spec: 'extra',
    id: 'WatchSandboxEvents',
    method: 'GET',
    path: '/v1/sandbox/{sandboxId}/events/watch',
    summary: 'Stream what happens to a sandbox, until it is gone',
    params: ids('sandboxId'),
    query: fields({ eventType: t.String(), after: afterEvent }),
    headers: resumable,
    response: SandboxEvent,
    stream: 'sse',
    access: 'viewer',
  }),
  WatchEvents: endpoint({
    ...here,
    spec: 'extra',
    id: 'WatchEvents',
    method: 'GET',
    path: '/v1/sandbox/events/watch',
    summary: 'Stream what happens to all sandboxes of the tenant',
    query: fields({ eventType: t.String(), after: afterEvent }),
    headers: resumable,
    response: SandboxEvent,
    stream: 'sse',
    access: 'viewer',
  }),
} satisfies Group;
