import { invalid } from '../../../../src/errors/app-error.ts';
import { PriceSheet } from './price-sheet.ts';

/** Names of prices in the configuration, and what they are in the data set. US dollars for a million tokens. */
const FIELDS = {
  input: 'input_mtok',
  cached_input: 'cache_read_mtok',
  cache_write: 'cache_write_mtok',
  output: 'output_mtok',
  reasoning: 'output_reasoning_mtok',
} as const;

/**
 * Reads the setting `gateway.prices`: prices by `provider/model`, or by `provider/*` for all others of a provider.
 * Errors: invalid_argument naming the entry.
 */
export function readPrices(setting: Readonly<Record<string, unknown>>): ReadonlyMap<string, PriceSheet> {
  return new Map(
    Object.entries(setting).map(([model, value]) => [checked(model), new PriceSheet(readOne(model, value))]),
  );
}

/** The entry that holds for a model. */
export function ownPriceOf(prices: ReadonlyMap<string, PriceSheet>, model: string): PriceSheet | undefined {
  if (prices.size === 0) return undefined;
  return prices.get(model) ?? prices.get(`${model.slice(0, model.indexOf('/'))}/*`);
}

function checked(model: string): string {
  if (/^[^/\s]+\/\S+$/.test(model)) return model;
  throw invalid({
    field: `gateway.prices.${model}`,
    description: 'must be named provider/model, or provider/*',
  });
}

function readOne(model: string, value: unknown): Record<string, number> {
  const field = `gateway.prices.${model}`;
  if (typeof value !== 'object' || value === null || Object.keys(value).length === 0)
    throw invalid({ field, description: `must hold some of ${Object.keys(FIELDS).join(', ')}` });
  return Object.fromEntries(
    Object.entries(value).map(([name, amount]) => {
      if (!(name in FIELDS))
        throw invalid({
          field: `${field}.${name}`,
          description: `must be one of ${Object.keys(FIELDS).join(', ')}`,
        });
      if (typeof amount !== 'number' || !(amount >= 0) || !Number.isFinite(amount))
        throw invalid({ field: `${field}.${name}`, description: 'must be US dollars for a million tokens' });
      return [FIELDS[name as keyof typeof FIELDS], amount];
    }),
  );
}
