import { join } from 'node:path';
import type { App, Module } from '../../app.ts';
import { SettingStore } from '../../db/settings.ts';
import type { ProviderDirectory } from './account.ts';
import { Changes } from './changes.ts';
import { Directory } from './directory.ts';
import { InstanceProviders } from './instance/instance-providers.ts';
import { findOllama } from './instance/ollama.ts';
import { readInstance } from './instance/read-instance.ts';
import { KeyService } from './key-service.ts';
import { OwnProviders } from './own-providers.ts';
import { ProviderService } from './provider-service.ts';
import { providerRoutes } from './routes.ts';
import { ProviderStore } from './store.ts';
import { Uses } from './uses.ts';
import { ProviderViews } from './view.ts';
import { Applier } from './yaml/apply.ts';
import { PrivateFile } from './yaml/file.ts';
import { FileSync } from './yaml/file-sync.ts';
import { YamlService } from './yaml/yaml-service.ts';

export type { Dialect, ProviderAccount, ProviderDirectory, ProviderKey } from './account.ts';
export { CATALOG } from './catalog/catalog.ts';
export { type Dataset, type KnownModel, type KnownPrice, loadDataset } from './catalog/dataset.ts';

/** What the module takes from its surroundings, besides the app. */
export interface ProvidersOptions {
  /** The tenant that the instance itself belongs to: the providers of the configuration are its own. */
  readonly instanceTenant: string;
}

/** What the rest of the daemon may ask of this module. */
export interface ProvidersFace {
  readonly directory: ProviderDirectory;
}

/**
 * Makes the module of model providers, their keys and the catalog. Errors: invalid_argument naming a setting of
 * svc.yaml.
 */
export function createProvidersModule(
  app: App,
  { instanceTenant }: ProvidersOptions,
): Module & ProvidersFace {
  const { config, log, clock } = app;
  const store = new ProviderStore(app.db);
  const instance = new InstanceProviders(
    readInstance(config, log),
    instanceTenant,
    config.get('gateway.share_providers'),
  );
  const own = new OwnProviders(app, store);
  for (const tenant of new Set([...store.tenants(), instanceTenant])) own.load(tenant);
  const uses = new Uses(app, store);
  const directory = new Directory({ instance, own, uses, instanceTenant, log });
  const changes = new Changes({ app, store, own, instance, directory, instanceTenant });
  const file = new PrivateFile(join(config.dataDir, 'providers.yaml'));
  const settings = new SettingStore(app.db);
  const sync = new FileSync({ file, settings, store, own, clock, log, tenant: instanceTenant });
  changes.writeFile = (tenant) => tenant === instanceTenant && sync.follow();
  const services = {
    providers: new ProviderService(changes, store, instance),
    keys: new KeyService(changes, store, own, instance),
    views: new ProviderViews({ changes, own, instance, directory, uses }),
    yaml: new YamlService({
      changes,
      applier: new Applier(changes, store, own),
      own,
      file,
      sync,
      instanceTenant,
    }),
  };
  const finder = findOllama(app, instance);
  return {
    name: 'providers',
    routes: providerRoutes(services),
    directory,
    async start() {
      sync.start();
      uses.start();
      finder?.start();
      for (const { name, origin, keys } of instance.all())
        log.info('provider', { name, origin, keys: keys.map((key) => key.name) });
    },
    async stop() {
      finder?.stop();
      uses.stop();
    },
  };
}
