import { and, asc, count, eq, inArray, notInArray } from 'drizzle-orm';
import type { Database } from '../../../db/open.ts';
import { mcpToolRows, type ToolRow } from '../tables.ts';

/** What a server says of a tool. */
export type SeenTool = Pick<ToolRow, 'name' | 'description' | 'inputSchema' | 'annotations'>;

/** Reads and writes what servers offer. */
export class ToolStore {
  constructor(private readonly db: Database) {}

  /** The tools of a server, by name. */
  list(tenant: string, serverId: string): ToolRow[] {
    return this.db.sql
      .select()
      .from(mcpToolRows)
      .where(of(tenant, serverId))
      .orderBy(asc(mcpToolRows.name))
      .all();
  }

  /** The tools of several servers, by name. */
  listOf(tenant: string, serverIds: readonly string[]): ToolRow[] {
    const where = and(eq(mcpToolRows.tenant, tenant), inArray(mcpToolRows.serverId, [...serverIds]));
    return this.db.sql.select().from(mcpToolRows).where(where).orderBy(asc(mcpToolRows.name)).all();
  }

  find(tenant: string, serverId: string, name: string): ToolRow | undefined {
    const where = and(of(tenant, serverId), eq(mcpToolRows.name, name));
    return this.db.sql.select().from(mcpToolRows).where(where).get();
  }

  /** How many tools each server of a tenant has. */
  counts(tenant: string): ReadonlyMap<string, number> {
    const rows = this.db.sql
      .select({ id: mcpToolRows.serverId, total: count() })
      .from(mcpToolRows)
      .where(eq(mcpToolRows.tenant, tenant))
      .groupBy(mcpToolRows.serverId)
      .all();
    return new Map(rows.map(({ id, total }) => [id, total]));
  }

  /** Makes the rows of a server what it offers now: tools that are there stay the same rows, others go. */
  replace(tenant: string, serverId: string, rows: readonly ToolRow[]): void {
    this.db.transaction(() => {
      const names = rows.map(({ name }) => name);
      const gone = names.length > 0 ? notInArray(mcpToolRows.name, names) : undefined;
      this.db.sql
        .delete(mcpToolRows)
        .where(and(of(tenant, serverId), gone))
        .run();
      for (const row of rows) {
        const { description, inputSchema, annotations, lastSeenAt } = row;
        this.db.sql
          .insert(mcpToolRows)
          .values(row)
          .onConflictDoUpdate({
            target: [mcpToolRows.serverId, mcpToolRows.name],
            set: { description, inputSchema, annotations, lastSeenAt },
          })
          .run();
      }
    });
  }
}

const of = (tenant: string, serverId: string) =>
  and(eq(mcpToolRows.tenant, tenant), eq(mcpToolRows.serverId, serverId));
