import { type Clock, MINUTE_MS } from '../../../../src/kit/time.ts';
import { type Dataset, loadDataset } from '../../providers/index.ts';
import type { Prices } from '../pipeline/stages.ts';
import type { Usage } from '../wire/usage.ts';
import { ownPriceOf } from './own-prices.ts';
import { PriceSheet } from './price-sheet.ts';

/** What is known of one model. */
export interface Priced {
  readonly sheet: PriceSheet;
  /** Tokens of prompt and answer together; absent when unknown. */
  readonly contextWindow?: number;
}

/** Providers on this machine, whose calls cost nothing. */
const FREE = ['local'];
const FREE_SHEET = new PriceSheet({ input_mtok: 0, output_mtok: 0 });
/** How many models are remembered, with what was found of them. */
const REMEMBERED = 4000;

interface Found {
  readonly priced: Priced | undefined;
  /** Some prices hold by the hour of the day, so they are looked up again. Unix time in milliseconds. */
  readonly until: number;
}

/** Prices of the configuration, else of the kept data set, in memory: looked up once for each model, multiplied for each request. */
export class PriceBook implements Prices {
  private dataset: Dataset | undefined;
  private readonly found = new Map<string, Found>();

  constructor(
    private readonly clock: Clock,
    private readonly own: ReadonlyMap<string, PriceSheet> = new Map(),
    private readonly load: () => Promise<Dataset> = loadDataset,
  ) {}

  /** Loads the data set. Before that no price is known. */
  async open(): Promise<void> {
    this.dataset = await this.load();
  }

  cost(model: string, usage: Usage): number | undefined {
    return this.of(model)?.sheet.cost(usage);
  }

  /** What is known of `provider/model`; undefined when its price is not. */
  of(model: string): Priced | undefined {
    const now = this.clock.now();
    const known = this.found.get(model);
    if (known && now < known.until) return known.priced;
    const found = this.search(model, now);
    if (this.found.size >= REMEMBERED) this.found.delete(this.found.keys().next().value ?? '');
    this.found.set(model, found);
    return found.priced;
  }

  private search(model: string, now: number): Found {
    const slash = model.indexOf('/');
    const [provider, id] = [model.slice(0, slash), model.slice(slash + 1)];
    if (FREE.includes(provider)) return { priced: { sheet: FREE_SHEET }, until: Number.POSITIVE_INFINITY };
    const known = this.dataset?.priceOf(provider, id, new Date(now));
    const until =
      this.dataset && !Array.isArray(known?.entry.prices) ? Number.POSITIVE_INFINITY : now + MINUTE_MS;
    const isListed = known !== undefined && Object.keys(known.price).length > 0;
    const sheet = ownPriceOf(this.own, model) ?? (isListed ? new PriceSheet(known.price) : undefined);
    return { priced: sheet && { sheet, contextWindow: known?.entry.context_window }, until };
  }
}
