import { blob, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';

/** What sessions keep beside their conversation. */
export const agentArtifacts = sqliteTable('agent_artifacts', {
  id: text().primaryKey(),
  tenant: text().notNull(),
  sessionId: text('session_id').notNull(),
  /** The call that it comes from. */
  callId: text('call_id').notNull(),
  /** A whole result of a tool, or a file that an agent has handed over. */
  kind: text({ enum: ['result', 'upload'] }).notNull(),
  name: text().notNull(),
  mediaType: text('media_type').notNull(),
  /** In bytes. */
  size: integer().notNull(),
  complete: integer({ mode: 'boolean' }).notNull(),
  createdAt: integer('created_at').notNull(),
});

/** A row of `agent_artifacts`. */
export type ArtifactRow = typeof agentArtifacts.$inferSelect;

/** Their bytes, a part a row. */
export const agentArtifactParts = sqliteTable(
  'agent_artifact_parts',
  {
    artifactId: text('artifact_id').notNull(),
    /** Where it begins in the whole. */
    start: integer().notNull(),
    bytes: blob({ mode: 'buffer' }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.artifactId, table.start] })],
);
