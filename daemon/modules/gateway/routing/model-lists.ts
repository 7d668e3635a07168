import type { App } from '../../../app.ts';
import type { ProviderAccount } from '../../providers/index.ts';
import type { Adapter } from '../upstream/adapter.ts';
import { openUpstream } from '../upstream/open.ts';
import { type KnownModels, ModelList } from './model-list.ts';

const LIST_TIMEOUT_MS = 3_000;
const NONE: KnownModels = { models: [], complete: false };

/** The models of accounts, each asked for once a minute at most, as long as the account stays as it is. */
export class ModelLists {
  private readonly lists = new WeakMap<ProviderAccount, ModelList>();

  constructor(private readonly app: Pick<App, 'outbound' | 'log' | 'clock'>) {}

  /** The models of an account. Never fails. Waits only for the first list. */
  async of(account: ProviderAccount, adapter: Adapter): Promise<KnownModels> {
    if (account.models) return { models: account.models.map((id) => ({ id, created: 0 })), complete: true };
    if (!adapter.models) return NONE;
    const list = this.lists.get(account) ?? this.listOf(account, adapter.models);
    this.lists.set(account, list);
    return list.get();
  }

  private listOf(account: ProviderAccount, ask: NonNullable<Adapter['models']>): ModelList {
    const load = () => {
      const signal = AbortSignal.timeout(LIST_TIMEOUT_MS);
      return ask(openUpstream(this.app.outbound, { account, key: account.keys[0], signal }));
    };
    const tell = (error: unknown) =>
      this.app.log.info('the models of a provider could not be listed', { provider: account.name, error });
    return new ModelList(load, tell, () => this.app.clock.now());
  }
}
