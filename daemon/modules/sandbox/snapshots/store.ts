import { and, count, desc, eq, inArray, lt, sql } from 'drizzle-orm';
import type { Page } from '../../../../src/kit/page.ts';
import type { Database } from '../../../db/open.ts';
import { type SnapshotRow, snapshots } from './tables.ts';

/** Reads and writes snapshots. */
export class SnapshotStore {
  constructor(private readonly db: Database) {}

  insert(row: SnapshotRow): void {
    this.db.sql.insert(snapshots).values(row).run();
  }

  /** A snapshot by id, else by name. */
  find(tenant: string, idOrName: string): SnapshotRow | undefined {
    const by = (column: typeof snapshots.id | typeof snapshots.name) =>
      this.db.sql
        .select()
        .from(snapshots)
        .where(and(eq(snapshots.tenant, tenant), eq(column, idOrName)))
        .get();
    return by(snapshots.id) ?? by(snapshots.name);
  }

  list(tenant: string, { limit, offset }: Page): { rows: SnapshotRow[]; total: number } {
    const mine = eq(snapshots.tenant, tenant);
    const rows = this.db.sql
      .select()
      .from(snapshots)
      .where(mine)
      .orderBy(desc(snapshots.createdAt), desc(snapshots.id))
      .limit(limit)
      .offset(offset)
      .all();
    const total = this.db.sql.select({ total: count() }).from(snapshots).where(mine).get()?.total ?? 0;
    return { rows, total };
  }

  /** Changes a snapshot if it is in one of the states. Returns whether it was. */
  change(
    tenant: string,
    id: string,
    from: readonly SnapshotRow['state'][],
    change: Partial<SnapshotRow>,
  ): boolean {
    const found = and(
      eq(snapshots.tenant, tenant),
      eq(snapshots.id, id),
      inArray(snapshots.state, [...from]),
    );
    return (
      this.db.sql.update(snapshots).set(change).where(found).returning({ id: snapshots.id }).all().length > 0
    );
  }

  /** Returns whether there was one. */
  remove(tenant: string, id: string): boolean {
    const found = and(eq(snapshots.tenant, tenant), eq(snapshots.id, id));
    return this.db.sql.delete(snapshots).where(found).returning({ id: snapshots.id }).all().length > 0;
  }

  /** Snapshots of every tenant that are being made. For the start of the daemon. */
  pending(): SnapshotRow[] {
    return this.db.sql.select().from(snapshots).where(eq(snapshots.state, 'pending')).all();
  }

  /** The ids of every tenant's snapshots of a driver. For the start of the daemon. */
  idsOf(backend: SnapshotRow['backend']): Set<string> {
    const rows = this.db.sql
      .select({ id: snapshots.id })
      .from(snapshots)
      .where(eq(snapshots.backend, backend))
      .all();
    return new Set(rows.map(({ id }) => id));
  }

  /** Puts every tenant's active snapshots aside that nobody used since a time. */
  deactivate(unusedSince: number, now: number): void {
    const lastUse = sql`coalesce(${snapshots.lastUsedAt}, ${snapshots.createdAt})`;
    this.db.sql
      .update(snapshots)
      .set({ state: 'inactive', updatedAt: now })
      .where(and(eq(snapshots.state, 'active'), lt(lastUse, unusedSince)))
      .run();
  }
}
