import { invalid } from '../../../../src/errors/app-error.ts';
import { movesAway, ownPlace } from '../accounts.ts';
import { type KeyBlock, type ProviderBlock, placeFieldsOf } from '../block.ts';
import { catalogEntry } from '../catalog/catalog.ts';
import type { Changes } from '../changes.ts';
import { isMasked, masked } from '../mask.ts';
import type { OwnKey, OwnProvider, OwnProviders } from '../own-providers.ts';
import type { ProviderStore } from '../store.ts';

/** What who wrote a text may do by it. */
export interface Writer {
  /** Take keys from this variable of the environment, beside those that are taken already. */
  mayName(variable: string): boolean;
  /** Have stored keys sent to another server than the one that they were given for. */
  readonly mayMoveKeys: boolean;
}

const REFERENCE = 'env:';

/** A key as it is to be: one that is there, or a new one. */
type KeyPlan = { readonly block: KeyBlock } & (
  | { readonly known: OwnKey }
  | { readonly known?: undefined; readonly secret: string }
  | { readonly known?: undefined; readonly variable: string }
);

/** A provider as it is to be. */
interface Plan {
  readonly block: ProviderBlock;
  readonly dialect: string;
  readonly old: OwnProvider | undefined;
  readonly keys: readonly KeyPlan[];
}

/** Makes a tenant's rows what a text says. */
export class Applier {
  constructor(
    private readonly changes: Changes,
    private readonly store: ProviderStore,
    private readonly own: OwnProviders,
  ) {}

  /** Checks everything and changes nothing. Errors: invalid_argument naming the field. */
  plan(tenant: string, blocks: readonly ProviderBlock[], writer: Writer): Plan[] {
    return blocks.map((block) => {
      const old = this.changes.find(tenant, block.name);
      const base = this.changes.base(tenant, block.name);
      const place = ownPlace(block, base, placeFieldsOf(block.name));
      const keys = block.keys.map((key) => planKey(key, old, writer));
      refuseTwins(keys);
      const isMoved = old !== undefined && movesAway(old.row, { baseUrl: block.baseUrl, place }, base);
      if (isMoved && !writer.mayMoveKeys) refuseKept(keys);
      return { block, dialect: catalogEntry(block.name) ? '' : place.dialect, old, keys };
    });
  }

  /** Makes it so, inside the transaction of the change. Answers the names of the providers that were removed. */
  apply(
    tenant: string,
    plans: readonly Plan[],
    isRemoved: (old: OwnProvider) => boolean,
    now: number,
  ): string[] {
    const named = new Set(plans.map(({ block }) => block.name));
    const gone = this.own.of(tenant).providers.filter((old) => !named.has(old.row.name) && isRemoved(old));
    for (const { row } of gone) this.store.removeConfig(tenant, row.id);
    for (const plan of plans) this.put(tenant, plan, now);
    return gone.map(({ row }) => row.name);
  }

  private put(tenant: string, { block, dialect, old, keys }: Plan, now: number): void {
    const { name, baseUrl, models, settings } = block;
    const values = { dialect, baseUrl, models: [...models], settings };
    const isSame = old && Bun.deepEquals(values, pick(old));
    const id = old?.row.id ?? this.changes.addConfig({ tenant, name, ...values }, now);
    if (old && !isSame) this.store.changeConfig(tenant, id, { ...values, updatedAt: now });
    const kept = new Set(keys.flatMap(({ known }) => known?.row.id ?? []));
    for (const { row } of old?.keys ?? []) if (!kept.has(row.id)) this.store.removeKey(tenant, row.id);
    for (const key of keys) if (key.known) this.update(tenant, key.known, key.block, now);
    for (const key of keys) if (!key.known) this.changes.addKey(tenant, id, newKey(key), now);
  }

  private update(tenant: string, { row }: OwnKey, { name, weight, isActive }: KeyBlock, now: number): void {
    if (row.name === name && row.weight === weight && row.isActive === isActive) return;
    this.store.changeKey(tenant, row.id, { name, weight, isActive, updatedAt: now });
  }
}

function planKey(block: KeyBlock, old: OwnProvider | undefined, writer: Writer): KeyPlan {
  const { field } = block;
  const sameName = old?.keys.find(({ row }) => row.name === block.name);
  if (isMasked(block.text)) return { block, known: findMasked(block, old, sameName) };
  if (!block.text.startsWith(REFERENCE)) {
    const isSame = sameName?.secret === block.text && sameName.row.variable === null;
    return isSame ? { block, known: sameName } : { block, secret: block.text };
  }
  const variable = block.text.slice(REFERENCE.length);
  if (sameName?.row.variable === variable) return { block, known: sameName };
  if (!writer.mayName(variable))
    throw invalid({ field, description: `must not take a key from the variable ${variable}` });
  return { block, variable };
}

/** The key that a masked one stands for: that of its name, or the only one that looks so, which then has a new name. */
function findMasked(
  { text, name, field }: KeyBlock,
  old: OwnProvider | undefined,
  sameName: OwnKey | undefined,
): OwnKey {
  if (sameName) return sameName;
  const alike = old?.keys.filter(({ secret }) => secret !== undefined && masked(secret) === text) ?? [];
  const [one] = alike;
  if (one && alike.length === 1) return one;
  throw invalid({
    field,
    description: `is masked, and there is no key ${JSON.stringify(name)} that it could stand for`,
  });
}

/** A key that stays was given for the old address. */
function refuseKept(keys: readonly KeyPlan[]): void {
  const kept = keys.find(({ known, block }) => known && known.secret !== block.text);
  if (kept)
    throw invalid({
      field: kept.block.field,
      description: 'has to be given again: the address is another server',
    });
}

/** Two masked keys must not stand for the same one. */
function refuseTwins(keys: readonly KeyPlan[]): void {
  const ids = keys.map(({ known }) => known?.row.id);
  const twin = keys.find(({ known }, index) => known && ids.indexOf(known.row.id) !== index);
  if (twin) throw invalid({ field: twin.block.field, description: 'stands for a key that is named before' });
}

function newKey({ block, ...rest }: KeyPlan) {
  const { name, weight, isActive } = block;
  const what =
    'secret' in rest ? { secret: rest.secret } : 'variable' in rest ? { variable: rest.variable } : {};
  return { name, weight, isActive, source: 'config', ...what } as const;
}

function pick({ row: { dialect, baseUrl, models, settings } }: OwnProvider) {
  return { dialect, baseUrl, models, settings };
}
