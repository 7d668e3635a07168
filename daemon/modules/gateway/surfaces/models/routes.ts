import { gatewayModels } from '../../../../../src/api/gateway/catalog.ts';
import { compatModels } from '../../../../../src/api/gateway/models.ts';
import { implement, type Route } from '../../../../http/route.ts';
import type { ListedModel, Router } from '../../routing/router.ts';

/** The models that calls may name: as stock clients list them, and by provider. */
export function modelRoutes(router: Router): Route[] {
  return [
    ...implement(compatModels, {
      ListCompatModels: async ({ caller }) => ({
        object: 'list' as const,
        data: (await router.list(caller.tenant)).map(toWire),
      }),
      GetCompatModel: async ({ caller, params }) => toWire(await router.get(caller.tenant, params.model)),
    }),
    ...implement(gatewayModels, {
      ListModels: async ({ caller }) => ({ providers: byProvider(await router.list(caller.tenant)) }),
    }),
  ];
}

function toWire({ id, created, provider }: ListedModel) {
  return { id, object: 'model' as const, created, owned_by: provider };
}

function byProvider(models: readonly ListedModel[]) {
  const providers = Map.groupBy(models, ({ provider }) => provider);
  return [...providers].map(([provider, list]) => ({ provider, models: list.map(({ id }) => id) }));
}
