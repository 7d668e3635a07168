import { sandboxMetrics } from '../../../../src/api/sandbox/metrics.ts';
import { invalid } from '../../../../src/errors/app-error.ts';
import { SECOND_MS } from '../../../../src/kit/time.ts';
import { implement, type Route } from '../../../http/route.ts';
import { type ServerEvent, sse } from '../../../http/sse.ts';
import type { LifecycleService } from '../lifecycle/service.ts';
import type { Sandbox } from '../tables.ts';
import type { MetricsHistory } from './history.ts';
import type { Sampler } from './sampler.ts';
import type { StatsService } from './service.ts';
import type { Watched, Watches } from './watch.ts';
import { toStats } from './wire.ts';

/** Most sandboxes that one batch measures. */
const MAX_BATCH = 100;

/** What the operations on metrics stand on. */
export interface MetricsParts {
  readonly lifecycle: LifecycleService;
  readonly stats: StatsService;
  readonly watches: Watches;
  readonly sampler: Sampler;
  readonly history: MetricsHistory;
}

/** The operations on what sandboxes use. */
export function metricsRoutes({ lifecycle, stats, watches, sampler, history }: MetricsParts): Route[] {
  return implement(sandboxMetrics, {
    GetSandboxStats: async ({ caller, params }) => ({
      stats: toStats(await stats.measure(caller.tenant, params.sessionId)),
    }),
    GetMetrics: async ({ caller, params }) => ({
      stats: toStats(await stats.measure(caller.tenant, params.sandboxId)),
    }),
    WatchMetrics: ({ caller, params, signal, headers }) =>
      sse(toEvents(watches.watch(caller.tenant, params.sandboxId, signal)), { signal, headers }),
    GetMetricsHistory: ({ caller, params, query }) => {
      const { id } = lifecycle.get(caller.tenant, params.sandboxId);
      const points = history.list(caller.tenant, id, query.from, query.to);
      return { resolutionSeconds: Math.round(sampler.intervalMs / SECOND_MS), points: points.map(toStats) };
    },
    GetMetricsBatch: async ({ caller, query }) => {
      const rows = readIds(query.ids).map((id) => [id, lifecycle.store.find(caller.tenant, id)] as const);
      const running = rows.filter((entry): entry is [string, Sandbox] => entry[1]?.state === 'running');
      const usage = await stats.measureEach([...new Map(running.map(([, row]) => [row.id, row])).values()]);
      return {
        stats: Object.fromEntries(
          running.flatMap(([id, row]) => {
            const measured = usage.get(row.id);
            return measured ? [[id, toStats(measured)]] : [];
          }),
        ),
      };
    },
  });
}

/** Reads `a,b,c`. Errors: invalid_argument. */
export function readIds(text: string): string[] {
  const ids = [...new Set(text.split(',').map((id) => id.trim()))].filter((id) => id !== '');
  if (ids.length === 0) throw invalid({ field: 'ids', description: 'must name at least one sandbox' });
  if (ids.length > MAX_BATCH)
    throw invalid({ field: 'ids', description: `must name at most ${MAX_BATCH} sandboxes` });
  return ids;
}

/** Measurements are plain messages; the end is an event of that name. */
async function* toEvents(watched: AsyncGenerator<Watched>): AsyncGenerator<ServerEvent> {
  for await (const one of watched)
    yield 'end' in one ? { event: 'end', data: one.end } : { data: toStats(one.usage) };
}
