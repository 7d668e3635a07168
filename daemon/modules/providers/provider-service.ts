import { fail, invalid } from '../../../src/errors/app-error.ts';
import type { Caller } from '../../http/route.ts';
import { inheritedBy, movesAway, ownPlace } from './accounts.ts';
import { catalogEntry } from './catalog/catalog.ts';
import type { Changes } from './changes.ts';
import { checkKeyText, checkModels } from './inputs.ts';
import type { InstanceProvider } from './instance/instance-provider.ts';
import type { InstanceProviders } from './instance/instance-providers.ts';
import { isMasked } from './mask.ts';
import { checkName } from './names.ts';
import type { OwnProvider } from './own-providers.ts';
import type { ProviderStore } from './store.ts';
import type { ConfigRow } from './tables.ts';

/** The name of the key that comes with the configuration of a provider. */
export const FIRST_KEY = 'default';

/** What a caller says of a provider; what is absent stays as it is. */
export interface ConfigureInput {
  /** Empty and masked ones change nothing. */
  readonly apiKey?: string;
  readonly enabledModels?: readonly string[];
  /** Empty goes back to the catalog's. */
  readonly customBaseUrl?: string;
  /** All of them; `dialect` among them for names that the catalog does not have. */
  readonly customSettings?: Readonly<Record<string, string>>;
}

const FIELDS = {
  dialect: 'customSettings.dialect',
  baseUrl: 'customBaseUrl',
  settings: 'customSettings',
} as const;

/** Sets providers up and forgets them. */
export class ProviderService {
  constructor(
    private readonly changes: Changes,
    private readonly store: ProviderStore,
    private readonly instance: InstanceProviders,
  ) {}

  /**
   * Sets a provider up, or changes how it is. Answers whether the file was written.
   * Errors: invalid_argument naming the field, resource_exhausted; nothing changed then.
   */
  configure(caller: Caller, name: string, input: ConfigureInput): boolean {
    checkName(name, 'providerName');
    const { tenant } = caller;
    const old = this.changes.find(tenant, name);
    const next = this.check(tenant, name, input, old);
    const { synced } = this.changes.run(tenant, (now) => {
      const id = this.write(tenant, old?.row, next, now);
      if (next.apiKey !== undefined) this.putFirstKey(tenant, id, next.apiKey, old, now);
      this.changes.audit(caller, {
        action: old ? 'provider.update' : 'provider.create',
        target: name,
        details: { fields: Object.keys(input) },
      });
    });
    return synced;
  }

  /**
   * Forgets how a tenant has set a provider up, with its keys. Errors: not_found; failed_precondition for one of the
   * instance's configuration.
   */
  remove(caller: Caller, name: string): { readonly synced: boolean; readonly remains: boolean } {
    const old = this.changes.find(caller.tenant, name);
    const target = old?.row.name ?? name;
    const remains = this.instance.lentTo(caller.tenant).some((provider) => provider.name === target);
    if (!old && remains)
      throw fail('failed_precondition', {
        message: `The provider ${name} comes from the configuration of the instance, and is removed there.`,
      });
    if (!old) throw fail('provider_not_found', { name });
    const { synced } = this.changes.run(caller.tenant, () => {
      this.store.removeConfig(caller.tenant, old.row.id);
      this.changes.audit(caller, { action: 'provider.delete', target: old.row.name });
    });
    return { synced, remains };
  }

  private check(tenant: string, name: string, input: ConfigureInput, old: OwnProvider | undefined) {
    const base = this.changes.base(tenant, name);
    const { dialect: named, ...settings } = input.customSettings ?? {};
    const isListed = catalogEntry(name) !== undefined;
    const row = {
      name,
      dialect: (input.customSettings ? named : old?.row.dialect) ?? '',
      baseUrl: ownUrl(input.customBaseUrl?.trim(), old, base),
      models: checkModels(input.enabledModels ?? old?.row.models ?? [], 'enabledModels'),
      settings: input.customSettings ? settings : (old?.row.settings ?? {}),
    };
    const place = ownPlace(row, base, FIELDS);
    const inherits = (inheritedBy(row, base)?.keys.length ?? 0) > 0;
    const apiKey = this.checkKey(input.apiKey, old, inherits);
    const hasKey = apiKey !== undefined || old !== undefined || inherits;
    if (old && movesAway(old.row, { baseUrl: row.baseUrl, place }, base)) refuseOldKeys(old, apiKey);
    if (place.needsKey && !hasKey)
      throw invalid({ field: 'apiKey', description: `is needed: ${name} answers nobody without a key` });
    return { ...row, dialect: isListed ? '' : place.dialect, apiKey };
  }

  private checkKey(
    text: string | undefined,
    old: OwnProvider | undefined,
    inherits: boolean,
  ): string | undefined {
    const key = text?.trim() ?? '';
    if (key === '') return undefined;
    if (!isMasked(key)) {
      checkKeyText(key, 'apiKey');
      return key;
    }
    if (inherits || (old && old.keys.length > 0)) return undefined;
    throw invalid({ field: 'apiKey', description: 'is masked, and there is no key that it could stand for' });
  }

  private write(
    tenant: string,
    old: ConfigRow | undefined,
    {
      dialect,
      baseUrl,
      models,
      settings,
      name,
    }: Pick<ConfigRow, 'name' | 'dialect' | 'baseUrl' | 'models' | 'settings'>,
    now: number,
  ): string {
    if (!old) return this.changes.addConfig({ tenant, name, dialect, baseUrl, models, settings }, now);
    this.store.changeConfig(tenant, old.id, { dialect, baseUrl, models, settings, updatedAt: now });
    return old.id;
  }

  /** A new secret is a new key: what others remember of the old one, such as its failures, does not hold for it. */
  private putFirstKey(
    tenant: string,
    configId: string,
    secret: string,
    old: OwnProvider | undefined,
    now: number,
  ): void {
    const known = old?.keys.find(({ row }) => row.name === FIRST_KEY);
    if (known?.secret === secret && known.row.isActive && known.row.variable === null) return;
    if (known) this.store.removeKey(tenant, known.row.id);
    const weight = known?.row.weight ?? 1;
    this.changes.addKey(
      tenant,
      configId,
      { name: FIRST_KEY, secret, weight, isActive: true, source: 'manual' },
      now,
    );
  }
}

/** Keys were given for the old address: the first one has to be given again, further ones have to go. */
function refuseOldKeys({ keys }: OwnProvider, apiKey: string | undefined): void {
  const further = keys.some(({ row }) => row.name !== FIRST_KEY);
  if (further)
    throw invalid({
      field: 'customBaseUrl',
      description: 'is another server than the one that its keys were given for; remove them first',
    });
  if (keys.length > 0 && apiKey === undefined)
    throw invalid({ field: 'apiKey', description: 'is needed again: the address is another server' });
}

/** An address that is the instance's own, as answers show it, is none of the tenant's. */
function ownUrl(
  given: string | undefined,
  old: OwnProvider | undefined,
  base: InstanceProvider | undefined,
): string {
  const known = old?.row.baseUrl ?? '';
  if (given === undefined) return known;
  return known === '' && given === base?.said.baseUrl ? '' : given;
}
