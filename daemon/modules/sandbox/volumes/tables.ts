import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';

/** Volumes: folders that outlive sandboxes. */
export const volumes = sqliteTable('volumes', {
  id: text().primaryKey(),
  tenant: text().notNull(),
  name: text().notNull(),
  state: text({ enum: ['creating', 'ready', 'deleting', 'error'] }).notNull(),
  /** What went wrong, for a person. */
  errorReason: text('error_reason'),
  createdAt: integer('created_at').notNull(),
  updatedAt: integer('updated_at').notNull(),
  lastUsedAt: integer('last_used_at'),
});

/** A row of `volumes`. */
export type VolumeRow = typeof volumes.$inferSelect;
