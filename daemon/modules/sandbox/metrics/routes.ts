import { sandboxMetrics } from '../../../../src/api/sandbox/metrics.ts';
import { implement, type Route } from '../../../http/route.ts';
import type { StatsService } from './service.ts';
import { toStats } from './wire.ts';

/** The operations on what sandboxes use. */
export function metricsRoutes(stats: StatsService): Route[] {
  return implement(sandboxMetrics, {
    GetSandboxStats: async ({ caller, params }) => ({
      stats: toStats(await stats.measure(caller.tenant, params.sessionId)),
    }),
  });
}
