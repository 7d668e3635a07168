import { endpoint, type Group } from '../endpoint.ts';
import { empty, ids, model, object, t, timestamp } from '../schema.ts';

const usd = (description: string) => t.Number({ minimum: 0, maximum: 1_000_000_000, description });

/** What may be spent in one window, and what was. In US dollars. */
export const BudgetWindow = model('BudgetWindow', {
  limitUsd: t.Number(),
  spentUsd: t.Number(),
  reservedUsd: t.Number({ description: 'Held back for requests that are under way.' }),
  resetsAt: timestamp(),
});

/** What a tenant, a key or a person may spend on models. */
export const Budget = model('Budget', {
  subject: t.String({ description: '"tenant", or the id of an API key or of a person.' }),
  day: BudgetWindow,
  month: BudgetWindow,
  total: BudgetWindow,
  hard: t.Boolean({ description: 'Requests that may exceed it are refused; otherwise it only counts.' }),
  refuseUnpriced: t.Boolean({ description: 'Requests to models without a known price are refused.' }),
  createdAt: timestamp(),
  updatedAt: timestamp(),
});

const here = { spec: 'extra', tag: 'Budgets' } as const;

/** Budgets for requests to models. */
export const budgets = {
  ListBudgets: endpoint({
    ...here,
    id: 'ListBudgets',
    method: 'GET',
    path: '/v1/budgets',
    summary: 'List the budgets and what is spent of them',
    response: model('ListBudgetsResponse', { budgets: t.Array(Budget) }),
    access: 'viewer',
  }),
  SetBudget: endpoint({
    ...here,
    id: 'SetBudget',
    method: 'PUT',
    path: '/v1/budgets/{subject}',
    summary: 'Set the budget of the tenant, a key or a person, in US dollars',
    params: ids('subject'),
    body: object(
      'SetBudgetRequest',
      {},
      {
        dayUsd: usd('For a day in UTC.'),
        monthUsd: usd('For a month in UTC.'),
        totalUsd: usd('For ever.'),
        hard: t.Boolean({ default: true }),
        refuseUnpriced: t.Boolean({ default: false }),
      },
    ),
    response: Budget,
    access: 'admin',
  }),
  DeleteBudget: endpoint({
    ...here,
    id: 'DeleteBudget',
    method: 'DELETE',
    path: '/v1/budgets/{subject}',
    summary: 'Remove a budget',
    params: ids('subject'),
    response: empty,
    access: 'admin',
  }),
} satisfies Group;
