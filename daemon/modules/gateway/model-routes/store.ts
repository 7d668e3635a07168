import { and, eq } from 'drizzle-orm';
import type { Database } from '../../../db/open.ts';
import { type ModelRouteRow, modelRoutes } from './tables.ts';

/** Reads and writes routes. */
export class ModelRouteStore {
  constructor(private readonly db: Database) {}

  /** Makes a route, or replaces the one of its name. */
  put(row: ModelRouteRow): void {
    const { strategy, targets, updatedAt } = row;
    this.db.sql
      .insert(modelRoutes)
      .values(row)
      .onConflictDoUpdate({
        target: [modelRoutes.tenant, modelRoutes.name],
        set: { strategy, targets, updatedAt },
      })
      .run();
  }

  remove(tenant: string, name: string): void {
    this.db.sql
      .delete(modelRoutes)
      .where(and(eq(modelRoutes.tenant, tenant), eq(modelRoutes.name, name)))
      .run();
  }

  /** The routes of every tenant. For the start of the daemon. */
  all(): ModelRouteRow[] {
    return this.db.sql.select().from(modelRoutes).all();
  }
}
