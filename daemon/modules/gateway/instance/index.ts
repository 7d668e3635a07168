import type { App } from '../../../app.ts';
import { instanceName, SettingStore } from '../../../db/settings.ts';
import type { Route } from '../../../http/route.ts';
import { CallbackSecret } from './callback-secret.ts';
import { instanceRoutes } from './routes.ts';
import { InstanceService } from './service.ts';
import { LicenseStore } from './store.ts';
import { StatementVerifier } from './verifier.ts';

/**
 * What the instance is, and its licence. `tenant` is the organization that the instance belongs to. Errors:
 * invalid_argument naming a setting.
 */
export function createInstanceRoom(
  app: Pick<App, 'config' | 'db' | 'clock' | 'audit'>,
  tenant: string,
): { readonly routes: readonly Route[] } {
  const id = app.config.get('auth.instance_id') || instanceName(new SettingStore(app.db), app.clock.now());
  const verifier = new StatementVerifier(app, id);
  const secret = new CallbackSecret(app.config);
  const service = new InstanceService(app, new LicenseStore(app.db), verifier, secret, { id, tenant });
  return { routes: instanceRoutes(service) };
}
