import { clouds } from './clouds.ts';
import type { CatalogEntry } from './entry.ts';
import { hosts } from './hosts.ts';
import { labs } from './labs.ts';
import { own } from './own.ts';

/** Every provider that is known, in the order in which they are listed. */
export const CATALOG: readonly CatalogEntry[] = [...labs, ...clouds, ...hosts, ...own];

const BY_NAME: ReadonlyMap<string, CatalogEntry> = new Map(CATALOG.map((entry) => [entry.name, entry]));

/** The provider of this name; undefined when the catalog has none. */
export function catalogEntry(name: string): CatalogEntry | undefined {
  return BY_NAME.get(name);
}
