import type { Budget } from '../../../src/api/gateway/budgets.ts';
import type { Value } from '../../../src/api/schema.ts';
import type { Cli } from '../../cli.ts';
import { bar } from '../../ui/graph.ts';
import { showList } from '../../ui/show.ts';
import { relativeTime } from '../../ui/time.ts';
import { usd } from '../usage/shown.ts';

/** A budget as the API shows it. */
export type ShownBudget = Value<typeof Budget>;

const WINDOWS = ['day', 'month', 'total'] as const;
const BAR_WIDTH = 12;

/** Prints budgets, one line a limit. */
export function showBudgets(cli: Cli, budgets: readonly ShownBudget[]): void {
  const rows = budgets.flatMap((budget) =>
    WINDOWS.flatMap((name) => {
      const window = budget[name];
      return window ? [{ ...budget, ...window, name }] : [];
    }),
  );
  showList(cli, {
    rows,
    none: 'There are no budgets. Set one: svc budget set tenant --month 50',
    columns: [
      { title: 'SUBJECT', text: ({ subject }) => subject },
      { title: 'FOR', text: ({ name }) => name },
      {
        title: 'LIMIT',
        align: 'right',
        text: ({ limitUsd }) => usd(limitUsd),
        raw: ({ limitUsd }) => String(limitUsd),
      },
      {
        title: 'SPENT',
        align: 'right',
        text: ({ spentUsd }) => usd(spentUsd),
        raw: ({ spentUsd }) => String(spentUsd),
      },
      {
        title: 'HELD',
        align: 'right',
        text: ({ reservedUsd }) => usd(reservedUsd),
        raw: ({ reservedUsd }) => String(reservedUsd),
      },
      {
        title: 'USED',
        text: ({ spentUsd = 0, limitUsd = 0 }) => bar(limitUsd > 0 ? spentUsd / limitUsd : 1, BAR_WIDTH),
        raw: ({ spentUsd = 0, limitUsd = 0 }) => String(limitUsd > 0 ? spentUsd / limitUsd : 1),
      },
      {
        title: 'BEGINS ANEW',
        text: ({ resetsAt }) => relativeTime(resetsAt) || 'never',
        raw: ({ resetsAt }) => resetsAt,
      },
      { title: 'WHEN SPENT', text: ({ hard }) => (hard ? 'refuse' : 'count') },
    ],
  });
}
