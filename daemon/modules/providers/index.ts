import type { App, Module } from '../../app.ts';
import type { ProviderDirectory } from './account.ts';

export type { Dialect, ProviderAccount, ProviderDirectory, ProviderKey } from './account.ts';

/** What the module takes from its surroundings, besides the app. */
export interface ProvidersOptions {
  /** The tenant that the instance itself belongs to: it administers the providers of the configuration. */
  readonly instanceTenant: string;
}

/** What the rest of the daemon may ask of this module. */
export interface ProvidersFace {
  readonly directory: ProviderDirectory;
}

/** Makes the module of model providers, their keys and the catalog. */
export function createProvidersModule(_app: App, _options: ProvidersOptions): Module & ProvidersFace {
  return {
    name: 'providers',
    routes: [],
    directory: { of: () => [], used: () => undefined },
  };
}
