import { endpoint, type Group } from '../endpoint.ts';
import { ids, int32, object, oneOf, struct, t, timestamp } from '../schema.ts';

/** How the targets of a route are tried. */
export const RouteStrategy = oneOf('priority', 'round_robin', 'weighted', 'least_connections', 'parallel');

/** One model that a route leads to. `parameters` replace fields of the request, such as `temperature`. */
export const RouteTarget = object(
  'ModelRouteTarget',
  { provider: t.String({ minLength: 1 }), model: t.String({ minLength: 1 }) },
  { parameters: struct(), weight: int32({ minimum: 1, maximum: 1000 }) },
);

/** A name for one or several models, before all other meanings of the name. */
export const ModelRoute = object('ModelRoute', {
  name: t.String(),
  strategy: RouteStrategy,
  targets: t.Array(RouteTarget),
  createdAt: timestamp(),
  updatedAt: timestamp(),
});

const here = { spec: 'extra', tag: 'Model routes' } as const;
const named = { path: '/v1/model-routes/{name}', params: ids('name') } as const;

/** Aliases and fallback chains of a tenant. */
export const modelRoutes = {
  ListModelRoutes: endpoint({
    ...here,
    id: 'ListModelRoutes',
    method: 'GET',
    path: '/v1/model-routes',
    summary: 'List the aliases and fallback chains',
    response: object('ListModelRoutesResponse', { routes: t.Array(ModelRoute) }),
    access: 'viewer',
  }),
  GetModelRoute: endpoint({
    ...here,
    ...named,
    id: 'GetModelRoute',
    method: 'GET',
    summary: 'Get an alias or fallback chain',
    response: object('GetModelRouteResponse', { route: ModelRoute }),
    access: 'viewer',
  }),
  PutModelRoute: endpoint({
    ...here,
    ...named,
    id: 'PutModelRoute',
    method: 'PUT',
    summary: 'Make or replace an alias or fallback chain',
    body: object(
      'PutModelRouteRequest',
      { targets: t.Array(RouteTarget, { minItems: 1, maxItems: 16 }) },
      { strategy: RouteStrategy },
    ),
    response: object('PutModelRouteResponse', { route: ModelRoute }),
    access: 'admin',
  }),
  DeleteModelRoute: endpoint({
    ...here,
    ...named,
    id: 'DeleteModelRoute',
    method: 'DELETE',
    summary: 'Forget an alias or fallback chain',
    response: object('DeleteModelRouteResponse', { success: t.Boolean() }),
    access: 'admin',
  }),
} satisfies Group;
