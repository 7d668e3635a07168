import { eq } from 'drizzle-orm';
import type { Database } from '../../../db/open.ts';
import { type OtlpRow, otlpSettings } from './tables.ts';

/** Reads and writes where tenants' figures go. */
export class OtlpStore {
  constructor(private readonly db: Database) {}

  find(tenant: string): OtlpRow | undefined {
    return this.db.sql.select().from(otlpSettings).where(eq(otlpSettings.tenant, tenant)).get();
  }

  put({ tenant, ...values }: OtlpRow): void {
    this.db.sql
      .insert(otlpSettings)
      .values({ tenant, ...values })
      .onConflictDoUpdate({ target: otlpSettings.tenant, set: values })
      .run();
  }

  /** Those of every tenant that are switched on, for the exporter. */
  enabled(): OtlpRow[] {
    return this.db.sql.select().from(otlpSettings).where(eq(otlpSettings.enabled, true)).all();
  }
}
