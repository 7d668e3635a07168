import { fail } from '../../../src/errors/app-error.ts';
import { nearest } from '../../../src/kit/nearest.ts';
import type { ModelInfo, Provider } from './provider.ts';

/** The provider that takes a call, and its own name of the model. */
export interface Destination {
  readonly provider: Provider;
  readonly id: string;
}

/** A model under the name that callers use: `<provider>/<model>`. */
export interface ListedModel extends ModelInfo {
  readonly provider: string;
}

/** Takes models that no provider lists. */
const FALLBACK = 'openai';

/** Finds who answers for a model, in an immutable set of providers. No database, and no waiting but for first lists. */
export class Router {
  private readonly byName: ReadonlyMap<string, Provider>;

  constructor(private readonly providers: readonly Provider[]) {
    this.byName = new Map(providers.map((provider) => [provider.name, provider]));
  }

  /**
   * `<provider>/<model>` goes to that provider. A bare name goes to the first provider whose list has it, else to
   * `openai`, when that is configured. Errors: model_not_found with the nearest names.
   */
  async route(model: string): Promise<Destination> {
    const destination = (await this.named(model)) ?? (await this.listed(model)) ?? this.fallback(model);
    if (destination) return destination;
    throw await this.missing(model);
  }

  /** Every model of every provider. */
  async list(): Promise<ListedModel[]> {
    const lists = await Promise.all(
      this.providers.map(async (provider) =>
        (await provider.models()).map(({ id, created }) => ({
          id: `${provider.name}/${id}`,
          created,
          provider: provider.name,
        })),
      ),
    );
    return lists.flat();
  }

  /** One model of the list, by its full name or its bare one. Errors: model_not_found. */
  async get(model: string): Promise<ListedModel> {
    const models = await this.list();
    const found =
      models.find(({ id }) => id === model) ??
      models.find(({ id, provider }) => id === `${provider}/${model}`);
    if (found) return found;
    throw await this.missing(model);
  }

  private async named(model: string): Promise<Destination | undefined> {
    const slash = model.indexOf('/');
    const provider = this.byName.get(model.slice(0, Math.max(slash, 0)));
    const id = model.slice(slash + 1);
    if (!provider || id === '') return undefined;
    if (provider.closed && !(await has(provider, id))) throw await this.missing(model);
    return { provider, id };
  }

  private async listed(id: string): Promise<Destination | undefined> {
    for (const provider of this.providers) {
      const takesAnyway = provider.name === FALLBACK && !provider.closed;
      if (!takesAnyway && (await has(provider, id))) return { provider, id };
    }
    return undefined;
  }

  private fallback(id: string): Destination | undefined {
    const provider = this.byName.get(FALLBACK);
    return provider && !provider.closed ? { provider, id } : undefined;
  }

  private async missing(model: string) {
    const names = (await this.list()).map(({ id }) => id);
    return fail('model_not_found', { model, near: nearest(model, names) });
  }
}

async function has(provider: Provider, id: string): Promise<boolean> {
  return (await provider.models()).some((model) => model.id === id);
}
