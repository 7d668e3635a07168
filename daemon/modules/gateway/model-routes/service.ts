import { fail, invalid } from '../../../../src/errors/app-error.ts';
import { nearest } from '../../../../src/kit/nearest.ts';
import type { App } from '../../../app.ts';
import type { Caller } from '../../../http/route.ts';
import type { Strategy } from '../routing/chain.ts';
import type { ModelRoute, RouteTarget } from '../routing/route.ts';
import type { RouteBook } from '../routing/router.ts';
import type { ModelRouteStore } from './store.ts';

/** A route as a caller asks for it. */
export interface WantedRoute {
  readonly strategy?: Strategy;
  readonly targets: ReadonlyArray<Pick<RouteTarget, 'provider' | 'model'> & Partial<RouteTarget>>;
}

const NAME = /^[A-Za-z0-9][\w.:@/-]{0,127}$/;
const MOST_ROUTES = 1000;
/** What makes a request the caller's own, and its answer of the form that the caller reads. */
const FIXED = ['model', 'messages', 'input', 'prompt', 'stream', 'stream_options', 'form'];

/** The aliases and fallback chains of tenants, in memory for the router and in the database for the next start. */
export class ModelRouteService implements RouteBook {
  version = 0;
  private readonly books = new Map<string, Map<string, ModelRoute>>();

  constructor(
    private readonly app: Pick<App, 'db' | 'clock' | 'audit'>,
    private readonly store: ModelRouteStore,
    /** The names of the providers that a tenant may call, or could set up. */
    private readonly providers: (tenant: string) => readonly string[],
  ) {
    for (const { tenant, ...route } of store.all()) this.bookOf(tenant).set(route.name, route);
  }

  find(tenant: string, name: string): ModelRoute | undefined {
    return this.books.get(tenant)?.get(name);
  }

  list(tenant: string): readonly ModelRoute[] {
    return [...(this.books.get(tenant)?.values() ?? [])].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** One route. Errors: not_found naming it. */
  get(tenant: string, name: string): ModelRoute {
    const route = this.find(tenant, name);
    if (!route) throw fail('not_found', { what: 'model route', id: name });
    return route;
  }

  /** Makes or replaces a route. Errors: invalid_argument naming the field; resource_exhausted at 1000 routes. */
  put({ tenant, actor }: Caller, name: string, wanted: WantedRoute): ModelRoute {
    const targets = this.check(tenant, name, wanted);
    const earlier = this.find(tenant, name);
    if (!earlier && this.bookOf(tenant).size >= MOST_ROUTES)
      throw fail('resource_exhausted', { message: `A tenant has at most ${MOST_ROUTES} model routes.` });
    const now = this.app.clock.now();
    const strategy = wanted.strategy ?? 'priority';
    const route: ModelRoute = {
      name,
      strategy,
      targets,
      createdAt: earlier?.createdAt ?? now,
      updatedAt: now,
    };
    const details = { strategy, targets: targets.map(({ provider, model }) => `${provider}/${model}`) };
    this.app.db.transaction(() => {
      this.store.put({ tenant, ...route });
      this.app.audit.record({ tenant, actor, action: 'model_route.put', target: name, details });
    });
    this.bookOf(tenant).set(name, route);
    this.version++;
    return route;
  }

  /** Forgets a route. Errors: not_found naming it. */
  remove({ tenant, actor }: Caller, name: string): void {
    this.get(tenant, name);
    this.app.db.transaction(() => {
      this.store.remove(tenant, name);
      this.app.audit.record({ tenant, actor, action: 'model_route.delete', target: name });
    });
    this.bookOf(tenant).delete(name);
    this.version++;
  }

  private check(tenant: string, name: string, { targets }: WantedRoute): RouteTarget[] {
    if (!NAME.test(name))
      throw invalid({
        field: 'name',
        description: 'begins with a letter or digit and has at most 128 letters, digits and . _ : @ / -',
      });
    const known = this.providers(tenant);
    return targets.map(({ provider, model, parameters = {}, weight = 1 }, index) => {
      const field = `targets.${index}`;
      if (!known.includes(provider)) throw unknownProvider(`${field}.provider`, provider, known);
      const fixed = Object.keys(parameters).find((key) => FIXED.includes(key));
      if (fixed)
        throw invalid({
          field: `${field}.parameters.${fixed}`,
          description: 'is the request itself, not a setting of it',
        });
      return { provider, model, parameters, weight };
    });
  }

  private bookOf(tenant: string): Map<string, ModelRoute> {
    const book = this.books.get(tenant) ?? new Map<string, ModelRoute>();
    this.books.set(tenant, book);
    return book;
  }
}

function unknownProvider(field: string, provider: string, known: readonly string[]) {
  const near = nearest(provider, known);
  const hint = near.length > 0 ? `; did you mean ${near.join(', ')}?` : '; list them: svc provider catalog';
  return invalid({ field, description: `names no provider${hint}` });
}
