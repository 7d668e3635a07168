import { endpoint, type Group } from '../endpoint.ts';
import { model, t } from '../schema.ts';

/** The models of a provider. */
export const ProviderModels = model('ProviderModels', { provider: t.String(), models: t.Array(t.String()) });

const here = { spec: 'gateway', tag: 'Models' } as const;

/** The models of the gateway by provider. */
export const gatewayModels = {
  ListModels: endpoint({
    ...here,
    id: 'ListModels',
    method: 'GET',
    path: '/v1/gateway/models',
    summary: 'List the models by provider',
    response: model('ListModelsResponse', { providers: t.Array(ProviderModels) }),
    access: 'viewer',
  }),
} satisfies Group;
