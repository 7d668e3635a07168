import { newId } from '../../../src/kit/id.ts';
import type { App } from '../../app.ts';
import { digestKey } from './key-snapshot.ts';
import type { KeyStore } from './key-store.ts';
import { maskedKey } from './key-wire.ts';
import { firstRootKey } from './root-key.ts';
import type { OrganizationRow } from './tables.ts';
import type { UserStore } from './user-store.ts';

/**
 * The organization that the instance belongs to. The first start makes it together with the root key;
 * later ones warn when the key that the operator set is another one.
 */
export function ensureInstance(app: App, users: UserStore, keys: KeyStore): OrganizationRow {
  const known = users.instanceOrganization();
  if (!known) return makeInstance(app, users, keys);
  warnOfOtherRootKey(app, keys, known.id);
  return known;
}

function makeInstance({ db, clock, config, audit }: App, users: UserStore, keys: KeyStore): OrganizationRow {
  const createdAt = clock.now();
  const stamps = { createdAt, updatedAt: createdAt };
  const root = firstRootKey(config);
  const organization: OrganizationRow = {
    id: newId('org', createdAt),
    slug: 'default',
    name: 'Default',
    ownerId: null,
    isInstance: true,
    externalId: null,
    ...stamps,
  };
  const tenant = organization.id;
  const id = newId('key', createdAt);
  db.transaction(() => {
    users.insertOrganization(organization);
    const masked = maskedKey(root);
    keys.insert({
      id,
      tenant,
      name: 'root',
      type: 'root',
      userId: null,
      ...digestKey(root),
      masked,
      lastUsedAt: null,
      ...stamps,
    });
    audit.record({ tenant, actor: 'system', action: 'organization.create', target: tenant });
    audit.record({
      tenant,
      actor: 'system',
      action: 'api_key.create',
      target: id,
      details: { type: 'root' },
    });
  });
  return organization;
}

function warnOfOtherRootKey({ config, log }: App, keys: KeyStore, tenant: string): void {
  const given = config.get('auth.root_api_key');
  const root = keys.root(tenant);
  if (!given || root?.hash === digestKey(given).hash) return;
  const id = root?.id;
  log.warn(
    id
      ? `auth.root_api_key is not the admin key of this instance, which stays as it is. To change it: svc api POST "/v1/api-key/regenerate?id=${id}"`
      : 'auth.root_api_key has no effect: the admin key of this instance was deleted. Make a key as an owner: svc api POST /v1/api-key/create',
  );
}
