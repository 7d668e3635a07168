import { blob, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { MISSED_RUNS, OVERLAPS, RUN_STATUSES } from '../../../../src/api/sandbox/crons.ts';
import type { CreateRequest } from '../lifecycle/config.ts';

/** What crons and webhooks have in common: a command, and the sandbox that it runs in. */
const work = {
  id: integer().primaryKey({ autoIncrement: true }),
  tenant: text().notNull(),
  /** Empty until the first run makes one. */
  sandboxId: text('sandbox_id').notNull(),
  sessionId: text('session_id').notNull(),
  name: text().notNull(),
  command: text().notNull(),
  workDir: text('work_dir').notNull(),
  timeoutSeconds: integer('timeout_seconds').notNull(),
  enabled: integer({ mode: 'boolean' }).notNull(),
  wake: integer({ mode: 'boolean' }).notNull(),
  autoRecreate: integer('auto_recreate', { mode: 'boolean' }).notNull(),
  sandboxConfig: text('sandbox_config', { mode: 'json' }).$type<CreateRequest>(),
  errorCount: integer('error_count').notNull(),
  lastError: text('last_error').notNull(),
  createdAt: integer('created_at').notNull(),
  updatedAt: integer('updated_at').notNull(),
};

/** Commands that run by the clock. */
export const sandboxCrons = sqliteTable('sandbox_crons', {
  ...work,
  schedule: text().notNull(),
  timezone: text().notNull(),
  missedRuns: text('missed_runs', { enum: MISSED_RUNS }).notNull(),
  overlap: text({ enum: OVERLAPS }).notNull(),
  lastRunAt: integer('last_run_at'),
  /** Null while it is disabled. */
  nextRunAt: integer('next_run_at'),
  runCount: integer('run_count').notNull(),
});

/** A row of `sandbox_crons`. */
export type CronRow = typeof sandboxCrons.$inferSelect;

/** Commands that run when their address is called. */
export const sandboxWebhooks = sqliteTable('sandbox_webhooks', {
  ...work,
  path: text().notNull(),
  rateLimitRpm: integer('rate_limit_rpm').notNull(),
  /** Sealed; null when requests need no signature. */
  secret: text(),
  lastTriggeredAt: integer('last_triggered_at'),
  triggerCount: integer('trigger_count').notNull(),
});

/** A row of `sandbox_webhooks`. */
export type WebhookRow = typeof sandboxWebhooks.$inferSelect;

/** Runs of both. */
export const sandboxTriggers = sqliteTable('sandbox_triggers', {
  id: integer().primaryKey({ autoIncrement: true }),
  tenant: text().notNull(),
  type: text({ enum: ['cron', 'webhook'] }).notNull(),
  triggerId: integer('trigger_id').notNull(),
  sandboxId: text('sandbox_id').notNull(),
  executionId: text('execution_id').notNull(),
  /** Runs of one lane follow each other; without a lane they run side by side. */
  lane: text(),
  status: text({ enum: RUN_STATUSES }).notNull(),
  error: text().notNull(),
  exitCode: integer('exit_code'),
  /** Names a webhook's delivery: it is taken once. */
  deliveryId: text('delivery_id'),
  method: text().notNull(),
  headers: text({ mode: 'json' }).$type<Readonly<Record<string, string>>>().notNull(),
  /** Whole until the run has ended, then its head. */
  body: blob({ mode: 'buffer' }),
  scheduledAt: integer('scheduled_at'),
  startedAt: integer('started_at'),
  finishedAt: integer('finished_at'),
  createdAt: integer('created_at').notNull(),
});

/** A row of `sandbox_triggers`. */
export type RunRow = typeof sandboxTriggers.$inferSelect;
