import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';

/** Temporary credentials, each for one sandbox. Of the token itself only the SHA-256 is kept. */
export const sshTokens = sqliteTable('ssh_tokens', {
  id: text().primaryKey(),
  tenant: text().notNull(),
  sandboxId: text('sandbox_id').notNull(),
  tokenHash: text('token_hash').notNull(),
  minutes: integer().notNull(),
  createdBy: text('created_by').notNull(),
  createdAt: integer('created_at').notNull(),
  expiresAt: integer('expires_at').notNull(),
});

/** A row of `ssh_tokens`. */
export type SshTokenRow = typeof sshTokens.$inferSelect;

/** Who was let into a sandbox, or was withdrawn from it: then `revoked_at` stands. */
export const sshGrants = sqliteTable(
  'ssh_grants',
  {
    tenant: text().notNull(),
    sandboxId: text('sandbox_id').notNull(),
    userId: text('user_id').notNull(),
    grantedBy: text('granted_by').notNull(),
    grantedAt: integer('granted_at').notNull(),
    revokedAt: integer('revoked_at'),
  },
  (table) => [primaryKey({ columns: [table.sandboxId, table.userId] })],
);

/** A row of `ssh_grants`. */
export type SshGrantRow = typeof sshGrants.$inferSelect;

/** Public keys. A key is known by its fingerprint, which stands for the whole key. */
export const sshKeys = sqliteTable('ssh_keys', {
  id: integer().primaryKey({ autoIncrement: true }),
  tenant: text().notNull(),
  userId: text('user_id').notNull(),
  name: text().notNull(),
  keyType: text('key_type').notNull(),
  /** `SHA256:` and the hash of the key in base64. */
  fingerprint: text().notNull(),
  createdAt: integer('created_at').notNull(),
  lastUsedAt: integer('last_used_at'),
});

/** A row of `ssh_keys`. */
export type SshKeyRow = typeof sshKeys.$inferSelect;
