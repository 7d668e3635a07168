import { gatewayModels } from '../../../../../src/api/gateway/catalog.ts';
import { compatModels } from '../../../../../src/api/gateway/models.ts';
import { implement, type Route } from '../../../../http/route.ts';
import type { ListedModel, Router } from '../../routing/router.ts';
import { type KnownModels, knownModels } from './known-models.ts';

/** The models that calls may name: as stock clients list them, and by provider. */
export function modelRoutes(router: Router): Route[] {
  return [
    ...implement(compatModels, {
      ListCompatModels: async ({ caller }) => {
        const [models, known] = await Promise.all([router.list(caller.tenant), knownModels()]);
        return { object: 'list' as const, data: models.map((model) => toWire(model, known)) };
      },
      GetCompatModel: async ({ caller, params }) =>
        toWire(await router.get(caller.tenant, params.model), await knownModels()),
    }),
    ...implement(gatewayModels, {
      ListModels: async ({ caller }) => ({ providers: byProvider(await router.list(caller.tenant)) }),
    }),
  ];
}

function toWire({ id, created, provider }: ListedModel, known: KnownModels) {
  const about = known.find(provider, id.slice(provider.length + 1));
  const { contextWindow, inputPerMillion, outputPerMillion } = about ?? {};
  const pricing = {
    ...(inputPerMillion === undefined ? {} : { input_per_million: inputPerMillion }),
    ...(outputPerMillion === undefined ? {} : { output_per_million: outputPerMillion }),
  };
  return {
    id,
    object: 'model' as const,
    created,
    owned_by: provider,
    ...(contextWindow === undefined ? {} : { context_window: contextWindow }),
    ...(Object.keys(pricing).length === 0 ? {} : { pricing }),
  };
}

function byProvider(models: readonly ListedModel[]) {
  const providers = Map.groupBy(models, ({ provider }) => provider);
  return [...providers].map(([provider, list]) => ({ provider, models: list.map(({ id }) => id) }));
}
