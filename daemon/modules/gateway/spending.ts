import { MINUTE_MS } from '../../../src/kit/time.ts';
import type { App } from '../../app.ts';
import type { Route } from '../../http/route.ts';
import type { Metrics } from '../../metrics/metrics.ts';
import type { RuntimeSettings } from '../settings/index.ts';
import { RequestBudgets } from './budgets/request-budgets.ts';
import { budgetRoutes } from './budgets/routes.ts';
import { BudgetService } from './budgets/service.ts';
import { RequestLedger } from './ledger/ledger.ts';
import { RequestLog } from './ledger/request-log.ts';
import { usageRoutes } from './ledger/routes.ts';
import { TotalsStore } from './ledger/totals-store.ts';
import { UsageReports } from './ledger/usage.ts';
import { RequestLimits } from './limits/request-limits.ts';
import type { Stages } from './pipeline/stages.ts';
import { readPrices } from './prices/own-prices.ts';
import { PriceBook } from './prices/price-book.ts';

/** A flood of refused requests is written down as well; in this time it does not fill a disk. */
const PRUNE_MS = 5 * MINUTE_MS;

/** What counting and writing down takes from the app. */
export type SpendingApp = Pick<App, 'config' | 'db' | 'clock' | 'log' | 'jobs' | 'audit'>;

/** The stages that count requests and their money, and what is told of them. */
export interface Spending {
  readonly stages: Pick<Stages, 'limits' | 'budgets' | 'prices' | 'ledger'>;
  readonly routes: readonly Route[];
  /** Tokens that `provider/model` takes, prompt and answer together; undefined when that is not known. */
  contextWindow(model: string): number | undefined;
  /** Opens the log and the accounts. Before it no price is known. */
  start(): Promise<void>;
  /** Writes what is not written yet. */
  stop(): Promise<void>;
}

/** Makes limits, prices, budgets, the request log and the sums of it. Errors: invalid_argument naming a price of the configuration. */
export function createSpending(
  app: SpendingApp,
  settings: Pick<RuntimeSettings, 'of'>,
  metrics?: Pick<Metrics, 'figure'>,
): Spending {
  const { clock, config, db } = app;
  const totals = new TotalsStore(db);
  const ledger = new RequestLedger(app, totals, settings);
  const prices = new PriceBook(clock, readPrices(config.get('gateway.prices')));
  const limits = new RequestLimits(settings, clock);
  const budgets = new RequestBudgets(prices, clock);
  const service = new BudgetService(app, ledger, totals, budgets);
  ledger.onRecord((record) => budgets.book(record));
  app.jobs.every('gateway.log.prune', PRUNE_MS, () =>
    ledger.forget(clock.now() - config.get('gateway.log_retention'), config.get('gateway.log_max_requests')),
  );
  metrics?.figure({
    name: 'svc_gateway_log_shed_total',
    help: 'Requests that are counted but missing in the request log.',
    type: 'counter',
    read: () => ledger.shed,
  });
  metrics?.figure({
    name: 'svc_gateway_log_waiting',
    help: 'Requests that are not in the request log yet.',
    type: 'gauge',
    read: () => ledger.queued,
  });
  return {
    stages: { limits, budgets, prices, ledger },
    routes: [
      ...usageRoutes(new UsageReports(ledger, totals, clock), new RequestLog(ledger)),
      ...budgetRoutes(service, clock),
    ],
    contextWindow: (model) => prices.of(model)?.contextWindow,
    async start() {
      await prices.open();
      ledger.start();
      service.start();
    },
    stop: () => ledger.stop(),
  };
}
