import { and, asc, eq, sql } from 'drizzle-orm';
import type { Database } from '../../db/open.ts';
import {
  type ConfigRow,
  type KeyRow,
  providerConfigs,
  providerKeySwitches,
  providerKeys,
  providerUses,
  type SwitchRow,
} from './tables.ts';

/** What of a configuration may change. */
export type ConfigChange = Partial<
  Pick<ConfigRow, 'dialect' | 'baseUrl' | 'models' | 'settings' | 'updatedAt' | 'syncedAt'>
>;

/** What of a key may change. */
export type KeyChange = Partial<Omit<KeyRow, 'id' | 'tenant' | 'configId' | 'createdAt'>>;

/** Reads and writes how tenants have set providers up. */
export class ProviderStore {
  constructor(private readonly db: Database) {}

  /** The tenants that have any configuration of their own. */
  tenants(): string[] {
    const rows = this.db.sql.selectDistinct({ tenant: providerConfigs.tenant }).from(providerConfigs).all();
    return rows.map(({ tenant }) => tenant);
  }

  /** A tenant's configurations, oldest first. */
  configs(tenant: string): ConfigRow[] {
    return this.db.sql
      .select()
      .from(providerConfigs)
      .where(eq(providerConfigs.tenant, tenant))
      .orderBy(asc(providerConfigs.createdAt), sql`rowid`)
      .all();
  }

  addConfig(row: ConfigRow): void {
    this.db.sql.insert(providerConfigs).values(row).run();
  }

  changeConfig(tenant: string, id: string, change: ConfigChange): void {
    this.db.sql
      .update(providerConfigs)
      .set(change)
      .where(and(eq(providerConfigs.tenant, tenant), eq(providerConfigs.id, id)))
      .run();
  }

  /** Notes when all configurations of a tenant were written to its file or read from it. */
  markSynced(tenant: string, at: number): void {
    this.db.sql.update(providerConfigs).set({ syncedAt: at }).where(eq(providerConfigs.tenant, tenant)).run();
  }

  /** Removes a configuration with its keys. */
  removeConfig(tenant: string, id: string): void {
    this.db.sql
      .delete(providerConfigs)
      .where(and(eq(providerConfigs.tenant, tenant), eq(providerConfigs.id, id)))
      .run();
  }

  /** A tenant's keys of all providers, oldest first. */
  keys(tenant: string): KeyRow[] {
    return this.db.sql
      .select()
      .from(providerKeys)
      .where(eq(providerKeys.tenant, tenant))
      .orderBy(asc(providerKeys.createdAt), sql`rowid`)
      .all();
  }

  addKey(row: KeyRow): void {
    this.db.sql.insert(providerKeys).values(row).run();
  }

  changeKey(tenant: string, id: string, change: KeyChange): void {
    this.db.sql
      .update(providerKeys)
      .set(change)
      .where(and(eq(providerKeys.tenant, tenant), eq(providerKeys.id, id)))
      .run();
  }

  removeKey(tenant: string, id: string): void {
    this.db.sql
      .delete(providerKeys)
      .where(and(eq(providerKeys.tenant, tenant), eq(providerKeys.id, id)))
      .run();
  }

  switches(tenant: string): SwitchRow[] {
    return this.db.sql.select().from(providerKeySwitches).where(eq(providerKeySwitches.tenant, tenant)).all();
  }

  putSwitch({ tenant, keyId, ...values }: SwitchRow): void {
    this.db.sql
      .insert(providerKeySwitches)
      .values({ tenant, keyId, ...values })
      .onConflictDoUpdate({
        target: [providerKeySwitches.tenant, providerKeySwitches.keyId],
        set: values,
      })
      .run();
  }

  /** When a tenant last used its providers, by name. */
  uses(tenant: string): Map<string, number> {
    const rows = this.db.sql.select().from(providerUses).where(eq(providerUses.tenant, tenant)).all();
    return new Map(rows.map(({ name, lastUsedAt }) => [name, lastUsedAt]));
  }

  /** Notes uses; what is later than what is known stays. */
  putUses(rows: ReadonlyArray<typeof providerUses.$inferInsert>): void {
    if (rows.length === 0) return;
    this.db.transaction(() => {
      for (const { lastUsedAt, ...row } of rows)
        this.db.sql
          .insert(providerUses)
          .values({ ...row, lastUsedAt })
          .onConflictDoUpdate({
            target: [providerUses.tenant, providerUses.name],
            set: { lastUsedAt: sql`max(last_used_at, ${lastUsedAt})` },
          })
          .run();
    });
  }
}
