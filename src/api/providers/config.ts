import { endpoint, type Group } from '../endpoint.ts';
import { int32, model, t } from '../schema.ts';

const here = { spec: 'providers', tag: 'Provider configuration' } as const;

/** The configuration of providers as YAML. */
export const providerConfig = {
  GetConfigYAML: endpoint({
    ...here,
    id: 'GetConfigYAML',
    method: 'GET',
    path: '/v1/providers/config-yaml',
    summary: 'Get the configuration as YAML, keys masked',
    response: model('GetConfigYAMLResponse', { yamlContent: t.String() }),
    access: 'admin',
  }),
  SaveConfigYAML: endpoint({
    ...here,
    id: 'SaveConfigYAML',
    method: 'POST',
    path: '/v1/providers/config-yaml',
    summary: 'Store a configuration and put it into force',
    body: model('SaveConfigYAMLRequest', { yamlContent: t.String() }),
    response: model('SaveConfigYAMLResponse', { success: t.Boolean(), message: t.String() }),
    access: 'admin',
  }),
  ReloadConfig: endpoint({
    ...here,
    id: 'ReloadConfig',
    method: 'POST',
    path: '/v1/providers/reload',
    summary: 'Put the stored configuration into force again',
    response: model('ReloadConfigResponse', {
      success: t.Boolean(),
      message: t.String(),
      providersSynced: int32(),
    }),
    access: 'admin',
  }),
  GetSyncStatus: endpoint({
    ...here,
    id: 'GetSyncStatus',
    method: 'GET',
    path: '/v1/providers/sync-status',
    summary: 'Tell whether the file and the database agree',
    response: model('GetSyncStatusResponse', {
      inSync: t.Boolean(),
      yamlModTime: t.String(),
      lastSyncTime: t.String(),
    }),
    access: 'viewer',
  }),
} satisfies Group;
