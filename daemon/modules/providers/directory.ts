import type { Log } from '../../log/log.ts';
import type { ProviderAccount, ProviderDirectory } from './account.ts';
import { instanceAccount, LOCAL, ownAccount } from './accounts.ts';
import type { InstanceProviders } from './instance/instance-providers.ts';
import type { OwnProvider, OwnProviders } from './own-providers.ts';
import type { Uses } from './uses.ts';

/** What the directory reads. */
export interface DirectorySources {
  readonly instance: InstanceProviders;
  readonly own: OwnProviders;
  readonly uses: Uses;
  readonly instanceTenant: string;
  readonly log: Log;
}

const ONLY_LOCAL: readonly ProviderAccount[] = Object.freeze([LOCAL]);

/** A list as it was made, and of what state of things. */
interface Made {
  readonly accounts: readonly ProviderAccount[];
  readonly generation: number;
}

/**
 * The providers of every tenant, made from memory at the first call after a change. An account that has not changed
 * stays the same object, so that what others remember of it stays good.
 */
export class Directory implements ProviderDirectory {
  private readonly made = new Map<string, Made>();
  private shared: Made = { accounts: [], generation: -1 };
  private generation = 0;

  constructor(private readonly from: DirectorySources) {
    from.instance.onChange = () => this.changed();
  }

  of(tenant: string): readonly ProviderAccount[] {
    const { providers } = this.from.own.of(tenant);
    if (providers.length === 0) return this.lentTo(tenant);
    const known = this.made.get(tenant);
    if (known?.generation === this.generation) return known.accounts;
    const accounts = this.make(tenant, providers, known?.accounts ?? []);
    this.made.set(tenant, { accounts, generation: this.generation });
    return accounts;
  }

  used(tenant: string, provider: string): void {
    this.from.uses.note(tenant, provider);
  }

  /** Everything is made anew at its next use: cheap, and changes are rare. */
  changed(): void {
    this.generation++;
  }

  private lentTo(tenant: string): readonly ProviderAccount[] {
    return this.from.instance.lentTo(tenant).length > 0 ? this.ofInstance() : ONLY_LOCAL;
  }

  private ofInstance(): readonly ProviderAccount[] {
    if (this.shared.generation === this.generation) return this.shared.accounts;
    const { switches } = this.from.own.of(this.from.instanceTenant);
    const accounts = this.from.instance.all().map((provider) => instanceAccount(provider, switches));
    const kept = keepSame([...accounts, LOCAL], this.shared.accounts);
    this.shared = { accounts: kept, generation: this.generation };
    return kept;
  }

  private make(
    tenant: string,
    providers: readonly OwnProvider[],
    before: readonly ProviderAccount[],
  ): readonly ProviderAccount[] {
    const names = new Set(providers.map(({ row }) => row.name));
    const mine = providers.flatMap((own) => this.accountOf(tenant, own) ?? []);
    const others = this.lentTo(tenant).filter(({ name }) => !names.has(name));
    return keepSame([...mine, ...others], before);
  }

  /** A provider that the catalog no longer knows so is left out; the instance's own does not take its place. */
  private accountOf(tenant: string, own: OwnProvider): ProviderAccount | undefined {
    const { instance, instanceTenant, log } = this.from;
    const isInstance = tenant === instanceTenant;
    const base = isInstance ? instance.find(own.row.name) : undefined;
    const { switches } = this.from.own.of(tenant);
    try {
      return ownAccount({ own, base, switches, trust: isInstance ? 'operator' : 'tenant' });
    } catch (error) {
      log.error('a provider is set up in a way that is no longer good', {
        tenant,
        provider: own.row.name,
        error,
      });
      return undefined;
    }
  }
}

function keepSame(
  accounts: readonly ProviderAccount[],
  before: readonly ProviderAccount[],
): readonly ProviderAccount[] {
  const known = new Map(before.map((account) => [account.name, account]));
  const kept = accounts.map((account) => {
    const old = known.get(account.name);
    return old && Bun.deepEquals(old, account) ? old : account;
  });
  const isSame = kept.length === before.length && kept.every((account, index) => account === before[index]);
  return isSame ? before : Object.freeze(kept);
}
