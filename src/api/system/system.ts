import { endpoint, type Group, SPECS } from '../endpoint.ts';
import { binary, object, oneOf, struct, t } from '../schema.ts';

const here = { spec: 'extra', tag: 'System' } as const;

/** What the instance says about itself. */
export const system = {
  Healthz: endpoint({
    ...here,
    id: 'Healthz',
    method: 'GET',
    path: '/healthz',
    summary: 'Answer 200 when the instance is ready',
    response: object('Health', { status: oneOf('ok', 'starting', 'stopping') }, { version: t.String() }),
    access: 'public',
  }),
  PrometheusMetrics: endpoint({
    ...here,
    id: 'PrometheusMetrics',
    method: 'GET',
    path: '/metrics',
    summary: 'Expose the metrics of the instance to Prometheus',
    response: binary('text/plain'),
    stream: 'bytes',
    access: 'viewer',
  }),
  GetOpenApi: endpoint({
    ...here,
    id: 'GetOpenApi',
    method: 'GET',
    path: '/openapi.json',
    summary: 'Describe all that the instance serves, as OpenAPI 3.0.3',
    response: struct(),
    access: 'public',
  }),
  GetOpenApiSpec: endpoint({
    ...here,
    id: 'GetOpenApiSpec',
    method: 'GET',
    path: '/openapi/{spec}.json',
    summary: 'Describe one of the 13 specifications, as OpenAPI 3.0.3',
    params: t.Object({ spec: oneOf(...SPECS) }),
    response: struct(),
    access: 'public',
  }),
} satisfies Group;
