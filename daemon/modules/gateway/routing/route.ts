import type { Strategy } from './chain.ts';

/** One place that a route leads to. */
export interface RouteTarget {
  readonly provider: string;
  /** The provider's own name of the model. */
  readonly model: string;
  /** Fields that replace those of the request. */
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly weight: number;
}

/** A name of the tenant's own for one or several models: an alias with one target, a chain with more (behaviour: Routing). */
export interface ModelRoute {
  readonly name: string;
  readonly strategy: Strategy;
  readonly targets: readonly RouteTarget[];
  /** Unix time in milliseconds. */
  readonly createdAt: number;
  readonly updatedAt: number;
}
