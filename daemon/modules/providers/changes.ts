import { fail } from '../../../src/errors/app-error.ts';
import { newId } from '../../../src/kit/id.ts';
import type { App } from '../../app.ts';
import type { AuditEntry } from '../../audit/audit.ts';
import type { Caller } from '../../http/route.ts';
import type { Directory } from './directory.ts';
import { MOST_KEYS, MOST_PROVIDERS } from './inputs.ts';
import type { InstanceProvider } from './instance/instance-provider.ts';
import type { InstanceProviders } from './instance/instance-providers.ts';
import type { OwnProvider, OwnProviders } from './own-providers.ts';
import type { ProviderStore } from './store.ts';
import type { ConfigRow, KeyRow } from './tables.ts';

/** Writes the file of a tenant when it has one. Answers whether it did. */
export type FileWriter = (tenant: string) => boolean;

/** What the services of this module stand on. */
export interface ChangesParts {
  readonly app: Pick<App, 'db' | 'clock' | 'secrets' | 'audit'>;
  readonly store: ProviderStore;
  readonly own: OwnProviders;
  readonly instance: InstanceProviders;
  readonly directory: Directory;
  readonly instanceTenant: string;
}

/** A key to store. */
export interface NewKey {
  readonly name: string;
  readonly weight: number;
  readonly isActive: boolean;
  readonly source: KeyRow['source'];
  /** The key itself, or the variable that has it. */
  readonly secret?: string;
  readonly variable?: string;
}

/** How everything in this module is changed: rows and audit in one transaction, then memory, then the file. */
export class Changes {
  /** Set by who keeps the file. */
  writeFile: FileWriter = () => false;

  constructor(private readonly parts: ChangesParts) {}

  /** Does it for a tenant. Answers what `work` gave, and whether the file was written. */
  run<T>(tenant: string, work: (now: number) => T): { readonly value: T; readonly synced: boolean } {
    const { app, own, directory } = this.parts;
    const value = app.db.transaction(() => work(app.clock.now()));
    own.load(tenant);
    directory.changed();
    return { value, synced: this.writeFile(tenant) };
  }

  /** Writes down who did it, inside the transaction of the change. */
  audit({ tenant, actor }: Caller, entry: Omit<AuditEntry, 'tenant' | 'actor'>): void {
    this.parts.app.audit.record({ tenant, actor, ...entry });
  }

  /** A tenant's own provider by its id or its name. */
  find(tenant: string, ref: string): OwnProvider | undefined {
    return this.parts.own.of(tenant).providers.find(({ row }) => row.id === ref || row.name === ref);
  }

  /** The instance's provider of this name, which its own tenant alone may look into. */
  base(tenant: string, name: string): InstanceProvider | undefined {
    return tenant === this.parts.instanceTenant ? this.parts.instance.find(name) : undefined;
  }

  /** Adds a row. Errors: resource_exhausted. */
  addConfig(row: Omit<ConfigRow, 'id' | 'createdAt' | 'updatedAt' | 'syncedAt'>, now: number): string {
    if (this.parts.store.configs(row.tenant).length >= MOST_PROVIDERS)
      throw fail('resource_exhausted', {
        message: `${MOST_PROVIDERS} providers are set up; remove one first.`,
      });
    const id = newId('prv', now);
    this.parts.store.addConfig({ ...row, id, createdAt: now, updatedAt: now, syncedAt: null });
    return id;
  }

  /** Adds a key, sealed. Errors: resource_exhausted. */
  addKey(tenant: string, configId: string, key: NewKey, now: number): string {
    const { app, store } = this.parts;
    if (store.keys(tenant).filter((row) => row.configId === configId).length >= MOST_KEYS)
      throw fail('resource_exhausted', { message: `The provider has ${MOST_KEYS} keys; remove one first.` });
    const id = newId('pky', now);
    const { secret, variable = null, ...rest } = key;
    const sealed = secret === undefined ? null : app.secrets.seal(tenant, id, secret);
    store.addKey({ ...rest, id, tenant, configId, sealed, variable, createdAt: now, updatedAt: now });
    return id;
  }
}
