import { budgets } from '../../../../src/api/gateway/budgets.ts';
import type { Clock } from '../../../../src/kit/time.ts';
import { implement, type Route } from '../../../http/route.ts';
import type { BudgetService } from './service.ts';
import { toBudget } from './wire.ts';

/** The operations on budgets. */
export function budgetRoutes(service: BudgetService, clock: Clock): Route[] {
  return implement(budgets, {
    ListBudgets: ({ caller }) => ({
      budgets: service.list(caller.tenant).map((account) => toBudget(account, clock.now())),
    }),
    SetBudget: async ({ caller, params, body }) =>
      toBudget(await service.set(caller, params.subject, body), clock.now()),
    DeleteBudget: ({ caller, params }) => {
      service.delete(caller, params.subject);
      return {};
    },
  });
}
