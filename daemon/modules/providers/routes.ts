import { providerCatalog } from '../../../src/api/providers/catalog.ts';
import { providerConfig } from '../../../src/api/providers/config.ts';
import { providerKeys } from '../../../src/api/providers/keys.ts';
import { fail, invalid } from '../../../src/errors/app-error.ts';
import { rfc3339 } from '../../../src/kit/time.ts';
import { implement, type Route } from '../../http/route.ts';
import { catalogEntry } from './catalog/catalog.ts';
import { loadDataset } from './catalog/dataset.ts';
import { type WireEntry, wireCatalog } from './catalog/wire.ts';
import { checkWeight } from './inputs.ts';
import type { KeyService } from './key-service.ts';
import type { ProviderService } from './provider-service.ts';
import type { ProviderView, ProviderViews } from './view.ts';
import { entryOf, keyToWire, statusToWire } from './wire.ts';
import type { Applied, YamlService } from './yaml/yaml-service.ts';

/** The services behind the operations. */
export interface ProviderServices {
  readonly providers: ProviderService;
  readonly keys: KeyService;
  readonly views: ProviderViews;
  readonly yaml: YamlService;
}

/** The operations on providers, their keys and their YAML. */
export function providerRoutes(services: ProviderServices): Route[] {
  return [...catalogRoutes(services), ...keyRoutes(services), ...yamlRoutes(services)];
}

function catalogRoutes({ providers, views }: ProviderServices): Route[] {
  const status = async (tenant: string, name: string) => {
    const view = views.find(tenant, name);
    const entry = await entryFor(view, name);
    if (!entry) throw fail('provider_not_found', { name });
    return statusToWire(view, entry);
  };
  return implement(providerCatalog, {
    ListProviderCatalog: async () => ({ providers: [...wireCatalog(await loadDataset()).values()] }),
    ListConfiguredProviders: async ({ caller, query }) => {
      const list = views
        .list(caller.tenant)
        .filter(({ problem }) => !query.activeOnly || problem === undefined);
      const wired = list.map(async (view) => {
        const entry = await entryFor(view, view.name);
        return entry ? [statusToWire(view, entry)] : [];
      });
      return { providers: (await Promise.all(wired)).flat() };
    },
    GetProvider: async ({ caller, params }) => ({
      provider: await status(caller.tenant, params.providerName),
    }),
    ConfigureProvider: async ({ caller, params, body }) => {
      const syncTriggered = providers.configure(caller, params.providerName, body);
      return { provider: await status(caller.tenant, params.providerName), syncTriggered };
    },
    DeleteProviderConfiguration: ({ caller, params }) => {
      const { synced, remains } = providers.remove(caller, params.providerName);
      const message = remains
        ? `Forgotten. That of the instance's configuration is in force again.`
        : 'Forgotten.';
      return { success: true, message, syncTriggered: synced };
    },
  });
}

function keyRoutes({ keys, views }: ProviderServices): Route[] {
  const shown = (tenant: string, id: string) => ({ key: keyToWire(views.key(tenant, id)) });
  return implement(providerKeys, {
    AddProviderAPIKey: ({ caller, body }) => shown(caller.tenant, keys.add(caller, body)),
    DeleteProviderAPIKey: ({ caller, params }) => {
      keys.remove(caller, params.keyId);
      return { success: true, message: 'The key was removed.' };
    },
    ToggleAPIKey: ({ caller, params, body }) => {
      const { isActive } = body;
      if (isActive === undefined) throw invalid({ field: 'isActive', description: 'is needed' });
      keys.change(caller, params.keyId, { isActive });
      return shown(caller.tenant, params.keyId);
    },
    UpdateAPIKeyWeight: ({ caller, params, body }) => {
      keys.change(caller, params.keyId, { weight: checkWeight(body.weight, 'weight') });
      return shown(caller.tenant, params.keyId);
    },
    ListProviderAPIKeys: ({ caller, params }) => ({
      keys: views.keys(caller.tenant, params.providerConfigId).map(keyToWire),
    }),
  });
}

function yamlRoutes({ yaml }: ProviderServices): Route[] {
  return implement(providerConfig, {
    GetConfigYAML: ({ caller }) => ({ yamlContent: yaml.get(caller.tenant) }),
    SaveConfigYAML: async ({ caller, body }) => {
      if (body.yamlContent === undefined) throw invalid({ field: 'yamlContent', description: 'is needed' });
      return { success: true, message: told(await yaml.save(caller, body.yamlContent)) };
    },
    ReloadConfig: async ({ caller }) => {
      const applied = await yaml.reload(caller);
      return { success: true, message: told(applied), providersSynced: applied.count };
    },
    GetSyncStatus: ({ caller }) => {
      const { inSync, modifiedAt, syncedAt } = yaml.status(caller.tenant);
      return {
        inSync,
        ...(modifiedAt === undefined ? {} : { yamlModTime: rfc3339(modifiedAt) }),
        ...(syncedAt === undefined ? {} : { lastSyncTime: rfc3339(syncedAt) }),
      };
    },
  });
}

async function entryFor(view: ProviderView | undefined, name: string): Promise<WireEntry | undefined> {
  const catalog = wireCatalog(await loadDataset());
  const known = catalog.get(view?.name ?? name);
  const custom = catalogEntry('custom');
  return known ?? (view && custom ? entryOf(view, custom) : undefined);
}

function told({ count, removed }: Applied): string {
  const force = `${count} ${count === 1 ? 'provider is' : 'providers are'} in force.`;
  return removed.length > 0 ? `${force} Removed: ${removed.join(', ')}.` : force;
}
