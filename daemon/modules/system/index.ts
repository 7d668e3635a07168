import { system } from '../../../src/api/system/system.ts';
import type { App, Module } from '../../app.ts';
import { indexDocument, specDocument } from '../../http/openapi.ts';
import { implement } from '../../http/route.ts';
import type { Metrics } from '../../metrics/metrics.ts';
import { version } from '../../version.ts';
import { jobRoutes } from './jobs.ts';

/** What the instance says about itself: health, metrics, documents, jobs. */
export function createSystemModule(app: App, metrics: Metrics): Module {
  return {
    name: 'system',
    routes: [
      ...implement(system, {
        Healthz: () => ({ status: 'ok' as const, version }),
        PrometheusMetrics: async () =>
          new Response(await metrics.render(), { headers: { 'content-type': metrics.contentType } }),
        GetOpenApi: () => indexDocument(),
        GetOpenApiSpec: ({ params }) => specDocument(params.spec),
      }),
      ...jobRoutes(app),
    ],
  };
}
