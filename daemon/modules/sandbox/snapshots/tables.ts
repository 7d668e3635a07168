import { integer, real, sqliteTable, text } from 'drizzle-orm/sqlite-core';

/** Snapshots of images and of sandboxes. */
export const snapshots = sqliteTable('snapshots', {
  id: text().primaryKey(),
  tenant: text().notNull(),
  name: text().notNull(),
  /** The driver that has its files. */
  backend: text({ enum: ['namespace', 'docker'] }).notNull(),
  state: text({ enum: ['pending', 'active', 'inactive', 'error'] }).notNull(),
  /** The image under it. */
  imageName: text('image_name').notNull(),
  sourceSandboxId: text('source_sandbox_id'),
  sizeBytes: integer('size_bytes'),
  cpu: real(),
  memoryMb: integer('memory_mb'),
  diskMb: integer('disk_mb'),
  /** Why it could not be made, for a person. */
  errorReason: text('error_reason'),
  createdAt: integer('created_at').notNull(),
  updatedAt: integer('updated_at').notNull(),
  lastUsedAt: integer('last_used_at'),
});

/** A row of `snapshots`. */
export type SnapshotRow = typeof snapshots.$inferSelect;
