import type { budgets } from '../../../../src/api/gateway/budgets.ts';
import type { Value } from '../../../../src/api/schema.ts';
import { fail, invalid } from '../../../../src/errors/app-error.ts';
import { isId } from '../../../../src/kit/id.ts';
import type { App } from '../../../app.ts';
import type { Caller } from '../../../http/route.ts';
import type { RequestLedger } from '../ledger/ledger.ts';
import type { TotalsStore } from '../ledger/totals-store.ts';
import { Account } from './account.ts';
import { type RequestBudgets, WHOLE_TENANT } from './request-budgets.ts';
import { BudgetStore } from './store.ts';
import type { BudgetRow } from './tables.ts';
import { beginOf } from './windows.ts';

/** What a budget is set to. */
export type BudgetChange = Value<typeof budgets.SetBudget.body>;

const MICROS = 1_000_000;

/** Sets and removes budgets. */
export class BudgetService {
  private readonly store: BudgetStore;

  constructor(
    private readonly app: Pick<App, 'db' | 'clock' | 'audit'>,
    private readonly ledger: RequestLedger,
    private readonly totals: TotalsStore,
    private readonly open: RequestBudgets,
  ) {
    this.store = new BudgetStore(app.db);
  }

  /** Opens the accounts again with what the daily sums say. After the ledger has caught up. */
  start(): void {
    for (const row of this.store.all()) this.open.open(this.accountOf(row));
  }

  /** The accounts of a tenant, that of the tenant itself first. */
  list(tenant: string): Account[] {
    const rank = ({ row }: Account) => (row.subject === WHOLE_TENANT ? '' : row.subject);
    return this.open.list(tenant).sort((a, b) => (rank(a) < rank(b) ? -1 : 1));
  }

  /**
   * Sets the budget of a subject in place of the one that it had. What was spent before counts.
   * Errors: invalid_argument naming the field.
   */
  async set({ tenant, actor }: Caller, subject: string, change: BudgetChange): Promise<Account> {
    const row = this.rowOf(tenant, subject, change);
    await this.ledger.settled();
    // From here to the end is one step: no request ends between the sums and the account.
    this.ledger.settleNow();
    this.app.db.transaction(() => {
      this.store.put(tenant, row);
      const { dayMicros, monthMicros, totalMicros, isHard } = row;
      const details = { dayMicros, monthMicros, totalMicros, isHard };
      this.app.audit.record({ tenant, actor, action: 'budget.set', target: subject, details });
    });
    const known = this.open.find(tenant, subject);
    if (known) known.row = row;
    else this.open.open(this.accountOf(row));
    return known ?? this.get(tenant, subject);
  }

  /** Errors: not_found. */
  delete({ tenant, actor }: Caller, subject: string): void {
    this.get(tenant, subject);
    this.app.db.transaction(() => {
      this.store.delete(tenant, subject);
      this.app.audit.record({ tenant, actor, action: 'budget.delete', target: subject });
    });
    this.open.close(tenant, subject);
  }

  private get(tenant: string, subject: string): Account {
    const account = this.open.find(tenant, subject);
    if (!account) throw fail('not_found', { what: 'budget of', id: subject });
    return account;
  }

  private rowOf(tenant: string, subject: string, change: BudgetChange): BudgetRow {
    const now = this.app.clock.now();
    const { dayUsd, monthUsd, totalUsd, hard = true, refuseUnpriced = false } = change;
    if (subject !== WHOLE_TENANT && !isId('key', subject) && !isId('usr', subject))
      throw invalid({
        field: 'subject',
        description: 'must be "tenant", or the id of an API key or of a person',
      });
    if ((dayUsd ?? monthUsd ?? totalUsd) === undefined)
      throw invalid({ field: 'dayUsd', description: 'set at least one of dayUsd, monthUsd and totalUsd' });
    return {
      tenant,
      subject,
      dayMicros: microsOf(dayUsd),
      monthMicros: microsOf(monthUsd),
      totalMicros: microsOf(totalUsd),
      isHard: hard,
      refusesUnpriced: refuseUnpriced,
      createdAt: this.open.find(tenant, subject)?.row.createdAt ?? now,
      updatedAt: now,
    };
  }

  private accountOf(row: BudgetRow): Account {
    const now = this.app.clock.now();
    const actors = row.subject === WHOLE_TENANT ? undefined : [row.subject];
    const spent = this.totals.spent(row.tenant, actors, beginOf('day', now), beginOf('month', now));
    return new Account(row, spent, now);
  }
}

function microsOf(usd: number | undefined): number | null {
  return usd === undefined ? null : Math.round(usd * MICROS);
}
