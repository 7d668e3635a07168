import { and, asc, eq } from 'drizzle-orm';
import type { Database } from '../../../db/open.ts';
import { type BudgetRow, budgetRows } from './tables.ts';

/** Reads and writes budgets. */
export class BudgetStore {
  constructor(private readonly db: Database) {}

  /** Those of every tenant, for the start. */
  all(): BudgetRow[] {
    return this.db.sql
      .select()
      .from(budgetRows)
      .orderBy(asc(budgetRows.tenant), asc(budgetRows.subject))
      .all();
  }

  find(tenant: string, subject: string): BudgetRow | undefined {
    return this.db.sql.select().from(budgetRows).where(isOne(tenant, subject)).get();
  }

  /** Writes a budget in place of the one that the subject had. */
  put(tenant: string, row: Omit<BudgetRow, 'tenant'>): void {
    const { subject: _, ...set } = row;
    this.db.sql
      .insert(budgetRows)
      .values({ tenant, ...row })
      .onConflictDoUpdate({ target: [budgetRows.tenant, budgetRows.subject], set })
      .run();
  }

  /** Whether there was one. */
  delete(tenant: string, subject: string): boolean {
    return this.db.sql.delete(budgetRows).where(isOne(tenant, subject)).returning().all().length > 0;
  }
}

function isOne(tenant: string, subject: string) {
  return and(eq(budgetRows.tenant, tenant), eq(budgetRows.subject, subject));
}
