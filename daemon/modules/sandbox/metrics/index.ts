import type { Figure } from '../../../metrics/metrics.ts';
import type { Room, RoomContext } from '../room.ts';
import { MetricsHistory } from './history.ts';
import { metricsRoutes } from './routes.ts';
import { Sampler } from './sampler.ts';
import { Watches } from './watch.ts';

/** What sandboxes use: now, live, and in the last two hours. */
export function createMetricsRoom(context: RoomContext): Room & { readonly sampler: Sampler } {
  const { app, driver, lifecycle, events, stats } = context;
  const sampler = new Sampler(app, driver, lifecycle, events);
  const history = new MetricsHistory(app, sampler);
  const watches = new Watches(app, lifecycle, stats);
  return {
    sampler,
    routes: metricsRoutes({ lifecycle, stats, watches, sampler, history }),
    figures: [
      gauge('svc_sandboxes_cpu_cores', 'Cores that running sandboxes use.', () => sampler.totals().cores),
      gauge(
        'svc_sandboxes_memory_bytes',
        'Memory that running sandboxes use.',
        () => sampler.totals().memoryBytes,
      ),
      gauge('svc_sandboxes_processes', 'Processes of running sandboxes.', () => sampler.totals().pids),
      gauge('svc_metrics_watched_sandboxes', 'Sandboxes that somebody watches.', () => watches.open),
    ],
    start() {
      history.start();
      sampler.start();
    },
    async stop() {
      await sampler.stop();
      history.stop();
    },
  };
}

function gauge(name: string, help: string, read: () => number): Figure {
  return { name, help, type: 'gauge', read };
}
