import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';

/** Work to be done later, once or at intervals. */
export const jobs = sqliteTable('jobs', {
  id: text().primaryKey(),
  tenant: text(),
  kind: text().notNull(),
  payload: text({ mode: 'json' }).$type<Record<string, unknown>>().notNull(),
  state: text({ enum: ['waiting', 'running', 'done', 'failed'] }).notNull(),
  /** Interval of a repeating job in milliseconds. */
  everyMs: integer('every_ms'),
  runAt: integer('run_at').notNull(),
  attempts: integer().notNull(),
  maxAttempts: integer('max_attempts').notNull(),
  leaseOwner: text('lease_owner'),
  leaseUntil: integer('lease_until'),
  lastError: text('last_error'),
  createdAt: integer('created_at').notNull(),
  updatedAt: integer('updated_at').notNull(),
});

/** A row of `jobs`. */
export type Job = typeof jobs.$inferSelect;
