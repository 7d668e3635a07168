import { endpoint, type Group } from '../endpoint.ts';
import { fields, ids, int32, int64, model, oneOf, stringMap, t } from '../schema.ts';

/** What a provider can do. */
export const ProviderCapabilities = model('ProviderCapabilities', {
  chat: t.Boolean(),
  completions: t.Boolean(),
  embeddings: t.Boolean(),
  functionCalling: t.Boolean(),
  vision: t.Boolean(),
  streaming: t.Boolean(),
  fineTuning: t.Boolean(),
  assistants: t.Boolean(),
});

/** Models of one kind. */
export const ModelFamily = model('ModelFamily', {
  name: t.String(),
  description: t.String(),
  capabilities: t.Array(t.String()),
  maxTokens: int64(),
});

/** What is known of a model. Prices are in US dollars for 1000 tokens. */
export const ModelMetadata = model('ModelMetadata', {
  name: t.String(),
  displayName: t.String(),
  maxTokens: int64(),
  capabilities: t.Array(t.String()),
  inputCostPer1k: t.Number(),
  outputCostPer1k: t.Number(),
  status: oneOf('stable', 'beta', 'deprecated'),
  freshness: oneOf('new', 'stable'),
});

/** How much a provider takes. */
export const RateLimits = model('RateLimits', {
  requestsPerMinute: int32(),
  tokensPerMinute: int32(),
  concurrentRequests: int32(),
});

/** A setting that a provider understands; a name with `.*` at its end stands for every name that begins so. */
export const ProviderSetting = model('ProviderSetting', {
  name: t.String(),
  description: t.String(),
  default: t.String(),
  isRequired: t.Boolean(),
});

/** What is known of a provider. */
export const ProviderCatalogEntry = model('ProviderCatalogEntry', {
  name: t.String(),
  displayName: t.String(),
  baseUrl: t.String(),
  apiVersion: t.String(),
  capabilities: ProviderCapabilities,
  modelFamilies: t.Array(ModelFamily),
  models: t.Array(ModelMetadata),
  rateLimits: RateLimits,
  description: t.String(),
  providerType: oneOf('static', 'meta'),
  supportsModelDiscovery: t.Boolean(),
  discoveryApiEndpoint: t.String(),
  dialect: t.String(),
  requiresKey: t.Boolean(),
  settings: t.Array(ProviderSetting),
  environment: t.Array(t.String(), { description: 'Variables that are read at the start of the instance.' }),
});

/** How a provider is set up. */
export const ProviderConfiguration = model('ProviderConfiguration', {
  id: t.String(),
  providerName: t.String(),
  apiKey: t.String({ description: 'Masked.' }),
  enabledModels: t.Array(t.String()),
  customBaseUrl: t.String(),
  customSettings: stringMap(),
  isActive: t.Boolean(),
  createdAt: t.String(),
  updatedAt: t.String(),
  syncedToYamlAt: t.String(),
  lastUsedAt: t.String(),
  origin: oneOf('own', 'environment', 'file', 'found'),
  problem: t.String({ description: 'Why it cannot be called; absent when it can.' }),
});

/** A provider: what is known of it and how it is set up. */
export const ProviderStatus = model('ProviderStatus', {
  catalog: ProviderCatalogEntry,
  configuration: ProviderConfiguration,
  isConfigured: t.Boolean(),
  isActive: t.Boolean(),
  configuredModelsCount: int32(),
  availableModelsCount: int32(),
  catalogStatus: oneOf('available', 'configured', 'active', 'deprecated'),
  isFromCatalog: t.Boolean(),
});

const here = { spec: 'providers', tag: 'Providers' } as const;

/** Providers of models: which there are, and which are set up. */
export const providerCatalog = {
  ListProviderCatalog: endpoint({
    ...here,
    id: 'ListProviderCatalog',
    method: 'GET',
    path: '/v1/providers/catalog',
    summary: 'List the providers that are known',
    response: model('ListProviderCatalogResponse', { providers: t.Array(ProviderCatalogEntry) }),
    access: 'viewer',
  }),
  ListConfiguredProviders: endpoint({
    ...here,
    id: 'ListConfiguredProviders',
    method: 'GET',
    path: '/v1/providers/configured',
    summary: 'List the providers that are set up',
    query: fields({ activeOnly: t.Boolean() }),
    response: model('ListConfiguredProvidersResponse', { providers: t.Array(ProviderStatus) }),
    access: 'viewer',
  }),
  GetProvider: endpoint({
    ...here,
    id: 'GetProvider',
    method: 'GET',
    path: '/v1/providers/{providerName}',
    summary: 'Get a provider: what is known of it and how it is set up',
    params: ids('providerName'),
    response: model('GetProviderResponse', { provider: ProviderStatus }),
    access: 'viewer',
  }),
  ConfigureProvider: endpoint({
    ...here,
    id: 'ConfigureProvider',
    method: 'POST',
    path: '/v1/providers/{providerName}/configure',
    summary: 'Set up a provider, or change how it is',
    params: ids('providerName'),
    body: model('ProvidersServiceConfigureProviderBody', {
      apiKey: t.String({ description: 'A masked value changes nothing.' }),
      enabledModels: t.Array(t.String()),
      customBaseUrl: t.String(),
      customSettings: stringMap(),
    }),
    response: model('ConfigureProviderResponse', { provider: ProviderStatus, syncTriggered: t.Boolean() }),
    access: 'admin',
  }),
  DeleteProviderConfiguration: endpoint({
    ...here,
    id: 'DeleteProviderConfiguration',
    method: 'DELETE',
    path: '/v1/providers/{providerName}',
    summary: 'Forget how a provider is set up',
    params: ids('providerName'),
    response: model('DeleteProviderConfigurationResponse', {
      success: t.Boolean(),
      message: t.String(),
      syncTriggered: t.Boolean(),
    }),
    access: 'admin',
  }),
} satisfies Group;
