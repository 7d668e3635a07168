import { and, eq } from 'drizzle-orm';
import type { Database } from '../../../db/open.ts';
import { mcpSwitches } from '../tables.ts';

/** Which tools at /mcp a tenant has switched. */
export class SwitchStore {
  constructor(private readonly db: Database) {}

  /** What was switched, by the name of the tool. */
  all(tenant: string): ReadonlyMap<string, boolean> {
    const rows = this.db.sql.select().from(mcpSwitches).where(eq(mcpSwitches.tenant, tenant)).all();
    return new Map(rows.map(({ tool, enabled }) => [tool, enabled]));
  }

  isOn(tenant: string, tool: string): boolean {
    const where = and(eq(mcpSwitches.tenant, tenant), eq(mcpSwitches.tool, tool));
    return this.db.sql.select().from(mcpSwitches).where(where).get()?.enabled ?? true;
  }

  set(tenant: string, tool: string, enabled: boolean): void {
    this.db.sql
      .insert(mcpSwitches)
      .values({ tenant, tool, enabled })
      .onConflictDoUpdate({ target: [mcpSwitches.tenant, mcpSwitches.tool], set: { enabled } })
      .run();
  }
}
