import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import type { Mode } from './config/config.ts';

/** Functions of tenants. */
export const functionRows = sqliteTable('functions', {
  id: text().primaryKey(),
  tenant: text().notNull(),
  name: text().notNull(),
  description: text().notNull(),
  mode: text().$type<Mode>().notNull(),
  parameters: text().notNull(),
  sealed: text().notNull(),
  timeoutMs: integer('timeout_ms').notNull(),
  memoryMb: integer('memory_mb').notNull(),
  maxRetries: integer('max_retries').notNull(),
  enabled: integer({ mode: 'boolean' }).notNull(),
  createdAt: integer('created_at').notNull(),
  updatedAt: integer('updated_at').notNull(),
});

/** A row of `functions`. */
export type FunctionRow = typeof functionRows.$inferSelect;

/** Calls of functions. */
export const functionInvocations = sqliteTable('function_invocations', {
  id: text().primaryKey(),
  tenant: text().notNull(),
  functionId: text('function_id').notNull(),
  status: text().$type<InvocationStatus>().notNull(),
  error: text(),
  attempts: integer().notNull(),
  durationMs: integer('duration_ms'),
  startedAt: integer('started_at').notNull(),
});

/** How a call stands; `lost` when the daemon ended while it went on. */
export type InvocationStatus = 'running' | 'success' | 'error' | 'timeout' | 'cancelled' | 'lost';

/** A row of `function_invocations`. */
export type InvocationRow = typeof functionInvocations.$inferSelect;

/** Sandboxes that were made for functions. */
export const functionSandboxes = sqliteTable('function_sandboxes', {
  key: text().primaryKey(),
  tenant: text().notNull(),
});
