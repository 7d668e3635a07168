import { and, eq, lt } from 'drizzle-orm';
import type { Database } from '../../../db/open.ts';
import { instanceLicense, type LicenseRow, licenseStatements, type StatementRow } from './tables.ts';

/** Reads and writes the licence of the instance, and which statements it has taken. */
export class LicenseStore {
  constructor(private readonly db: Database) {}

  license(tenant: string): LicenseRow | undefined {
    return this.db.sql.select().from(instanceLicense).where(eq(instanceLicense.tenant, tenant)).get();
  }

  putLicense(tenant: string, values: Omit<LicenseRow, 'tenant'>): void {
    this.db.sql
      .insert(instanceLicense)
      .values({ tenant, ...values })
      .onConflictDoUpdate({ target: instanceLicense.tenant, set: values })
      .run();
  }

  statement(tenant: string, jtiHash: string): StatementRow | undefined {
    return this.db.sql
      .select()
      .from(licenseStatements)
      .where(and(eq(licenseStatements.tenant, tenant), eq(licenseStatements.jtiHash, jtiHash)))
      .get();
  }

  /** Remembers a statement, and forgets those that have expired: they are refused for that. */
  addStatement(tenant: string, statement: Omit<StatementRow, 'tenant'>): void {
    this.db.sql
      .delete(licenseStatements)
      .where(and(eq(licenseStatements.tenant, tenant), lt(licenseStatements.expiresAt, statement.receivedAt)))
      .run();
    this.db.sql
      .insert(licenseStatements)
      .values({ tenant, ...statement })
      .run();
  }
}
