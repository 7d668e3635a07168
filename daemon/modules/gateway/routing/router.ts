import { type AppError, fail } from '../../../../src/errors/app-error.ts';
import { nearest } from '../../../../src/kit/nearest.ts';
import type { ProviderAccount, ProviderDirectory } from '../../providers/index.ts';
import type { ModelInfo } from '../upstream/adapter.ts';
import { adapterOf } from '../upstream/adapters.ts';
import type { Candidate, Chain, Strategy } from './chain.ts';
import { KnownChains } from './known-chains.ts';
import type { KnownModels } from './model-list.ts';
import type { ModelLists } from './model-lists.ts';
import type { ModelRoute, RouteTarget } from './route.ts';

/** A model under the name that callers use: `<provider>/<model>`. */
export interface ListedModel extends ModelInfo {
  readonly provider: string;
}

/** What a tenant has named for itself, from memory. */
export interface RouteBook {
  /** The route of this name; undefined when the tenant has none. */
  find(tenant: string, name: string): ModelRoute | undefined;
  /** Every route of a tenant. */
  list(tenant: string): readonly ModelRoute[];
  /** Grows with every change. */
  readonly version: number;
}

/** How calls of a bare name are spread over the providers that have it. */
export interface Balancing {
  readonly strategy: Strategy;
  /** By name of the provider; 1 where it is not named. */
  readonly weights: Readonly<Record<string, number>>;
}

/** Takes models that nobody lists, as long as its own list cannot be had. */
const LAST_RESORT = 'openai';
/** No model has a longer name. What callers make up is kept in health, logs and headers. */
const LONGEST_NAME = 256;

/** Finds who answers for a model, in immutable snapshots. No database, and no waiting but for the first lists of models. */
export class Router {
  private readonly chains = new KnownChains();

  constructor(
    private readonly directory: ProviderDirectory,
    private readonly lists: ModelLists,
    private readonly routes: RouteBook,
    /** How a bare name that several providers have is spread; undefined keeps to the first. */
    private readonly balancing: (tenant: string) => Balancing | undefined,
  ) {}

  /**
   * The first of: the tenant's route of this name; `<provider>/<model>`; the providers whose list has it (behaviour:
   * Routing). Errors: model_not_found with the nearest names.
   */
  resolve(tenant: string, model: string): Chain | Promise<Chain> {
    const grounds = {
      accounts: this.directory.of(tenant),
      routes: this.routes.version,
      balancing: this.balancing(tenant),
    };
    return (
      this.chains.find(tenant, model, grounds) ??
      this.search(tenant, model).then((chain) => this.chains.keep(tenant, model, grounds, chain))
    );
  }

  private async search(tenant: string, model: string): Promise<Chain> {
    checkName(model);
    const route = this.routes.find(tenant, model);
    if (route) return this.follow(tenant, route);
    const explicit = await this.explicit(tenant, model);
    if (explicit) return { resolvedBy: 'explicit', strategy: 'priority', candidates: [explicit] };
    const candidates = await this.offering(tenant, model);
    if (candidates.length === 0) throw await this.missing(tenant, model);
    const balancing = this.balancing(tenant);
    if (!balancing)
      return { resolvedBy: 'catalog', strategy: 'priority', candidates: candidates.slice(0, 1) };
    const { strategy, weights } = balancing;
    const weighed = candidates.map((one) => ({ ...one, weight: weights[one.account.name] ?? one.weight }));
    return { resolvedBy: 'catalog', strategy, candidates: weighed };
  }

  /** Every model of every provider of a tenant, its routes first. */
  async list(tenant: string): Promise<ListedModel[]> {
    const routes = this.routes
      .list(tenant)
      .map(({ name, createdAt }) => ({ id: name, created: Math.floor(createdAt / 1000), provider: 'route' }));
    const lists = await Promise.all(
      this.directory.of(tenant).map(async (account) =>
        (await this.known(account)).models.map(({ id, created }) => ({
          id: `${account.name}/${id}`,
          created,
          provider: account.name,
        })),
      ),
    );
    return [...routes, ...lists.flat()];
  }

  /** One model of the list, by its full name or its bare one. Errors: model_not_found. */
  async get(tenant: string, model: string): Promise<ListedModel> {
    checkName(model);
    const models = await this.list(tenant);
    const found =
      models.find(({ id }) => id === model) ??
      models.find(({ id, provider }) => id === `${provider}/${model}`);
    if (found) return found;
    throw await this.missing(tenant, model);
  }

  private async follow(tenant: string, { strategy, targets }: ModelRoute): Promise<Chain> {
    const candidates = targets.flatMap((target) => this.target(tenant, target) ?? []);
    if (candidates.length > 0) return { resolvedBy: 'route', strategy, candidates };
    throw fail('unavailable', {
      message: `None of the providers of this route is set up: ${targets.map(({ provider }) => provider).join(', ')}. Add one: svc provider add ${targets[0]?.provider}`,
    });
  }

  private target(
    tenant: string,
    { provider, model, parameters, weight }: RouteTarget,
  ): Candidate | undefined {
    const account = this.account(tenant, provider);
    return account && { account, adapter: adapterOf(account), model, parameters, weight };
  }

  private async explicit(tenant: string, model: string): Promise<Candidate | undefined> {
    const slash = model.indexOf('/');
    const account = slash > 0 ? this.account(tenant, model.slice(0, slash)) : undefined;
    const id = model.slice(slash + 1);
    if (!account || id === '') return undefined;
    if (account.models && !account.models.includes(id)) throw await this.missing(tenant, model);
    return candidate(account, id);
  }

  private async offering(tenant: string, id: string): Promise<Candidate[]> {
    const accounts = this.directory.of(tenant);
    const lists = await Promise.all(accounts.map((account) => this.known(account)));
    const having = accounts.filter((_, index) => lists[index]?.models.some((model) => model.id === id));
    if (having.length > 0) return having.map((account) => candidate(account, id));
    const last = accounts.findIndex(({ name }) => name === LAST_RESORT);
    const account = accounts[last];
    return account && !lists[last]?.complete ? [candidate(account, id)] : [];
  }

  private account(tenant: string, name: string): ProviderAccount | undefined {
    return this.directory.of(tenant).find((account) => account.name === name);
  }

  private known(account: ProviderAccount): Promise<KnownModels> {
    return this.lists.of(account, adapterOf(account));
  }

  private async missing(tenant: string, model: string): Promise<AppError> {
    const names = (await this.list(tenant)).map(({ id }) => id);
    const bare = names.map((name) => name.slice(name.indexOf('/') + 1));
    const near = nearest(model, model.includes('/') ? names : [...names, ...bare]);
    return fail('model_not_found', { model, near: [...new Set(near)] });
  }
}

function checkName(model: string): void {
  if (model.length > LONGEST_NAME)
    throw fail('model_not_found', { model: `${model.slice(0, 32)}...`, near: [] });
}

function candidate(account: ProviderAccount, model: string): Candidate {
  return { account, adapter: adapterOf(account), model, parameters: {}, weight: 1 };
}
