import type { ProviderConfiguration, ProviderStatus } from '../../../src/api/providers/catalog.ts';
import type { ProviderAPIKey } from '../../../src/api/providers/keys.ts';
import type { Value } from '../../../src/api/schema.ts';
import { rfc3339 } from '../../../src/kit/time.ts';
import { catalogEntry } from './catalog/catalog.ts';
import type { CatalogEntry } from './catalog/entry.ts';
import { toWire, type WireEntry } from './catalog/wire.ts';
import { MASK, masked } from './mask.ts';
import type { KeyView, ProviderView } from './view.ts';

/** A key as answers have it. */
export function keyToWire(key: KeyView): Value<typeof ProviderAPIKey> {
  const { id, providerId, name, secret, weight, isActive, source, createdAt, updatedAt } = key;
  return {
    id,
    providerConfigId: providerId,
    keyName: name,
    keyMasked: masked(secret),
    weight,
    isActive,
    ...(createdAt === undefined ? {} : { createdAt: rfc3339(createdAt) }),
    ...(updatedAt === undefined ? {} : { updatedAt: rfc3339(updatedAt) }),
    source,
  };
}

/** A provider as answers have it; `view` is undefined when it is known but not set up. */
export function statusToWire(view: ProviderView | undefined, entry: WireEntry): Value<typeof ProviderStatus> {
  const isActive = view !== undefined && view.problem === undefined;
  return {
    catalog: entry,
    ...(view ? { configuration: configurationToWire(view) } : {}),
    isConfigured: view !== undefined,
    isActive,
    configuredModelsCount: view?.account?.models?.length ?? view?.own?.row.models.length ?? 0,
    availableModelsCount: entry.models?.length ?? 0,
    catalogStatus: isActive ? 'active' : view ? 'configured' : 'available',
    isFromCatalog: catalogEntry(entry.name ?? '') !== undefined,
  };
}

/** What is known of a provider whose name is not in the catalog: what its dialect can do. */
export function entryOf({ name, account }: ProviderView, custom: CatalogEntry): WireEntry {
  return toWire(
    {
      ...custom,
      name,
      displayName: name,
      description: 'Set up by hand',
      dialect: account?.dialect ?? custom.dialect,
      families: [],
    },
    [],
  );
}

function configurationToWire(view: ProviderView): Value<typeof ProviderConfiguration> {
  const { id, name, origin, own, baseUrl, keys, account, usesHiddenKey, lastUsedAt, problem } = view;
  const shown = keys.find(({ isActive }) => isActive) ?? keys[0];
  const models = own && own.row.models.length > 0 ? own.row.models : (account?.models ?? []);
  return {
    id,
    providerName: name,
    apiKey: shown ? keyToWire(shown).keyMasked : usesHiddenKey ? MASK : '',
    enabledModels: [...models],
    customBaseUrl: baseUrl,
    customSettings: { ...own?.row.settings, ...(own?.row.dialect ? { dialect: own.row.dialect } : {}) },
    isActive: problem === undefined,
    ...times(own),
    ...(lastUsedAt === undefined ? {} : { lastUsedAt: rfc3339(lastUsedAt) }),
    origin,
    ...(problem === undefined ? {} : { problem }),
  };
}

function times(own: ProviderView['own']) {
  if (!own) return {};
  const { createdAt, updatedAt, syncedAt } = own.row;
  return {
    createdAt: rfc3339(createdAt),
    updatedAt: rfc3339(updatedAt),
    ...(syncedAt === null ? {} : { syncedToYamlAt: rfc3339(syncedAt) }),
  };
}
