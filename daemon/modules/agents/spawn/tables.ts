import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';

/** Agents that agents have started, and the sessions at the roots of their trees. */
export const agentSpawns = sqliteTable('agent_spawns', {
  id: text().primaryKey(),
  tenant: text().notNull(),
  treeId: text('tree_id').notNull(),
  parentId: text('parent_id'),
  sessionId: text('session_id').notNull(),
  callId: text('call_id'),
  depth: integer().notNull(),
  task: text().notNull(),
  isJob: integer('is_job', { mode: 'boolean' }).notNull(),
  createdAt: integer('created_at').notNull(),
});

/** A row of `agent_spawns`. */
export type SpawnRow = typeof agentSpawns.$inferSelect;
