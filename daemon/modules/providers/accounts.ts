import type { Trust } from '../../outbound/outbound.ts';
import type { ProviderAccount, ProviderKey } from './account.ts';
import type { InstanceKey, InstanceProvider } from './instance/instance-provider.ts';
import type { OwnProvider, OwnState } from './own-providers.ts';
import { type Place, type PlaceFields, type PlaceInput, resolvePlace } from './place.ts';
import type { SwitchRow } from './tables.ts';

/** The provider of local/echo and local/bm25, which everybody has. */
export const LOCAL: ProviderAccount = Object.freeze({
  name: 'local',
  dialect: 'local',
  baseUrl: '',
  trust: 'operator',
  models: Object.freeze(['echo', 'bm25']),
  keys: Object.freeze([]),
  needsKey: false,
  settings: Object.freeze({}),
});

const FIELDS = { dialect: 'dialect', baseUrl: 'base_url', settings: 'settings' };

/** The id under which the API knows a key of the instance's configuration: `env.openai`. */
export function instanceKeyId(provider: string, key: Pick<InstanceKey, 'id'>): string {
  return `${key.id}.${provider}`;
}

/** The keys of a provider of the instance as its own tenant has switched and weighted them. */
export function switchedKeys(
  { name, keys }: InstanceProvider,
  switches: ReadonlyMap<string, SwitchRow>,
): Array<InstanceKey & { readonly isActive: boolean }> {
  return keys.map((key) => {
    const row = switches.get(instanceKeyId(name, key));
    return { ...key, weight: row?.weight ?? key.weight, isActive: row?.isActive ?? true };
  });
}

/** A provider of the instance, as every tenant has it that has none of its own by this name. */
export function instanceAccount(
  provider: InstanceProvider,
  switches: ReadonlyMap<string, SwitchRow>,
): ProviderAccount {
  const { name, place, models, keys } = provider;
  const active = switchedKeys(provider, switches).filter(({ isActive }) => isActive);
  return frozen({
    ...place,
    name,
    trust: 'operator',
    keys: active.map(({ id, secret, weight }) => ({ id, secret, weight })),
    needsKey: place.needsKey || keys.length > 0,
    ...(models.length > 0 ? { models } : {}),
  });
}

/** What the account of a tenant's own provider is made of. */
export interface OwnAccountParts {
  readonly own: OwnProvider;
  /** The instance's provider of the same name, for the instance's own tenant alone. */
  readonly base?: InstanceProvider;
  readonly switches: OwnState['switches'];
  /** How far an address that the tenant gave is trusted. */
  readonly trust: Trust;
}

/**
 * A tenant's own provider. The catalog's addresses of makers are the owner's; those of this machine are not for tenants who only name
 * them. Its keys are the tenant's; for the tenant of the instance also those of the configuration, as
 * long as they go to the configuration's own address. Errors: invalid_argument when the row does not fit the catalog.
 */
export function ownAccount({ own, base, switches, trust }: OwnAccountParts): ProviderAccount {
  const { row, keys } = own;
  const inherited = inheritedBy(row, base);
  const place = ownPlace(row, base, FIELDS);
  const lent = inherited ? switchedKeys(inherited, switches) : [];
  const picked: ProviderKey[] = [
    ...keys.flatMap(({ row: { id, weight, isActive }, secret }) =>
      isActive && secret !== undefined ? [{ id, secret, weight }] : [],
    ),
    ...lent.flatMap(({ id, secret, weight, isActive }) => (isActive ? [{ id, secret, weight }] : [])),
  ];
  const models = row.models.length > 0 ? row.models : (inherited?.models ?? []);
  return frozen({
    ...place,
    name: row.name,
    trust: row.baseUrl === '' && place.baseUrl.startsWith('https:') ? 'operator' : trust,
    keys: picked,
    needsKey: place.needsKey || keys.length + lent.length > 0,
    ...(models.length > 0 ? { models } : {}),
  });
}

/** What a tenant's provider takes over from the instance's: nothing once it has an address of its own. */
export function inheritedBy(
  { baseUrl }: Pick<PlaceInput, 'baseUrl'>,
  base: InstanceProvider | undefined,
): InstanceProvider | undefined {
  return baseUrl === '' ? base : undefined;
}

/** Where a tenant's provider is. Errors: invalid_argument naming the field. */
export function ownPlace(row: PlaceInput, base: InstanceProvider | undefined, fields: PlaceFields): Place {
  const said = inheritedBy(row, base)?.said;
  return resolvePlace(said ? { ...said, settings: { ...said.settings, ...row.settings } } : row, fields);
}

/**
 * Whether a new address of a tenant's provider is another server than the one that its stored keys were given for. Keys
 * cannot be read back, and nobody may have them sent elsewhere instead.
 */
export function movesAway(
  old: PlaceInput,
  next: { readonly baseUrl: string; readonly place: Place },
  base: InstanceProvider | undefined,
): boolean {
  if (old.baseUrl === next.baseUrl) return false;
  try {
    const before = ownPlace(old, base, FIELDS).baseUrl;
    return new URL(before).origin !== new URL(next.place.baseUrl).origin;
  } catch {
    return true;
  }
}

function frozen(account: ProviderAccount): ProviderAccount {
  for (const key of account.keys) Object.freeze(key);
  Object.freeze(account.keys);
  Object.freeze(account.settings);
  if (account.models) Object.freeze(account.models);
  return Object.freeze(account);
}
