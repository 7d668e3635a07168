import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';

/** How a server is talked to. */
export type Transport = 'http' | 'sse' | 'stdio';

/** How a server is authenticated to. */
export type AuthKind = 'none' | 'api_key' | 'bearer' | 'oauth2';

/** How the last check of a server ended. */
export type Health = 'unknown' | 'healthy' | 'unhealthy';

/** Tool servers of tenants. */
export const mcpServerRows = sqliteTable('mcp_servers', {
  id: text().primaryKey(),
  tenant: text().notNull(),
  name: text().notNull(),
  slug: text().notNull(),
  transport: text().$type<Transport>().notNull(),
  url: text().notNull(),
  auth: text().$type<AuthKind>().notNull(),
  sealed: text().notNull(),
  toolFilter: text('tool_filter'),
  enabled: integer({ mode: 'boolean' }).notNull(),
  health: text().$type<Health>().notNull(),
  healthError: text('health_error'),
  healthCheckedAt: integer('health_checked_at'),
  createdAt: integer('created_at').notNull(),
  updatedAt: integer('updated_at').notNull(),
});

/** A row of `mcp_servers`. */
export type ServerRow = typeof mcpServerRows.$inferSelect;

/** What servers offer. */
export const mcpToolRows = sqliteTable('mcp_tools', {
  id: text().primaryKey(),
  tenant: text().notNull(),
  serverId: text('server_id').notNull(),
  name: text().notNull(),
  description: text().notNull(),
  inputSchema: text('input_schema').notNull(),
  annotations: text().notNull(),
  discoveredAt: integer('discovered_at').notNull(),
  lastSeenAt: integer('last_seen_at').notNull(),
});

/** A row of `mcp_tools`. */
export type ToolRow = typeof mcpToolRows.$inferSelect;

/** What authorization servers have given. */
export const mcpTokens = sqliteTable('mcp_tokens', {
  serverId: text('server_id').primaryKey(),
  tenant: text().notNull(),
  sealed: text().notNull(),
  updatedAt: integer('updated_at').notNull(),
});

/** Authorizations that a person has begun. */
export const mcpAuthorizations = sqliteTable('mcp_authorizations', {
  stateHash: text('state_hash').primaryKey(),
  tenant: text().notNull(),
  serverId: text('server_id').notNull(),
  sealed: text().notNull(),
  expiresAt: integer('expires_at').notNull(),
});

/** A row of `mcp_authorizations`. */
export type AuthorizationRow = typeof mcpAuthorizations.$inferSelect;

/** Sandboxes that were made for servers. */
export const mcpSandboxes = sqliteTable('mcp_sandboxes', {
  key: text().primaryKey(),
  tenant: text().notNull(),
});

/** Tools at /mcp that a tenant has switched. */
export const mcpSwitches = sqliteTable(
  'mcp_switches',
  {
    tenant: text().notNull(),
    tool: text().notNull(),
    enabled: integer({ mode: 'boolean' }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.tenant, table.tool] })],
);
