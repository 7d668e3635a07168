import { system } from '../../../src/api/system/system.ts';
import type { App, Module } from '../../app.ts';
import { indexDocument, specDocument } from '../../http/openapi.ts';
import { implement } from '../../http/route.ts';
import type { Metrics } from '../../metrics/metrics.ts';
import { version } from '../../version.ts';
import { jobRoutes } from './jobs.ts';

/**
 * What the instance says about itself: health, metrics, documents, jobs. Figures by names that organizations have given
 * are for `instanceTenant`, the one that the instance belongs to.
 */
export function createSystemModule(app: App, metrics: Metrics, instanceTenant: string): Module {
  return {
    name: 'system',
    routes: [
      ...implement(system, {
        Healthz: () => ({ status: 'ok' as const, version }),
        PrometheusMetrics: async ({ caller }) => {
          const text = await metrics.render(caller.tenant === instanceTenant ? 'all' : 'nameless');
          return new Response(text, { headers: { 'content-type': metrics.contentType } });
        },
        GetOpenApi: () => indexDocument(),
        GetOpenApiSpec: ({ params }) => specDocument(params.spec),
      }),
      ...jobRoutes(app),
    ],
  };
}
