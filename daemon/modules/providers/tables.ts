import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';

/** How tenants have set providers up. */
export const providerConfigs = sqliteTable('provider_configs', {
  id: text().primaryKey(),
  tenant: text().notNull(),
  name: text().notNull(),
  /** Of names that the catalog does not have; empty for the others. */
  dialect: text().notNull(),
  /** Empty when it is the catalog's. */
  baseUrl: text('base_url').notNull(),
  /** Whatever the upstream has when empty. */
  models: text({ mode: 'json' }).$type<readonly string[]>().notNull(),
  settings: text({ mode: 'json' }).$type<Readonly<Record<string, string>>>().notNull(),
  createdAt: integer('created_at').notNull(),
  updatedAt: integer('updated_at').notNull(),
  syncedAt: integer('synced_at'),
});

/** A row of `provider_configs`. */
export type ConfigRow = typeof providerConfigs.$inferSelect;

/** Keys of providers: sealed, or the name of a variable of the environment. */
export const providerKeys = sqliteTable('provider_keys', {
  id: text().primaryKey(),
  tenant: text().notNull(),
  configId: text('config_id').notNull(),
  name: text().notNull(),
  sealed: text(),
  variable: text(),
  weight: integer().notNull(),
  isActive: integer('is_active', { mode: 'boolean' }).notNull(),
  source: text().$type<'manual' | 'config'>().notNull(),
  createdAt: integer('created_at').notNull(),
  updatedAt: integer('updated_at').notNull(),
});

/** A row of `provider_keys`. */
export type KeyRow = typeof providerKeys.$inferSelect;

/** Weights and switches of keys that the instance's configuration has. */
export const providerKeySwitches = sqliteTable(
  'provider_key_switches',
  {
    tenant: text().notNull(),
    keyId: text('key_id').notNull(),
    weight: integer().notNull(),
    isActive: integer('is_active', { mode: 'boolean' }).notNull(),
    updatedAt: integer('updated_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.tenant, table.keyId] })],
);

/** A row of `provider_key_switches`. */
export type SwitchRow = typeof providerKeySwitches.$inferSelect;

/** When a tenant last used a provider. */
export const providerUses = sqliteTable(
  'provider_uses',
  {
    tenant: text().notNull(),
    name: text().notNull(),
    lastUsedAt: integer('last_used_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.tenant, table.name] })],
);
