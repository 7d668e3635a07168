import { and, count, desc, eq, ne, notInArray, sql } from 'drizzle-orm';
import type { Page } from '../../../../src/kit/page.ts';
import type { Database } from '../../../db/open.ts';
import { sandboxes } from '../tables.ts';
import { type VolumeRow, volumes } from './tables.ts';

/** Reads and writes volumes. */
export class VolumeStore {
  constructor(private readonly db: Database) {}

  insert(row: VolumeRow): void {
    this.db.sql.insert(volumes).values(row).run();
  }

  /** A volume by id, else by name among those that are not being deleted. */
  find(tenant: string, idOrName: string): VolumeRow | undefined {
    const one = (condition: ReturnType<typeof and>) =>
      this.db.sql
        .select()
        .from(volumes)
        .where(and(eq(volumes.tenant, tenant), condition))
        .get();
    return (
      one(eq(volumes.id, idOrName)) ?? one(and(eq(volumes.name, idOrName), ne(volumes.state, 'deleting')))
    );
  }

  list(tenant: string, { limit, offset }: Page): { rows: VolumeRow[]; total: number } {
    const mine = eq(volumes.tenant, tenant);
    const rows = this.db.sql
      .select()
      .from(volumes)
      .where(mine)
      .orderBy(desc(volumes.createdAt), desc(volumes.id))
      .limit(limit)
      .offset(offset)
      .all();
    const total = this.db.sql.select({ total: count() }).from(volumes).where(mine).get()?.total ?? 0;
    return { rows, total };
  }

  change(tenant: string, id: string, change: Partial<VolumeRow>): void {
    this.db.sql
      .update(volumes)
      .set(change)
      .where(and(eq(volumes.tenant, tenant), eq(volumes.id, id)))
      .run();
  }

  remove(tenant: string, id: string): void {
    this.db.sql
      .delete(volumes)
      .where(and(eq(volumes.tenant, tenant), eq(volumes.id, id)))
      .run();
  }

  /** A sandbox of the tenant, awake or not, that has the volume: its name, else its id. */
  userOf(tenant: string, id: string): string | undefined {
    const mounts = sql`EXISTS (SELECT 1 FROM json_each(${sandboxes.config}, '$.mounts') WHERE json_extract(value, '$.volumeId') = ${id})`;
    const user = this.db.sql
      .select({ id: sandboxes.id, name: sandboxes.name })
      .from(sandboxes)
      .where(and(eq(sandboxes.tenant, tenant), notInArray(sandboxes.state, ['terminated', 'failed']), mounts))
      .limit(1)
      .get();
    return user && (user.name || user.id);
  }

  /** Every tenant's volumes that are being deleted, and the ids of all. For the start of the daemon. */
  all(): VolumeRow[] {
    return this.db.sql.select().from(volumes).all();
  }
}
