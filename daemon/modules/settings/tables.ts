import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import type { Given, SectionName } from './sections.ts';

/** How often a tenant has changed its configuration. */
export const runtimeConfigs = sqliteTable('runtime_configs', {
  tenant: text().primaryKey(),
  version: integer().notNull(),
  updatedAt: integer('updated_at').notNull(),
});

/** What a tenant has given for a section. What is not in it has the instance's default. */
export const runtimeSections = sqliteTable(
  'runtime_sections',
  {
    tenant: text().notNull(),
    section: text().$type<SectionName>().notNull(),
    given: text({ mode: 'json' }).$type<Given>().notNull(),
    version: integer().notNull(),
    updatedAt: integer('updated_at').notNull(),
  },
  ({ tenant, section }) => [primaryKey({ columns: [tenant, section] })],
);

/** Checks that were made, the newest ones of each tenant. */
export const configChecks = sqliteTable('config_checks', {
  id: integer().primaryKey({ autoIncrement: true }),
  tenant: text().notNull(),
  checkedAt: integer('checked_at').notNull(),
  state: text().$type<CheckState>().notNull(),
  errorCount: integer('error_count').notNull(),
  warningCount: integer('warning_count').notNull(),
  configHash: text('config_hash').notNull(),
  sections: text({ mode: 'json' }).$type<readonly string[]>().notNull(),
});

/** How a check ended; `error` when the text could not be read at all. */
export type CheckState = 'valid' | 'warning' | 'invalid' | 'error';
/** A row of `runtime_configs`. */
export type ConfigRow = typeof runtimeConfigs.$inferSelect;
/** A row of `runtime_sections`. */
export type SectionRow = typeof runtimeSections.$inferSelect;
/** A row of `config_checks`. */
export type CheckRow = typeof configChecks.$inferSelect;
