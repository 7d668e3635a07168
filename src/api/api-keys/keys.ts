import { endpoint, type Group } from '../endpoint.ts';
import { enumeration, fields, ids, model, t, timestamp } from '../schema.ts';

/** Whether a key stands for a person or for the team. */
export const ApiKeyType = enumeration('ApiKeyType', [
  'API_KEY_TYPE_UNSPECIFIED',
  'API_KEY_TYPE_USER',
  'API_KEY_TYPE_ORG',
]);

/** A key that programs call the service with. */
export const ApiKey = model('ApiKey', {
  id: t.String(),
  name: t.String(),
  hash: t.String({ description: 'SHA-256 of the key, in hex.' }),
  userId: t.String(),
  orgId: t.String(),
  type: ApiKeyType,
  sensitiveId: t.String({
    description: 'The key with its middle hidden; the key itself in the answer that makes or renews it.',
  }),
  lastUsedAt: timestamp(),
  createdAt: timestamp(),
  updatedAt: timestamp(),
});

const madeKey = t.String({ description: 'The key itself. It is shown here and never again.' });

const here = { spec: 'api-keys', tag: 'API keys' } as const;

/** Keys that programs call the service with. */
export const apiKeys = {
  CreateApiKey: endpoint({
    ...here,
    id: 'CreateApiKey',
    method: 'POST',
    path: '/v1/api-key/create',
    summary: 'Create a key and show it once',
    body: model('CreateApiKeyRequest', {
      name: t.String(),
      userId: t.String(),
      orgId: t.String(),
      type: ApiKeyType,
    }),
    response: model('CreateApiKeyResponse', { apiKey: ApiKey, key: madeKey }),
    access: 'member',
  }),
  ListApiKeys: endpoint({
    ...here,
    id: 'ListApiKeys',
    method: 'GET',
    path: '/v1/api-key/list',
    summary: 'List the keys',
    query: fields({ userId: t.String(), orgId: t.String(), type: ApiKeyType }),
    response: model('ListApiKeysResponse', { apiKeys: t.Array(ApiKey) }),
    access: 'member',
  }),
  GetApiKey: endpoint({
    ...here,
    id: 'GetApiKey',
    method: 'GET',
    path: '/v1/api-key/{id}',
    summary: 'Get a key, without its secret',
    params: ids('id'),
    response: model('GetApiKeyResponse', { apiKey: ApiKey }),
    access: 'member',
  }),
  UpdateApiKey: endpoint({
    ...here,
    id: 'UpdateApiKey',
    method: 'POST',
    path: '/v1/api-key/update',
    summary: 'Change what is recorded about a key',
    query: fields({
      id: t.String(),
      name: t.String(),
      userId: t.String(),
      orgId: t.String(),
      type: ApiKeyType,
    }),
    response: model('UpdateApiKeyResponse', { apiKey: ApiKey }),
    access: 'member',
  }),
  RegenerateApiKey: endpoint({
    ...here,
    id: 'RegenerateApiKey',
    method: 'POST',
    path: '/v1/api-key/regenerate',
    summary: 'Give a key a new secret and end the old one',
    query: fields({ id: t.String() }),
    response: model('RegenerateApiKeyResponse', { apiKey: ApiKey, key: madeKey }),
    access: 'member',
  }),
  DeleteApiKey: endpoint({
    ...here,
    id: 'DeleteApiKey',
    method: 'DELETE',
    path: '/v1/api-key/{id}',
    summary: 'Revoke a key for good',
    params: ids('id'),
    response: model('DeleteApiKeyResponse', { success: t.Boolean(), message: t.String() }),
    access: 'member',
  }),
} satisfies Group;
