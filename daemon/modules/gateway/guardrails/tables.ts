import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import type { GivenGuardrails } from './config.ts';

/** What tenants have given for their guardrails. */
export const guardrails = sqliteTable('guardrails', {
  tenant: text().primaryKey(),
  given: text({ mode: 'json' }).$type<GivenGuardrails>().notNull(),
  version: integer().notNull(),
  updatedAt: integer('updated_at').notNull(),
});

/** A row of `guardrails`. */
export type GuardrailRow = typeof guardrails.$inferSelect;
