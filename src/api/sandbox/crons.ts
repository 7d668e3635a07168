import { endpoint, type Group } from '../endpoint.ts';
import { fields, int32, int64, model, oneOf, struct, t, timestamp } from '../schema.ts';

/** What becomes of a run whose time passed while svc was not running; `skip` when absent. */
export const MISSED_RUNS = ['skip', 'run_once'] as const;

/** What becomes of a run whose forerunner has not ended; `skip` when absent. */
export const OVERLAPS = ['skip', 'queue', 'allow'] as const;

/** How a run of a cron or of a webhook stands. */
export const RUN_STATUSES = [
  'queued',
  'running',
  'succeeded',
  'failed',
  'timed_out',
  'skipped',
  'interrupted',
] as const;

const timezone = () =>
  t.String({ description: 'IANA name such as Europe/Berlin; UTC when absent.', maxLength: 64 });
const missedRuns = () => oneOf(...MISSED_RUNS);
const overlap = () => oneOf(...OVERLAPS);
const wake = () =>
  t.Boolean({ description: 'Wakes a sandbox that sleeps or is archived; true when absent.' });
const schedule = () =>
  t.String({ description: 'Five fields (minute hour day month weekday), or @hourly and the like.' });

/** A command that runs in a sandbox on a schedule. */
export const SandboxCron = model('SandboxCron', {
  id: int64(),
  tenantId: t.String(),
  sandboxId: t.String(),
  sessionId: t.String(),
  name: t.String(),
  schedule: schedule(),
  command: t.String(),
  workDir: t.String(),
  timeoutSeconds: int32(),
  enabled: t.Boolean(),
  lastRunAt: timestamp(),
  nextRunAt: timestamp(),
  runCount: int32(),
  errorCount: int32(),
  lastError: t.String(),
  autoRecreate: t.Boolean(),
  sandboxConfig: struct(),
  createdAt: timestamp(),
  updatedAt: timestamp(),
  timezone: timezone(),
  missedRuns: missedRuns(),
  overlap: overlap(),
  wake: wake(),
});

/** One run of a cron or of a webhook. */
export const SandboxTrigger = model('SandboxTrigger', {
  id: int64(),
  triggerType: oneOf('cron', 'webhook'),
  triggerId: int64(),
  sandboxId: t.String(),
  executionId: t.String(),
  status: oneOf(...RUN_STATUSES),
  error: t.String(),
  durationMs: int64(),
  webhookMethod: t.String(),
  webhookHeaders: struct(),
  webhookBody: t.String({ description: 'The first 4 KiB.' }),
  createdAt: timestamp(),
  exitCode: int32(),
  scheduledAt: timestamp(),
  finishedAt: timestamp(),
});

const here = { spec: 'agents', tag: 'Sandbox crons' } as const;

/** Commands that run in a sandbox on a schedule. */
export const sandboxCrons = {
  ListCrons: endpoint({
    ...here,
    id: 'ListCrons',
    method: 'GET',
    path: '/v1/sandbox/crons',
    summary: 'List the scheduled commands',
    query: fields({ tenantId: t.String(), sandboxId: t.String(), limit: int32(), offset: int32() }),
    response: model('ListCronsResponse', { crons: t.Array(SandboxCron), total: int32() }),
    access: 'viewer',
  }),
  CreateCron: endpoint({
    ...here,
    id: 'CreateCron',
    method: 'POST',
    path: '/v1/sandbox/crons',
    summary: 'Schedule a command',
    body: model('CreateCronRequest', {
      tenantId: t.String(),
      sandboxId: t.String(),
      sessionId: t.String(),
      name: t.String(),
      schedule: schedule(),
      command: t.String(),
      workDir: t.String(),
      timeoutSeconds: int32(),
      autoRecreate: t.Boolean(),
      sandboxConfig: struct(),
      timezone: timezone(),
      missedRuns: missedRuns(),
      overlap: overlap(),
      wake: wake(),
    }),
    response: model('CreateCronResponse', { cron: SandboxCron }),
    access: 'member',
  }),
  UpdateCron: endpoint({
    ...here,
    id: 'UpdateCron',
    method: 'PATCH',
    path: '/v1/sandbox/crons/{id}',
    summary: 'Change a scheduled command',
    params: t.Object({ id: int64() }),
    body: model('AgentsServiceUpdateCronBody', {
      tenantId: t.String(),
      name: t.String(),
      schedule: schedule(),
      command: t.String(),
      enabled: t.Boolean(),
      timeoutSeconds: int32(),
      workDir: t.String(),
      timezone: timezone(),
      missedRuns: missedRuns(),
      overlap: overlap(),
      wake: wake(),
    }),
    response: model('UpdateCronResponse', { cron: SandboxCron }),
    access: 'member',
  }),
  DeleteCron: endpoint({
    ...here,
    id: 'DeleteCron',
    method: 'DELETE',
    path: '/v1/sandbox/crons/{id}',
    summary: 'Remove a scheduled command',
    params: t.Object({ id: int64() }),
    query: fields({ tenantId: t.String() }),
    response: model('DeleteCronResponse', { success: t.Boolean(), message: t.String() }),
    access: 'member',
  }),
  ListTriggers: endpoint({
    ...here,
    id: 'ListTriggers',
    method: 'GET',
    path: '/v1/sandbox/triggers',
    summary: 'List the runs of crons and webhooks, newest first',
    query: fields({
      tenantId: t.String(),
      sandboxId: t.String(),
      triggerType: oneOf('cron', 'webhook'),
      triggerId: int64(),
      limit: int32(),
      offset: int32(),
    }),
    response: model('ListTriggersResponse', { triggers: t.Array(SandboxTrigger), total: int32() }),
    access: 'viewer',
  }),
} satisfies Group;
