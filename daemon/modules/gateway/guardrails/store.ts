import type { Database } from '../../../db/open.ts';
import { type GuardrailRow, guardrails } from './tables.ts';

/** Reads and writes what tenants have given for their guardrails. */
export class GuardrailStore {
  constructor(private readonly db: Database) {}

  /** Writes the row of a tenant, in place of the one that was there. */
  put(tenant: string, { given, version, updatedAt }: Omit<GuardrailRow, 'tenant'>): void {
    const set = { given, version, updatedAt };
    this.db.sql
      .insert(guardrails)
      .values({ tenant, ...set })
      .onConflictDoUpdate({ target: guardrails.tenant, set })
      .run();
  }

  /** The rows of every tenant. For the start of the daemon. */
  all(): GuardrailRow[] {
    return this.db.sql.select().from(guardrails).all();
  }
}
