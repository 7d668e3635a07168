import type { Chain } from './chain.ts';

/** What a resolution depends on; each is the same object or number until it changes. */
export interface Grounds {
  readonly accounts: unknown;
  readonly routes: unknown;
  readonly balancing: unknown;
}

interface Known extends Grounds {
  readonly chain: Chain;
  readonly until: number;
}

/** Lists of models change by themselves, so nothing is remembered for long. */
const KEPT_MS = 5_000;
const MOST_KNOWN = 4_096;

/** The chains that names have led to lately (behaviour: Routing, router cache). Forgets when what they stand on changes. */
export class KnownChains {
  private readonly known = new Map<string, Known>();

  constructor(private readonly now: () => number = () => performance.now()) {}

  /** The chain of a name, when it still holds. */
  find(tenant: string, model: string, { accounts, routes, balancing }: Grounds): Chain | undefined {
    const known = this.known.get(keyOf(tenant, model));
    if (!known || known.until < this.now()) return undefined;
    const holds = known.accounts === accounts && known.routes === routes && known.balancing === balancing;
    return holds ? known.chain : undefined;
  }

  /** Remembers a chain for five seconds. */
  keep(tenant: string, model: string, grounds: Grounds, chain: Chain): Chain {
    if (this.known.size >= MOST_KNOWN) this.known.clear();
    this.known.set(keyOf(tenant, model), { ...grounds, chain, until: this.now() + KEPT_MS });
    return chain;
  }
}

function keyOf(tenant: string, model: string): string {
  return `${tenant} ${model}`;
}
