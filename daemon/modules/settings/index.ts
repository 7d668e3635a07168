import type { App, Module } from '../../app.ts';
import type { CorsPolicies } from '../../http/cors.ts';
import { ConfigChecks } from './checks.ts';
import { corsPolicies } from './cors.ts';
import { readDefaults } from './defaults.ts';
import { settingsRoutes } from './routes.ts';
import type { RuntimeSettings } from './runtime.ts';
import { SettingsService } from './service.ts';
import { SettingsSnapshot } from './snapshot.ts';
import { SettingsStore } from './store.ts';

export type {
  CacheValue,
  CorsValue,
  FeaturesValue,
  LoadBalancerValue,
  RateLimitValue,
  RuntimeConfigValue,
  RuntimeSettings,
  TelemetryValue,
} from './runtime.ts';

/** What the rest of the daemon may ask of this module. */
export interface SettingsFace {
  readonly runtime: RuntimeSettings;
  /** For the edge. */
  readonly cors: CorsPolicies;
}

/**
 * Makes the module of the configuration that tenants change while the service runs. Errors: invalid_argument naming a
 * setting whose value is no valid default.
 */
export function createSettingsModule(
  app: Pick<App, 'config' | 'db' | 'clock' | 'log' | 'audit'>,
): Module & SettingsFace {
  const store = new SettingsStore(app.db);
  const snapshot = new SettingsSnapshot(store, readDefaults(app.config), app);
  const service = new SettingsService(app, store, snapshot);
  const checks = new ConfigChecks(app, store, snapshot);
  return {
    name: 'settings',
    routes: settingsRoutes(service, checks, snapshot.defaults),
    runtime: snapshot,
    cors: corsPolicies(snapshot),
  };
}
