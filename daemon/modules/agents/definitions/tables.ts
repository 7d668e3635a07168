import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import type { AgentMode } from './agent.ts';
import type { Definition } from './definition.ts';

/** Agents of tenants. What is asked for in lists stands beside the definition. */
export const agentRows = sqliteTable('agents', {
  id: text().primaryKey(),
  tenant: text().notNull(),
  name: text().notNull(),
  mentionAlias: text('mention_alias'),
  mode: text().$type<AgentMode>().notNull(),
  hidden: integer({ mode: 'boolean' }).notNull(),
  enabled: integer({ mode: 'boolean' }).notNull(),
  version: integer().notNull(),
  definition: text({ mode: 'json' }).$type<Definition>().notNull(),
  createdAt: integer('created_at').notNull(),
  updatedAt: integer('updated_at').notNull(),
});

/** A row of `agents`. */
export type AgentRow = typeof agentRows.$inferSelect;

/** What agents were at each version. */
export const agentVersions = sqliteTable(
  'agent_versions',
  {
    agentId: text('agent_id').notNull(),
    tenant: text().notNull(),
    version: integer().notNull(),
    definition: text({ mode: 'json' }).$type<Definition>().notNull(),
    changes: text({ mode: 'json' }).$type<string[]>().notNull(),
    actor: text().notNull(),
    byAgent: text('by_agent'),
    createdAt: integer('created_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.agentId, table.version] })],
);

/** A row of `agent_versions`. */
export type VersionRow = typeof agentVersions.$inferSelect;
