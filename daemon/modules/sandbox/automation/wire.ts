import type { SandboxCron, SandboxTrigger } from '../../../../src/api/sandbox/crons.ts';
import type { SandboxWebhookDef, sandboxWebhooks } from '../../../../src/api/sandbox/webhooks.ts';
import type { Value } from '../../../../src/api/schema.ts';
import { rfc3339 } from '../../../../src/kit/time.ts';
import type { Invoked } from './invocation.ts';
import type { CronRow, RunRow, WebhookRow } from './tables.ts';

const BODY_HEAD = 4096;

/** A cron as the API shows it. */
export function toCron(row: CronRow): Value<typeof SandboxCron> {
  return {
    ...toWork(row),
    schedule: row.schedule,
    timezone: row.timezone,
    missedRuns: row.missedRuns,
    overlap: row.overlap,
    lastRunAt: rfc3339(row.lastRunAt),
    nextRunAt: rfc3339(row.nextRunAt),
    runCount: row.runCount,
  };
}

/** A webhook as the API shows it, without its secret. */
export function toWebhook(row: WebhookRow, baseUrl: string): Value<typeof SandboxWebhookDef> {
  return {
    ...toWork(row),
    path: row.path,
    url: `${baseUrl}/hooks/${row.path}`,
    rateLimitRpm: row.rateLimitRpm,
    lastTriggeredAt: rfc3339(row.lastTriggeredAt),
    triggerCount: row.triggerCount,
    unsigned: row.secret === null,
  };
}

/** A run as the API shows it. */
export function toTrigger(row: RunRow): Value<typeof SandboxTrigger> {
  const ended =
    row.finishedAt !== null && row.startedAt !== null ? row.finishedAt - row.startedAt : undefined;
  return {
    id: String(row.id),
    triggerType: row.type,
    triggerId: String(row.triggerId),
    sandboxId: row.sandboxId,
    executionId: row.executionId,
    status: row.status,
    error: row.error,
    durationMs: ended === undefined ? undefined : String(ended),
    webhookMethod: row.method,
    webhookHeaders: row.headers,
    webhookBody: row.body ? new TextDecoder().decode(row.body.subarray(0, BODY_HEAD)) : '',
    createdAt: rfc3339(row.createdAt),
    exitCode: row.exitCode ?? undefined,
    scheduledAt: rfc3339(row.scheduledAt),
    finishedAt: rfc3339(row.finishedAt),
  };
}

/** What became of a call, as its caller learns it. */
export function toInvoked({
  run,
  isRepeated,
  outcome,
}: Invoked): Value<typeof sandboxWebhooks.InvokeSandboxWebhook.response> {
  const triggerId = String(run.id);
  const executionId = run.executionId || undefined;
  if (isRepeated) return { triggerId, status: 'duplicate', executionId, exitCode: run.exitCode ?? undefined };
  if (!outcome) return { triggerId, status: run.status, executionId };
  const { status, stdout, stderr, error } = outcome;
  return {
    triggerId,
    status,
    executionId: outcome.executionId || undefined,
    exitCode: outcome.exitCode ?? undefined,
    stdout,
    stderr,
    error: error || undefined,
  };
}

function toWork(row: CronRow | WebhookRow) {
  return {
    id: String(row.id),
    tenantId: row.tenant,
    sandboxId: row.sandboxId,
    sessionId: row.sessionId,
    name: row.name,
    command: row.command,
    workDir: row.workDir,
    timeoutSeconds: row.timeoutSeconds,
    enabled: row.enabled,
    wake: row.wake,
    autoRecreate: row.autoRecreate,
    sandboxConfig: row.sandboxConfig ? { ...row.sandboxConfig } : undefined,
    errorCount: row.errorCount,
    lastError: row.lastError,
    createdAt: rfc3339(row.createdAt),
    updatedAt: rfc3339(row.updatedAt),
  };
}
