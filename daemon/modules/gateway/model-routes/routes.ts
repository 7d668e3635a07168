import { modelRoutes } from '../../../../src/api/gateway/model-routes.ts';
import { rfc3339 } from '../../../../src/kit/time.ts';
import { implement, type Route } from '../../../http/route.ts';
import type { ModelRoute } from '../routing/route.ts';
import type { ModelRouteService } from './service.ts';

/** The operations on aliases and fallback chains. */
export function modelRouteRoutes(service: ModelRouteService): Route[] {
  return implement(modelRoutes, {
    ListModelRoutes: ({ caller }) => ({ routes: service.list(caller.tenant).map(toWire) }),
    GetModelRoute: ({ caller, params }) => ({ route: toWire(service.get(caller.tenant, params.name)) }),
    PutModelRoute: ({ caller, params, body }) => ({ route: toWire(service.put(caller, params.name, body)) }),
    DeleteModelRoute: ({ caller, params }) => {
      service.remove(caller, params.name);
      return { success: true };
    },
  });
}

function toWire({ createdAt, updatedAt, targets, ...route }: ModelRoute) {
  return {
    ...route,
    targets: targets.map((target) => ({ ...target, parameters: { ...target.parameters } })),
    createdAt: rfc3339(createdAt),
    updatedAt: rfc3339(updatedAt),
  };
}
