import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { LIFECYCLE_STATES } from '../../../src/api/sandbox/lifecycle.ts';
import type { SandboxConfig } from './lifecycle/config.ts';

/** Sandboxes, also those that are gone, until they are pruned. */
export const sandboxes = sqliteTable('sandboxes', {
  id: text().primaryKey(),
  tenant: text().notNull(),
  sessionId: text('session_id').notNull(),
  name: text().notNull(),
  /** The driver that made it. */
  backend: text({ enum: ['namespace', 'docker'] }).notNull(),
  containerId: text('container_id').notNull(),
  state: text({ enum: LIFECYCLE_STATES }).notNull(),
  config: text({ mode: 'json' }).$type<SandboxConfig>().notNull(),
  labels: text({ mode: 'json' }).$type<Readonly<Record<string, string>>>().notNull(),
  idempotencyKey: text('idempotency_key'),
  /** Why it ended. */
  reason: text({ enum: ['manual', 'expired', 'error', 'system'] }),
  /** What went wrong, for a person. */
  failure: text(),
  createdAt: integer('created_at').notNull(),
  updatedAt: integer('updated_at').notNull(),
  expiresAt: integer('expires_at'),
  stoppedAt: integer('stopped_at'),
  deleteAt: integer('delete_at'),
  /** When a sleeping sandbox is to be archived. */
  archiveAt: integer('archive_at'),
  /** The commit that was checked out when it was made. */
  gitCommit: text('git_commit'),
});

/** A row of `sandboxes`. */
export type Sandbox = typeof sandboxes.$inferSelect;

/** What happened to sandboxes. */
export const sandboxEvents = sqliteTable('sandbox_events', {
  id: integer().primaryKey({ autoIncrement: true }),
  tenant: text().notNull(),
  sandboxId: text('sandbox_id').notNull(),
  type: text().notNull(),
  message: text().notNull(),
  metadata: text({ mode: 'json' }).$type<Readonly<Record<string, unknown>>>().notNull(),
  durationMs: integer('duration_ms'),
  error: text(),
  createdAt: integer('created_at').notNull(),
});

/** A row of `sandbox_events`. */
export type SandboxEventRow = typeof sandboxEvents.$inferSelect;

/** Commands, terminals and code. */
export const executions = sqliteTable('executions', {
  id: text().primaryKey(),
  tenant: text().notNull(),
  sandboxId: text('sandbox_id').notNull(),
  kind: text({ enum: ['command', 'background', 'terminal', 'pipe', 'code'] }).notNull(),
  /** What it is written in: `sh`, or the language of its context. */
  language: text().notNull(),
  command: text().notNull(),
  /** Finds a background command again after a restart. */
  ref: text(),
  state: text({ enum: ['running', 'finished', 'lost'] }).notNull(),
  exitCode: integer('exit_code'),
  signal: text(),
  timedOut: integer('timed_out', { mode: 'boolean' }).notNull(),
  error: text(),
  /** The first kilobytes of each, for the history. */
  stdout: text().notNull(),
  stderr: text().notNull(),
  /** Bytes at the head of the log that are not kept any more. */
  logDropped: integer('log_dropped').notNull(),
  deadlineAt: integer('deadline_at'),
  durationMs: integer('duration_ms'),
  createdAt: integer('created_at').notNull(),
  finishedAt: integer('finished_at'),
});

/** A row of `executions`. */
export type ExecutionRow = typeof executions.$inferSelect;
