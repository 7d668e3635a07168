import { fail } from '../../../src/errors/app-error.ts';
import type { ProviderAccount } from './account.ts';
import { inheritedBy, instanceAccount, instanceKeyId, ownPlace, switchedKeys } from './accounts.ts';
import type { Changes } from './changes.ts';
import type { Directory } from './directory.ts';
import type { InstanceProvider } from './instance/instance-provider.ts';
import type { InstanceProviders } from './instance/instance-providers.ts';
import type { OwnKey, OwnProvider, OwnProviders } from './own-providers.ts';
import type { KeyRow } from './tables.ts';
import type { Uses } from './uses.ts';

/** A key as a tenant may see it. */
export interface KeyView {
  readonly id: string;
  readonly providerId: string;
  readonly name: string;
  /** Undefined when it cannot be had; shown masked only. */
  readonly secret: string | undefined;
  readonly weight: number;
  readonly isActive: boolean;
  readonly source: KeyRow['source'];
  readonly createdAt?: number;
  readonly updatedAt?: number;
}

/** A provider as a tenant may see it. */
export interface ProviderView {
  readonly name: string;
  /** The row's id, or the name when there is none. */
  readonly id: string;
  readonly origin: 'own' | InstanceProvider['origin'];
  readonly own?: OwnProvider;
  /** The address that was given for it; empty when it is the catalog's, or nobody's business. */
  readonly baseUrl: string;
  /** Its account; undefined when the row is no longer good. */
  readonly account: ProviderAccount | undefined;
  /** Those of others are not there. */
  readonly keys: readonly KeyView[];
  /** Keys that the tenant must not see are used. */
  readonly usesHiddenKey: boolean;
  readonly lastUsedAt: number | undefined;
  /** Why it cannot be called. */
  readonly problem: string | undefined;
}

/** What tenants see of providers: their own in full, the instance's without its keys unless the instance is theirs. */
export class ProviderViews {
  constructor(
    private readonly parts: {
      readonly changes: Changes;
      readonly own: OwnProviders;
      readonly instance: InstanceProviders;
      readonly directory: Directory;
      readonly uses: Uses;
    },
  ) {}

  /** Those that are set up, in the order in which they are preferred. */
  list(tenant: string): ProviderView[] {
    const { own, instance, uses } = this.parts;
    const mine = own.of(tenant).providers;
    const names = new Set(mine.map(({ row }) => row.name));
    const lastUsed = uses.of(tenant);
    return [
      ...mine.map((provider) => this.ofOwn(tenant, provider, lastUsed)),
      ...instance
        .lentTo(tenant)
        .flatMap((one) => (names.has(one.name) ? [] : [this.ofInstance(tenant, one, lastUsed)])),
    ];
  }

  /** One of them by id or name; undefined when it is not set up. */
  find(tenant: string, ref: string): ProviderView | undefined {
    return this.list(tenant).find(({ id, name }) => id === ref || name === ref);
  }

  /** The keys of a provider by its id or name. Errors: provider_not_found. */
  keys(tenant: string, ref: string): readonly KeyView[] {
    const view = this.find(tenant, ref);
    if (!view) throw fail('provider_not_found', { name: ref });
    return view.keys;
  }

  /** One key. Errors: not_found. */
  key(tenant: string, id: string): KeyView {
    const key = this.list(tenant)
      .flatMap(({ keys }) => keys)
      .find((one) => one.id === id);
    if (!key) throw fail('not_found', { what: 'provider key', id });
    return key;
  }

  private ofOwn(tenant: string, own: OwnProvider, lastUsed: ReadonlyMap<string, number>): ProviderView {
    const { row, keys } = own;
    const account = this.account(tenant, row.name);
    const base = inheritedBy(row, this.parts.changes.base(tenant, row.name));
    const lent = base ? this.lentKeys(tenant, base, row.id) : [];
    return {
      name: row.name,
      id: row.id,
      origin: 'own',
      own,
      baseUrl: row.baseUrl || (base?.said.baseUrl ?? ''),
      account,
      keys: [...keys.map(ownKeyView), ...lent],
      usesHiddenKey: false,
      lastUsedAt: lastUsed.get(row.name),
      problem: account ? keyProblem(account, keys) : this.placeProblem(tenant, own),
    };
  }

  private ofInstance(
    tenant: string,
    provider: InstanceProvider,
    lastUsed: ReadonlyMap<string, number>,
  ): ProviderView {
    const { name, origin } = provider;
    const isMine = this.parts.changes.base(tenant, name) !== undefined;
    const account = this.account(tenant, name) ?? instanceAccount(provider, new Map());
    return {
      name,
      id: name,
      origin,
      baseUrl: isMine ? provider.said.baseUrl : '',
      account,
      keys: isMine ? this.lentKeys(tenant, provider, name) : [],
      usesHiddenKey: !isMine && account.keys.length > 0,
      lastUsedAt: lastUsed.get(name),
      problem: keyProblem(account, []),
    };
  }

  private account(tenant: string, name: string): ProviderAccount | undefined {
    return this.parts.directory.of(tenant).find((account) => account.name === name);
  }

  private lentKeys(tenant: string, provider: InstanceProvider, providerId: string): KeyView[] {
    const { switches } = this.parts.own.of(tenant);
    return switchedKeys(provider, switches).map((key) => ({
      id: instanceKeyId(provider.name, key),
      providerId,
      name: key.name,
      secret: key.secret,
      weight: key.weight,
      isActive: key.isActive,
      source: 'config',
      ...(switches.has(instanceKeyId(provider.name, key))
        ? { updatedAt: switches.get(instanceKeyId(provider.name, key))?.updatedAt }
        : {}),
    }));
  }

  private placeProblem(tenant: string, { row }: OwnProvider): string {
    try {
      ownPlace(row, this.parts.changes.base(tenant, row.name), {
        dialect: 'dialect',
        baseUrl: 'address',
        settings: 'settings',
      });
      return 'It cannot be used.';
    } catch (error) {
      return error instanceof Error ? error.message : 'It cannot be used.';
    }
  }
}

function ownKeyView({ row, secret }: OwnKey): KeyView {
  const { id, configId, name, weight, isActive, source, createdAt, updatedAt } = row;
  return { id, providerId: configId, name, secret, weight, isActive, source, createdAt, updatedAt };
}

function keyProblem(account: ProviderAccount, own: readonly OwnKey[]): string | undefined {
  if (!account.needsKey || account.keys.length > 0) return undefined;
  const unset = own.find(({ row, secret }) => row.isActive && secret === undefined);
  if (unset?.row.variable) return `The variable ${unset.row.variable} is not set.`;
  if (unset) return 'Its key was sealed by another instance key; add it again.';
  return own.length > 0 ? 'None of its keys is switched on.' : 'It has no key that is switched on.';
}
