import type { Budget, BudgetWindow } from '../../../../src/api/gateway/budgets.ts';
import type { Value } from '../../../../src/api/schema.ts';
import { rfc3339 } from '../../../../src/kit/time.ts';
import { usdOf } from '../ledger/wire.ts';
import type { Account, Standing } from './account.ts';

type ShownWindow = Value<typeof BudgetWindow>;

/** A budget as JSON, with what is spent of it. */
export function toBudget(account: Account, now: number): Value<typeof Budget> {
  const { row } = account;
  const windows = account.standings(now).map((one) => [one.window, toWindow(one, account.reserved)] as const);
  return {
    subject: row.subject,
    ...Object.fromEntries(windows),
    hard: row.isHard,
    refuseUnpriced: row.refusesUnpriced,
    createdAt: rfc3339(row.createdAt),
    updatedAt: rfc3339(row.updatedAt),
  };
}

function toWindow({ limit, spent, resetsAt }: Standing, held: number): ShownWindow {
  return {
    limitUsd: usdOf(limit),
    spentUsd: usdOf(spent),
    reservedUsd: usdOf(held),
    resetsAt: rfc3339(resetsAt),
  };
}
