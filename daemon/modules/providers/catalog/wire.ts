import type { ModelMetadata, ProviderCatalogEntry } from '../../../../src/api/providers/catalog.ts';
import type { Value } from '../../../../src/api/schema.ts';
import { CATALOG } from './catalog.ts';
import type { Dataset, KnownModel } from './dataset.ts';
import { DIALECT_SETTINGS } from './dialect-settings.ts';
import { CAPABILITIES, type CatalogEntry, type Family } from './entry.ts';

/** A provider of the catalog as answers have it. */
export type WireEntry = Value<typeof ProviderCatalogEntry>;

type WireModel = Value<typeof ModelMetadata>;

const PER_THOUSAND = 1000;
const made = new WeakMap<Dataset, ReadonlyMap<string, WireEntry>>();

/** The whole catalog by name, with what the data set knows of its models; made once. */
export function wireCatalog(dataset: Dataset): ReadonlyMap<string, WireEntry> {
  const known = made.get(dataset);
  if (known) return known;
  const entries = new Map(CATALOG.map((entry) => [entry.name, toWire(entry, dataset.modelsOf(entry.name))]));
  made.set(dataset, entries);
  return entries;
}

/**
 * One entry. How much a provider takes (`rateLimits`) depends on the customer's plan, and when a model came out
 * (`freshness`) is not in the data, so that neither is said.
 */
export function toWire(entry: CatalogEntry, models: readonly KnownModel[]): WireEntry {
  const { name, displayName, description, baseUrl, apiVersion, modelsPath, type } = entry;
  return {
    name,
    displayName,
    description,
    baseUrl,
    apiVersion,
    capabilities: Object.fromEntries(
      CAPABILITIES.map((one) => [one, entry.capabilities.includes(one)]),
    ) as WireEntry['capabilities'],
    modelFamilies: entry.families.map((family) => familyToWire(family, models)),
    models: models.map((model) => modelToWire(model, entry.families)),
    providerType: type,
    supportsModelDiscovery: modelsPath !== '',
    discoveryApiEndpoint: modelsPath === '' ? '' : baseUrl + modelsPath,
    dialect: entry.dialect,
    requiresKey: entry.needsKey,
    settings: Object.entries(DIALECT_SETTINGS[entry.dialect]).map(([setting, rule]) => ({
      name: setting,
      description: rule.about,
      ...(rule.default === undefined ? {} : { default: rule.default }),
      isRequired: rule.isRequired === true,
    })),
    environment: variablesOf(entry),
  };
}

function variablesOf({ variables: { key = [], baseUrl = [], settings = {} } }: CatalogEntry): string[] {
  return [...key, ...baseUrl, ...Object.values(settings).flat()];
}

function familyToWire({ name, description, capabilities, pattern }: Family, models: readonly KnownModel[]) {
  const windows = models.flatMap(({ id, contextWindow = 0 }) => (pattern.test(id) ? [contextWindow] : []));
  const longest = Math.max(0, ...windows);
  return {
    name,
    description,
    capabilities: [...capabilities],
    ...(longest > 0 ? { maxTokens: String(longest) } : {}),
  };
}

function modelToWire(model: KnownModel, families: readonly Family[]): WireModel {
  const { id, name, contextWindow, inputPerMillion, outputPerMillion, isDeprecated } = model;
  const family = families.find(({ pattern }) => pattern.test(id));
  const status = isDeprecated ? 'deprecated' : /preview|beta|(^|-)exp\b/.test(id) ? 'beta' : 'stable';
  return {
    name: id,
    displayName: name,
    ...(contextWindow === undefined ? {} : { maxTokens: String(contextWindow) }),
    capabilities: [...(family?.capabilities ?? [])],
    ...(inputPerMillion === undefined ? {} : { inputCostPer1k: inputPerMillion / PER_THOUSAND }),
    ...(outputPerMillion === undefined ? {} : { outputCostPer1k: outputPerMillion / PER_THOUSAND }),
    status,
  };
}
