import { and, desc, eq, lte } from 'drizzle-orm';
import type { Database } from '../../db/open.ts';
import {
  type CheckRow,
  type ConfigRow,
  configChecks,
  runtimeConfigs,
  runtimeSections,
  type SectionRow,
} from './tables.ts';

/** Checks that are kept of each tenant. */
export const KEPT_CHECKS = 100;

/** Reads and writes what tenants have changed, and their checks. */
export class SettingsStore {
  constructor(private readonly db: Database) {}

  config(tenant: string): ConfigRow | undefined {
    return this.db.sql.select().from(runtimeConfigs).where(eq(runtimeConfigs.tenant, tenant)).get();
  }

  sections(tenant: string): SectionRow[] {
    return this.db.sql.select().from(runtimeSections).where(eq(runtimeSections.tenant, tenant)).all();
  }

  /** The tenants that have changed anything, for the snapshot at the start. */
  tenants(): string[] {
    const rows = this.db.sql.select({ tenant: runtimeConfigs.tenant }).from(runtimeConfigs).all();
    return rows.map(({ tenant }) => tenant);
  }

  putConfig(tenant: string, values: Omit<ConfigRow, 'tenant'>): void {
    this.db.sql
      .insert(runtimeConfigs)
      .values({ tenant, ...values })
      .onConflictDoUpdate({ target: runtimeConfigs.tenant, set: values })
      .run();
  }

  putSection(tenant: string, { section, ...values }: Omit<SectionRow, 'tenant'>): void {
    this.db.sql
      .insert(runtimeSections)
      .values({ tenant, section, ...values })
      .onConflictDoUpdate({ target: [runtimeSections.tenant, runtimeSections.section], set: values })
      .run();
  }

  /** Adds a check and drops those that are too many. */
  addCheck(tenant: string, check: Omit<CheckRow, 'id' | 'tenant'>): void {
    this.db.sql
      .insert(configChecks)
      .values({ tenant, ...check })
      .run();
    const oldest = this.db.sql
      .select({ id: configChecks.id })
      .from(configChecks)
      .where(eq(configChecks.tenant, tenant))
      .orderBy(desc(configChecks.id))
      .offset(KEPT_CHECKS)
      .limit(1)
      .get();
    if (!oldest) return;
    this.db.sql
      .delete(configChecks)
      .where(and(eq(configChecks.tenant, tenant), lte(configChecks.id, oldest.id)))
      .run();
  }

  /** Newest first. */
  checks(tenant: string): CheckRow[] {
    return this.db.sql
      .select()
      .from(configChecks)
      .where(eq(configChecks.tenant, tenant))
      .orderBy(desc(configChecks.id))
      .all();
  }
}
