import { SECOND_MS } from '../../../../src/kit/time.ts';
import type { ModelInfo } from '../provider.ts';

const FRESH_MS = 60 * SECOND_MS;
const RETRY_MS = 10 * SECOND_MS;

/**
 * The models of an upstream, remembered for a minute. Only the first reader waits; later ones get what is known
 * while it is fetched anew. A fetch that fails leaves the last list, and is tried again after ten seconds.
 */
export class ModelList {
  private known: readonly ModelInfo[] | undefined;
  private expires = 0;
  private loading: Promise<void> | undefined;

  constructor(
    private readonly load: () => Promise<readonly ModelInfo[]>,
    private readonly onFailure: (error: unknown) => void,
    private readonly now: () => number,
  ) {}

  /** The models. Never fails. */
  async get(): Promise<readonly ModelInfo[]> {
    if (this.known && this.now() < this.expires) return this.known;
    this.loading ??= this.refresh().finally(() => {
      this.loading = undefined;
    });
    if (!this.known) await this.loading;
    return this.known ?? [];
  }

  private async refresh(): Promise<void> {
    try {
      this.known = await this.load();
      this.expires = this.now() + FRESH_MS;
    } catch (error) {
      this.known ??= [];
      this.expires = this.now() + RETRY_MS;
      this.onFailure(error);
    }
  }
}

/** Reads the answer to GET /models: `{data: [{id, created}]}`. Entries without an id are left out. */
export function readModels(body: unknown): ModelInfo[] {
  const data = (body as { data?: unknown } | null)?.data;
  if (!Array.isArray(data)) throw new Error('the answer has no list "data"');
  return data.flatMap((item: { id?: unknown; created?: unknown } | null) =>
    typeof item?.id === 'string' && item.id !== ''
      ? [{ id: item.id, created: Number.isInteger(item.created) ? Number(item.created) : 0 }]
      : [],
  );
}
