import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';

/** Ports that have an address: those that are exposed, and those that a signed link was made for. */
export const sandboxPorts = sqliteTable('sandbox_ports', {
  id: integer().primaryKey({ autoIncrement: true }),
  tenant: text().notNull(),
  sandboxId: text('sandbox_id').notNull(),
  port: integer().notNull(),
  protocol: text({ enum: ['http'] }).notNull(),
  /** Whether who knows the address may open it; otherwise a signed token is needed too. */
  exposed: integer({ mode: 'boolean' }).notNull(),
  /** Runs in the sandbox when a visitor has woken it. */
  wakeCommand: text('wake_command'),
  /** The address's token is made of this and the instance's key: the table alone does not give it away. */
  nonce: text().notNull(),
  tokenHash: text('token_hash').notNull(),
  createdAt: integer('created_at').notNull(),
});

/** A row of `sandbox_ports`. */
export type SandboxPort = typeof sandboxPorts.$inferSelect;
