import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';

/** Where a tenant's metrics and traces go. */
export const otlpSettings = sqliteTable('otlp_settings', {
  tenant: text().primaryKey(),
  /** Empty when none was given. */
  endpoint: text().notNull(),
  /** The headers as JSON, sealed. */
  headers: text().notNull(),
  extraLabels: text('extra_labels', { mode: 'json' }).$type<Readonly<Record<string, string>>>().notNull(),
  enabled: integer({ mode: 'boolean' }).notNull(),
  updatedAt: integer('updated_at').notNull(),
});

/** A row of `otlp_settings`. */
export type OtlpRow = typeof otlpSettings.$inferSelect;
