import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { LANGUAGES } from './languages.ts';

/** Code contexts, also those that have ended, until their sandbox is pruned. */
export const codeContexts = sqliteTable('code_contexts', {
  id: text().primaryKey(),
  tenant: text().notNull(),
  sandboxId: text('sandbox_id').notNull(),
  language: text({ enum: LANGUAGES }).notNull(),
  state: text({ enum: ['open', 'ended'] }).notNull(),
  /** Why it ended, for a person. */
  reason: text(),
  createdAt: integer('created_at').notNull(),
  endedAt: integer('ended_at'),
});

/** A row of `code_contexts`. */
export type CodeContextRow = typeof codeContexts.$inferSelect;
