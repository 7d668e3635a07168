import { fail, invalid } from '../../../src/errors/app-error.ts';
import type { Caller } from '../../http/route.ts';
import { instanceKeyId, ownPlace } from './accounts.ts';
import { catalogEntry } from './catalog/catalog.ts';
import type { Changes } from './changes.ts';
import { checkKeyName, checkKeyText, checkWeight } from './inputs.ts';
import type { InstanceKey } from './instance/instance-provider.ts';
import type { InstanceProviders } from './instance/instance-providers.ts';
import { isMasked } from './mask.ts';
import type { OwnProvider, OwnProviders } from './own-providers.ts';
import { FIRST_KEY } from './provider-service.ts';
import type { ProviderStore } from './store.ts';
import type { KeyRow } from './tables.ts';

/** A key to add. */
export interface AddKeyInput {
  /** Id or name of the provider. */
  readonly providerConfigId?: string;
  readonly keyName?: string;
  readonly apiKey?: string;
  /** 1 when absent or 0. */
  readonly weight?: number;
}

/** What may be changed of a key. */
export type KeySwitch = Partial<Pick<KeyRow, 'weight' | 'isActive'>>;

/** Adds, switches, weights and removes keys of providers. */
export class KeyService {
  constructor(
    private readonly changes: Changes,
    private readonly store: ProviderStore,
    private readonly own: OwnProviders,
    private readonly instance: InstanceProviders,
  ) {}

  /**
   * Adds a key and answers its id. A provider of the catalog, or of the instance, that the tenant has not set up is set
   * up by that. Errors: not_found, invalid_argument, already_exists, resource_exhausted.
   */
  add(caller: Caller, input: AddKeyInput): string {
    const ref = input.providerConfigId ?? '';
    const secret = input.apiKey?.trim() ?? '';
    if (ref === '') throw invalid({ field: 'providerConfigId', description: 'is needed' });
    const provider = this.changes.find(caller.tenant, ref);
    if (!provider) this.checkNew(caller.tenant, ref);
    if (secret === '') throw invalid({ field: 'apiKey', description: 'is needed' });
    if (isMasked(secret)) throw invalid({ field: 'apiKey', description: 'is masked; a new key is needed' });
    checkKeyText(secret, 'apiKey');
    const name = this.checkFree(provider, input.keyName?.trim() || nextName(provider));
    const weight = checkWeight(input.weight || 1, 'weight');
    return this.changes.run(caller.tenant, (now) => {
      const configId = provider?.row.id ?? this.setUp(caller.tenant, ref, now);
      const key = { name, secret, weight, isActive: true, source: 'manual' } as const;
      const id = this.changes.addKey(caller.tenant, configId, key, now);
      this.changes.audit(caller, {
        action: 'provider_key.create',
        target: id,
        details: { provider: provider?.row.name ?? ref, name, weight },
      });
      return id;
    }).value;
  }

  /** Switches or weights a key. Errors: not_found. */
  change(caller: Caller, id: string, change: KeySwitch): void {
    const { tenant } = caller;
    const row = this.row(tenant, id);
    const lent = this.instanceKey(tenant, id);
    if (!row && !lent) throw fail('not_found', { what: 'provider key', id });
    this.changes.run(tenant, (now) => {
      if (row) this.store.changeKey(tenant, id, { ...change, updatedAt: now });
      else if (lent) this.putSwitch(tenant, id, lent, change, now);
      this.changes.audit(caller, { action: 'provider_key.update', target: id, details: change });
    });
  }

  /** Removes a key. Errors: not_found; failed_precondition for one of the instance's configuration. */
  remove(caller: Caller, id: string): void {
    const row = this.row(caller.tenant, id);
    if (!row && this.instanceKey(caller.tenant, id))
      throw fail('failed_precondition', {
        message: `The key ${id} comes from the configuration of the instance, and is removed there; it can be switched off here.`,
      });
    if (!row) throw fail('not_found', { what: 'provider key', id });
    this.changes.run(caller.tenant, () => {
      this.store.removeKey(caller.tenant, id);
      this.changes.audit(caller, { action: 'provider_key.delete', target: id, details: { name: row.name } });
    });
  }

  private row(tenant: string, id: string): KeyRow | undefined {
    const keys = this.own.of(tenant).providers.flatMap((provider) => provider.keys);
    return keys.find((key) => key.row.id === id)?.row;
  }

  /** A key of the instance's configuration, for the instance's own tenant. */
  private instanceKey(tenant: string, id: string): InstanceKey | undefined {
    for (const { name } of this.instance.all()) {
      const key = this.changes.base(tenant, name)?.keys.find((one) => instanceKeyId(name, one) === id);
      if (key) return key;
    }
    return undefined;
  }

  private putSwitch(
    tenant: string,
    keyId: string,
    { weight: given }: InstanceKey,
    change: KeySwitch,
    at: number,
  ): void {
    const known = this.own.of(tenant).switches.get(keyId);
    const { weight = known?.weight ?? given, isActive = known?.isActive ?? true } = change;
    this.store.putSwitch({ tenant, keyId, weight, isActive, updatedAt: at });
  }

  /** What may be set up by a key alone: what the instance has, or the catalog knows the address of. */
  private checkNew(tenant: string, name: string): void {
    if (catalogEntry(name)?.dialect === 'local' || (!catalogEntry(name) && !this.changes.base(tenant, name)))
      throw fail('provider_not_found', { name });
    const row = { name, dialect: '', baseUrl: '', settings: {} };
    const fields = { dialect: 'providerConfigId', baseUrl: 'customBaseUrl', settings: 'customSettings' };
    ownPlace(row, this.changes.base(tenant, name), fields);
  }

  private setUp(tenant: string, name: string, now: number): string {
    const dialect = catalogEntry(name) ? '' : (this.changes.base(tenant, name)?.place.dialect ?? '');
    return this.changes.addConfig({ tenant, name, dialect, baseUrl: '', models: [], settings: {} }, now);
  }

  private checkFree(provider: OwnProvider | undefined, name: string): string {
    checkKeyName(name, 'keyName');
    if (provider?.keys.some(({ row }) => row.name === name))
      throw fail('already_exists', { what: 'provider key', id: name });
    return name;
  }
}

function nextName(provider: OwnProvider | undefined): string {
  const names = new Set(provider?.keys.map(({ row }) => row.name));
  if (!names.has(FIRST_KEY)) return FIRST_KEY;
  let number = names.size + 1;
  while (names.has(`key ${number}`)) number++;
  return `key ${number}`;
}
