import type { ProviderAccount } from '../../providers/index.ts';
import type { Adapter } from '../upstream/adapter.ts';

/** How the candidates of a chain are tried (behaviour: Routing, Load balancing). */
export const STRATEGIES = ['priority', 'round_robin', 'weighted', 'least_connections', 'parallel'] as const;

/** One of them. */
export type Strategy = (typeof STRATEGIES)[number];

/** A provider that may answer a request, and as what. */
export interface Candidate {
  readonly account: ProviderAccount;
  readonly adapter: Adapter;
  /** The provider's own name of the model. */
  readonly model: string;
  /** Fields that replace those of the request, such as `temperature`. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** For `weighted`; at least 1. */
  readonly weight: number;
}

/** Who may answer for a model, and in what order they are asked. Never empty. */
export interface Chain {
  readonly resolvedBy: 'route' | 'explicit' | 'catalog';
  readonly strategy: Strategy;
  readonly candidates: readonly Candidate[];
}

/** The full name of what a candidate answers with: `<provider>/<model>`. */
export function fullName({ account, model }: Candidate): string {
  return `${account.name}/${model}`;
}
