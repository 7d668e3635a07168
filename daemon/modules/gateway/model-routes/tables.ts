import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import type { Strategy } from '../routing/chain.ts';
import type { RouteTarget } from '../routing/route.ts';

/** Names of tenants' own for models. */
export const modelRoutes = sqliteTable(
  'model_routes',
  {
    tenant: text().notNull(),
    name: text().notNull(),
    strategy: text().$type<Strategy>().notNull(),
    targets: text({ mode: 'json' }).$type<readonly RouteTarget[]>().notNull(),
    createdAt: integer('created_at').notNull(),
    updatedAt: integer('updated_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.tenant, table.name] })],
);

/** A row of `model_routes`. */
export type ModelRouteRow = typeof modelRoutes.$inferSelect;
