import type { App } from '../../app.ts';
import type { ProviderStore } from './store.ts';
import type { ConfigRow, KeyRow, SwitchRow } from './tables.ts';

/** A key of a tenant, opened. */
export interface OwnKey {
  readonly row: KeyRow;
  /** Undefined when its variable is not set, or it was sealed by another instance key. */
  readonly secret: string | undefined;
}

/** A provider as a tenant has set it up, with its keys, oldest first. */
export interface OwnProvider {
  readonly row: ConfigRow;
  readonly keys: readonly OwnKey[];
}

/** What a tenant has of its own. */
export interface OwnState {
  readonly providers: readonly OwnProvider[];
  /** Of keys of the instance's configuration, by key id. */
  readonly switches: ReadonlyMap<string, SwitchRow>;
}

const NOTHING: OwnState = { providers: [], switches: new Map() };

/** What tenants have set up, in memory and opened: read at the start and after each change, never for a call. */
export class OwnProviders {
  private readonly states = new Map<string, OwnState>();

  constructor(
    private readonly app: Pick<App, 'secrets' | 'config' | 'log'>,
    private readonly store: ProviderStore,
  ) {}

  of(tenant: string): OwnState {
    return this.states.get(tenant) ?? NOTHING;
  }

  /** Reads the rows of a tenant again. */
  load(tenant: string): void {
    const keys = this.store.keys(tenant).map((row) => ({ row, secret: this.open(row) }));
    const providers = this.store.configs(tenant).map((row) => ({
      row,
      keys: keys.filter((key) => key.row.configId === row.id),
    }));
    const switches = new Map(this.store.switches(tenant).map((row) => [row.keyId, row]));
    if (providers.length === 0 && switches.size === 0) this.states.delete(tenant);
    else this.states.set(tenant, { providers, switches });
  }

  private open({ tenant, id, sealed, variable }: KeyRow): string | undefined {
    if (sealed === null) return variable === null ? undefined : this.app.config.variable(variable);
    try {
      return this.app.secrets.open(tenant, id, sealed);
    } catch {
      this.app.log.error('a key of a provider cannot be opened; it was sealed by another instance key', {
        tenant,
        id,
      });
      return undefined;
    }
  }
}
