import { SECOND_MS } from '../../../src/kit/time.ts';
import type { App } from '../../app.ts';
import type { ProviderStore } from './store.ts';

const FLUSH_MS = 30 * SECOND_MS;

/** When providers were last used: noted in memory for every call, and written in batches. */
export class Uses {
  /** By tenant, then by provider: no more than tenants have providers. */
  private readonly pending = new Map<string, Map<string, number>>();
  private timer: Timer | undefined;

  constructor(
    private readonly app: Pick<App, 'clock' | 'log'>,
    private readonly store: ProviderStore,
  ) {}

  note(tenant: string, provider: string): void {
    const known = this.pending.get(tenant);
    if (known) known.set(provider, this.app.clock.now());
    else this.pending.set(tenant, new Map([[provider, this.app.clock.now()]]));
  }

  /** When a tenant last used its providers, by name; what is not written yet included. */
  of(tenant: string): ReadonlyMap<string, number> {
    return new Map([...this.store.uses(tenant), ...(this.pending.get(tenant) ?? [])]);
  }

  start(): void {
    this.timer = setInterval(() => this.flush(), FLUSH_MS);
    this.timer.unref();
  }

  stop(): void {
    clearInterval(this.timer);
    this.flush();
  }

  /** Writes what was noted. What cannot be written is noted still. */
  flush(): void {
    const rows = [...this.pending].flatMap(([tenant, names]) =>
      [...names].map(([name, lastUsedAt]) => ({ tenant, name, lastUsedAt })),
    );
    try {
      this.store.putUses(rows);
      this.pending.clear();
    } catch (error) {
      this.app.log.error('the uses of providers could not be written', { error });
    }
  }
}
