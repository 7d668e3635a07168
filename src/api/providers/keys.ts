import { endpoint, type Group } from '../endpoint.ts';
import { ids, int32, model, oneOf, t } from '../schema.ts';

/** A key of a provider, masked. */
export const ProviderAPIKey = model('ProviderAPIKey', {
  id: t.String(),
  providerConfigId: t.String(),
  keyName: t.String(),
  keyMasked: t.String({ description: 'The key with its secret part hidden.' }),
  weight: int32(),
  isActive: t.Boolean(),
  createdAt: t.String(),
  updatedAt: t.String(),
  source: oneOf('manual', 'config'),
});

const here = { spec: 'providers', tag: 'Provider keys' } as const;

/** Keys of providers, between which calls are spread by weight. */
export const providerKeys = {
  AddProviderAPIKey: endpoint({
    ...here,
    id: 'AddProviderAPIKey',
    method: 'POST',
    path: '/v1/providers/api-keys',
    summary: 'Add a key to a provider',
    body: model('AddProviderAPIKeyRequest', {
      providerConfigId: t.String(),
      keyName: t.String(),
      apiKey: t.String(),
      weight: int32({ minimum: 0, description: '1 when absent.' }),
    }),
    response: model('AddProviderAPIKeyResponse', { key: ProviderAPIKey }),
    access: 'admin',
  }),
  DeleteProviderAPIKey: endpoint({
    ...here,
    id: 'DeleteProviderAPIKey',
    method: 'DELETE',
    path: '/v1/providers/api-keys/{keyId}',
    summary: 'Remove a key',
    params: ids('keyId'),
    response: model('DeleteProviderAPIKeyResponse', { success: t.Boolean(), message: t.String() }),
    access: 'admin',
  }),
  ToggleAPIKey: endpoint({
    ...here,
    id: 'ToggleAPIKey',
    method: 'PATCH',
    path: '/v1/providers/api-keys/{keyId}/toggle',
    summary: 'Switch a key on or off',
    params: ids('keyId'),
    body: model('ProvidersServiceToggleAPIKeyBody', { isActive: t.Boolean() }),
    response: model('ToggleAPIKeyResponse', { key: ProviderAPIKey }),
    access: 'admin',
  }),
  UpdateAPIKeyWeight: endpoint({
    ...here,
    id: 'UpdateAPIKeyWeight',
    method: 'PATCH',
    path: '/v1/providers/api-keys/{keyId}/weight',
    summary: 'Change the share of the calls that a key gets',
    params: ids('keyId'),
    body: model('ProvidersServiceUpdateAPIKeyWeightBody', { weight: int32({ minimum: 0 }) }),
    response: model('UpdateAPIKeyWeightResponse', { key: ProviderAPIKey }),
    access: 'admin',
  }),
  ListProviderAPIKeys: endpoint({
    ...here,
    id: 'ListProviderAPIKeys',
    method: 'GET',
    path: '/v1/providers/api-keys/{providerConfigId}',
    summary: 'List the keys of a provider, masked',
    params: ids('providerConfigId'),
    response: model('ListProviderAPIKeysResponse', { keys: t.Array(ProviderAPIKey) }),
    access: 'admin',
  }),
} satisfies Group;
