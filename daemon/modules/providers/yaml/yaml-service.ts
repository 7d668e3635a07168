import type { Caller } from '../../../http/route.ts';
import type { Changes } from '../changes.ts';
import { isMasked } from '../mask.ts';
import type { OwnProvider, OwnProviders } from '../own-providers.ts';
import type { Applier, Writer } from './apply.ts';
import { readDocument, renderDocument } from './document.ts';
import type { PrivateFile } from './file.ts';
import type { FileSync, SyncStatus } from './file-sync.ts';

/** What a text has made of the providers. */
export interface Applied {
  /** How many providers it describes. */
  readonly count: number;
  readonly removed: readonly string[];
}

/** What this service stands on. */
export interface YamlParts {
  readonly changes: Changes;
  readonly applier: Applier;
  readonly own: OwnProviders;
  readonly file: PrivateFile;
  readonly sync: FileSync;
  readonly instanceTenant: string;
}

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** The owner of the machine writes the file; what this program itself is set up with is no key of a provider. */
const IN_FILE: Writer = {
  mayName: (variable) => NAME.test(variable) && !variable.startsWith('SVC_'),
  mayMoveKeys: true,
};
/** Who only has the API must not get at keys and variables by having them sent to an address of their own. */
const OVER_API: Writer = { mayName: () => false, mayMoveKeys: false };

/** The providers of a tenant as YAML; those of the instance's own tenant are in a file too. */
export class YamlService {
  constructor(private readonly parts: YamlParts) {}

  /** What is in force, keys masked. */
  get(tenant: string): string {
    return renderDocument(this.parts.own.of(tenant).providers);
  }

  /** Puts a text into force as a whole. Errors: invalid_argument naming the field and the line; nothing changed then. */
  async save(caller: Caller, text: string): Promise<Applied> {
    const isInstance = caller.tenant === this.parts.instanceTenant;
    const applied = await this.put(caller, text, {
      source: 'yamlContent',
      action: 'provider_config.save',
      writer: OVER_API,
      isRemoved: () => true,
    });
    if (isInstance) this.parts.sync.overwrite();
    return applied;
  }

  /**
   * Puts the stored configuration into force again: the file of the instance, the rows of any other tenant. What was set
   * up since the file was written and is not in it stays. Errors: invalid_argument naming the field and the line.
   */
  async reload(caller: Caller): Promise<Applied> {
    const { tenant } = caller;
    const { instanceTenant, changes, own, file, sync } = this.parts;
    const text = tenant === instanceTenant ? file.read() : undefined;
    if (text === undefined) {
      changes.run(tenant, () => changes.audit(caller, { action: 'provider_config.reload', target: tenant }));
      if (tenant === instanceTenant) sync.overwrite();
      return { count: own.of(tenant).providers.length, removed: [] };
    }
    const applied = await this.put(caller, text, {
      source: 'providers.yaml',
      action: 'provider_config.reload',
      writer: IN_FILE,
      isRemoved: ({ row }) => row.syncedAt !== null,
    });
    if (this.isWhole(applied) && !(await hasOpenKeys(text))) sync.agree(text);
    else sync.overwrite();
    return applied;
  }

  status(tenant: string): SyncStatus {
    if (tenant === this.parts.instanceTenant) return this.parts.sync.status();
    const times = this.parts.own.of(tenant).providers.map(({ row }) => row.updatedAt);
    const last = times.length > 0 ? Math.max(...times) : undefined;
    return { inSync: true, modifiedAt: last, syncedAt: last };
  }

  private async put(
    caller: Caller,
    text: string,
    how: {
      readonly source: string;
      readonly action: string;
      readonly writer: Writer;
      readonly isRemoved: (old: OwnProvider) => boolean;
    },
  ): Promise<Applied> {
    const { changes, applier } = this.parts;
    const { tenant } = caller;
    const document = await readDocument(text, how.source);
    const plans = document.telling(() => applier.plan(tenant, document.blocks, how.writer));
    const { value: removed } = changes.run(tenant, (now) => {
      const gone = applier.apply(tenant, plans, how.isRemoved, now);
      changes.audit(caller, {
        action: how.action,
        target: tenant,
        details: { providers: plans.map(({ block }) => block.name), removed: gone },
      });
      return gone;
    });
    return { count: plans.length, removed };
  }

  private isWhole({ count }: Applied): boolean {
    return this.parts.own.of(this.parts.instanceTenant).providers.length === count;
  }
}

async function hasOpenKeys(text: string): Promise<boolean> {
  const { blocks } = await readDocument(text, 'providers.yaml');
  return blocks.some(({ keys }) => keys.some((key) => !isMasked(key.text) && !key.text.startsWith('env:')));
}
