import type { ModelInfo, ModelPrice, PriceCalculation, Provider, Usage } from '@pydantic/genai-prices';

/** A model as the data set knows it. Prices are in US dollars for a million tokens, up to the first tier. */
export interface KnownModel {
  readonly id: string;
  /** Its name for people. */
  readonly name: string;
  /** Tokens of prompt and answer together; absent when unknown. */
  readonly contextWindow?: number;
  readonly inputPerMillion?: number;
  readonly outputPerMillion?: number;
  readonly isDeprecated: boolean;
}

/** What a model costs at one time: its raw entry, and the prices of it that hold then. */
export interface KnownPrice {
  readonly entry: ModelInfo;
  readonly price: ModelPrice;
}

/** What is known of models and their prices, in memory. Providers have their names of the catalog. */
export interface Dataset {
  /** The models of a provider in the order of the data; none for a provider that it does not know. */
  modelsOf(provider: string): readonly KnownModel[];
  /** The price of a model under any of the names that its provider takes; undefined when it is not known. */
  priceOf(provider: string, model: string, at?: Date): KnownPrice | undefined;
  /**
   * US dollars for a use, tiers and prices by time included; undefined when the price is not known. Counts have the
   * names of the data set: `input_tokens` (all of them), `cache_read_tokens`, `output_tokens`, `input_audio_seconds`...
   */
  costOf(provider: string, model: string, usage: Usage, at?: Date): number | undefined;
}

/** The data set's own names of the providers of the catalog. */
const NAMES: ReadonlyMap<string, string> = new Map([
  ['openai', 'openai'],
  ['anthropic', 'anthropic'],
  ['google', 'google'],
  ['azure', 'azure'],
  ['bedrock', 'aws'],
  ['vertex', 'google'],
  ['mistral', 'mistral'],
  ['cohere', 'cohere'],
  ['groq', 'groq'],
  ['deepseek', 'deepseek'],
  ['xai', 'x-ai'],
  ['together', 'together'],
  ['fireworks', 'fireworks'],
  ['openrouter', 'openrouter'],
  ['perplexity', 'perplexity'],
  ['cerebras', 'cerebras'],
  ['voyage', 'voyageai'],
]);

/** Models that the data set has under a provider which only its cloud offers. */
const NOT_OFFERED: ReadonlyMap<string, RegExp> = new Map([
  ['google', /^(claude|llama|mistral|codestral|jamba)/],
]);

/** How many names of models are remembered with what they were found to be. */
const REMEMBERED = 2000;

type Library = Pick<typeof import('@pydantic/genai-prices'), 'calcPrice' | 'findProvider'>;

let loading: Promise<Dataset> | undefined;

/**
 * Loads the data set of @pydantic/genai-prices at the first call; it is half a megabyte, so nothing loads it that does
 * not read it. Nothing is fetched: the data are those of the package's release.
 */
export function loadDataset(): Promise<Dataset> {
  loading ??= import('@pydantic/genai-prices').then((library) => new PackagedDataset(library));
  return loading;
}

class PackagedDataset implements Dataset {
  private readonly lists = new Map<string, readonly KnownModel[]>();
  /** By `provider/model`: a provider with just the entry of that model, because a search takes up to half a millisecond. */
  private readonly found = new Map<string, Provider | undefined>();

  constructor(private readonly library: Library) {}

  modelsOf(provider: string): readonly KnownModel[] {
    const known = this.lists.get(provider);
    if (known) return known;
    const providerId = NAMES.get(provider);
    if (providerId === undefined) return [];
    const except = NOT_OFFERED.get(provider);
    const models = this.library.findProvider({ providerId })?.models ?? [];
    const list = models.filter(({ id }) => !except?.test(id)).map(toKnown);
    this.lists.set(provider, list);
    return list;
  }

  priceOf(provider: string, model: string, at?: Date): KnownPrice | undefined {
    const found = this.calculate(provider, model, {}, at);
    return found ? { entry: found.model, price: found.model_price } : undefined;
  }

  costOf(provider: string, model: string, usage: Usage, at?: Date): number | undefined {
    return this.calculate(provider, model, usage, at)?.total_price;
  }

  private calculate(provider: string, model: string, usage: Usage, at?: Date): PriceCalculation | null {
    const narrow = this.find(provider, model);
    return narrow ? this.library.calcPrice(usage, model, { provider: narrow, timestamp: at }) : null;
  }

  private find(provider: string, model: string): Provider | undefined {
    const name = `${provider}/${model}`;
    if (this.found.has(name)) return this.found.get(name);
    const providerId = NAMES.get(provider);
    const entry = providerId === undefined ? null : this.library.calcPrice({}, model, { providerId });
    const narrow = entry ? { ...entry.provider, models: [entry.model] } : undefined;
    if (this.found.size >= REMEMBERED) this.found.delete(this.found.keys().next().value ?? '');
    this.found.set(name, narrow);
    return narrow;
  }
}

function toKnown({ id, name, context_window: contextWindow, prices, deprecated }: ModelInfo): KnownModel {
  const current = Array.isArray(prices) ? pricesNow(prices) : prices;
  return {
    id,
    name: name ?? id,
    ...(contextWindow === undefined ? {} : { contextWindow }),
    ...perMillion('inputPerMillion', current.input_mtok),
    ...perMillion('outputPerMillion', current.output_mtok),
    isDeprecated: deprecated === true,
  };
}

/** The prices that hold without a condition, or since a day that has come; the last of them is the newest. */
function pricesNow(prices: Exclude<ModelInfo['prices'], ModelPrice>): ModelPrice {
  const today = new Date().toISOString().slice(0, 10);
  const holds = prices.filter(
    ({ constraint }) => !constraint || (constraint.type === 'start_date' && constraint.start_date <= today),
  );
  return holds.at(-1)?.prices ?? {};
}

function perMillion<N extends string>(name: N, price: ModelPrice[string]): Partial<Record<N, number>> {
  const amount = typeof price === 'object' ? price.base : price;
  return amount === undefined ? {} : ({ [name]: amount } as Record<N, number>);
}
