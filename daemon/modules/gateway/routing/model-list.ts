import { SECOND_MS } from '../../../../src/kit/time.ts';
import type { ModelInfo } from '../upstream/adapter.ts';

const FRESH_MS = 60 * SECOND_MS;
const RETRY_MS = 10 * SECOND_MS;
/** More than any provider has: the names are searched for every misspelt one. */
const MOST_MODELS = 10_000;

/** What is known of the models of a provider. */
export interface KnownModels {
  readonly models: readonly ModelInfo[];
  /** Whether the list says all: what is not on it does not exist. */
  readonly complete: boolean;
}

/**
 * The models of an upstream, remembered for a minute. Only the first reader waits; later ones get what is known
 * while it is fetched anew. A fetch that fails leaves the last list, and is tried again after ten seconds.
 */
export class ModelList {
  private known: KnownModels | undefined;
  private expires = 0;
  private loading: Promise<void> | undefined;

  constructor(
    private readonly load: () => Promise<readonly ModelInfo[]>,
    private readonly onFailure: (error: unknown) => void,
    private readonly now: () => number,
  ) {}

  /** The models. Never fails. */
  async get(): Promise<KnownModels> {
    if (this.known && this.now() < this.expires) return this.known;
    this.loading ??= this.refresh().finally(() => {
      this.loading = undefined;
    });
    if (!this.known) await this.loading;
    return this.known ?? { models: [], complete: false };
  }

  private async refresh(): Promise<void> {
    try {
      const models = await this.load();
      this.known = { models: models.slice(0, MOST_MODELS), complete: models.length <= MOST_MODELS };
      this.expires = this.now() + FRESH_MS;
    } catch (error) {
      this.known ??= { models: [], complete: false };
      this.expires = this.now() + RETRY_MS;
      this.onFailure(error);
    }
  }
}
