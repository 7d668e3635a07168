import { and, asc, count, eq } from 'drizzle-orm';
import type { Database } from '../../../db/open.ts';
import { type Health, mcpSandboxes, mcpServerRows, type ServerRow } from '../tables.ts';

/** How a check of a server ended. */
export interface Checked {
  readonly tenant: string;
  readonly id: string;
  readonly health: Health;
  readonly healthError: string | null;
  readonly healthCheckedAt: number;
}

/** Reads and writes servers, and the sandboxes that were made for them. */
export class ServerStore {
  constructor(private readonly db: Database) {}

  find(tenant: string, id: string): ServerRow | undefined {
    return this.db.sql.select().from(mcpServerRows).where(mine(tenant, id)).get();
  }

  findByName(tenant: string, name: string): ServerRow | undefined {
    const where = and(eq(mcpServerRows.tenant, tenant), eq(mcpServerRows.name, name));
    return this.db.sql.select().from(mcpServerRows).where(where).get();
  }

  findBySlug(tenant: string, slug: string): ServerRow | undefined {
    const where = and(eq(mcpServerRows.tenant, tenant), eq(mcpServerRows.slug, slug));
    return this.db.sql.select().from(mcpServerRows).where(where).get();
  }

  /** In the order in which they were registered. */
  list(tenant: string, enabledOnly: boolean): ServerRow[] {
    const where = and(
      eq(mcpServerRows.tenant, tenant),
      enabledOnly ? eq(mcpServerRows.enabled, true) : undefined,
    );
    return this.db.sql.select().from(mcpServerRows).where(where).orderBy(asc(mcpServerRows.id)).all();
  }

  /** Those of every tenant that are enabled. For health checks. */
  enabled(): ServerRow[] {
    return this.db.sql.select().from(mcpServerRows).where(eq(mcpServerRows.enabled, true)).all();
  }

  count(tenant: string): number {
    const where = eq(mcpServerRows.tenant, tenant);
    return this.db.sql.select({ total: count() }).from(mcpServerRows).where(where).get()?.total ?? 0;
  }

  insert(row: ServerRow): void {
    this.db.sql.insert(mcpServerRows).values(row).run();
  }

  change(tenant: string, id: string, change: Partial<ServerRow>): void {
    this.db.sql.update(mcpServerRows).set(change).where(mine(tenant, id)).run();
  }

  /** Notes how checks ended; servers that are gone meanwhile stay gone. */
  note(checks: readonly Checked[]): void {
    this.db.transaction(() => {
      for (const { tenant, id, ...change } of checks) this.change(tenant, id, change);
    });
  }

  /** Removes a server with its tools, its tokens and what was begun for it. */
  remove(tenant: string, id: string): void {
    this.db.sql.delete(mcpServerRows).where(mine(tenant, id)).run();
  }

  addSandbox(tenant: string, key: string): void {
    this.db.sql.insert(mcpSandboxes).values({ tenant, key }).run();
  }

  removeSandbox(tenant: string, key: string): void {
    const where = and(eq(mcpSandboxes.tenant, tenant), eq(mcpSandboxes.key, key));
    this.db.sql.delete(mcpSandboxes).where(where).run();
  }

  /** The sandboxes of every tenant that were not ended. For the start of the daemon. */
  sandboxes(): Array<typeof mcpSandboxes.$inferSelect> {
    return this.db.sql.select().from(mcpSandboxes).all();
  }
}

const mine = (tenant: string, id: string) => and(eq(mcpServerRows.tenant, tenant), eq(mcpServerRows.id, id));
