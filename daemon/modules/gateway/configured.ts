import type { Config } from '../../config/config.ts';
import type { ProviderAccount, ProviderDirectory } from '../providers/index.ts';
import { readProviders } from './provider-settings.ts';

/** The providers of the configuration, the same for every tenant. Errors: invalid_argument naming a setting. */
export function configuredDirectory(config: Config): ProviderDirectory {
  const accounts: ProviderAccount[] = readProviders(config).map(({ name, baseUrl, apiKey, models }) => ({
    name,
    dialect: 'openai',
    baseUrl,
    trust: 'operator',
    keys: apiKey === '' ? [] : [{ id: 'file', secret: apiKey, weight: 1 }],
    needsKey: false,
    models,
    settings: {},
  }));
  const local: ProviderAccount = {
    name: 'local',
    dialect: 'local',
    baseUrl: '',
    trust: 'operator',
    keys: [],
    needsKey: false,
    models: ['echo', 'bm25'],
    settings: {},
  };
  const all = [...accounts, local];
  return { of: () => all, used: () => {} };
}
