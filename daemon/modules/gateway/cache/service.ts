import type { App } from '../../../app.ts';
import type { Caller } from '../../../http/route.ts';
import type { RuntimeSettings } from '../../settings/index.ts';
import type { AnswerStore } from './answer.ts';
import type { CacheCounts, RequestCache, Semantics } from './cache.ts';
import type { SimilarRequests } from './similar.ts';

/** What the service works with. */
export interface CacheServiceParts {
  readonly settings: Pick<RuntimeSettings, 'of'>;
  readonly stage: RequestCache;
  storeOf(tenant: string): AnswerStore;
  readonly similar: SimilarRequests;
  readonly semantics: () => Pick<Semantics, 'isOn'>;
  readonly audit: App['audit'];
}

/** How the cache of a tenant stands. */
export interface CacheState extends CacheCounts {
  readonly enabled: boolean;
  readonly type: 'memory' | 'redis';
  readonly semantic: boolean;
  /** Undefined where others keep it. */
  readonly entries: number | undefined;
  readonly bytes: number | undefined;
  readonly ttlMs: number;
}

/** What people see of the cache, and do with it. */
export class CacheService {
  constructor(private readonly parts: CacheServiceParts) {}

  state(tenant: string): CacheState {
    const { settings, stage, storeOf, semantics } = this.parts;
    const { cache, features } = settings.of(tenant);
    return {
      enabled: cache.enabled && features.enableResponseCaching,
      type: cache.type,
      semantic: semantics().isOn,
      ttlMs: cache.ttlMs,
      ...storeOf(tenant).holdings(tenant),
      ...stage.counts(tenant),
    };
  }

  /** Forgets every answer of the tenant. Answers how many those were. Errors: cache_unreachable. */
  async clear({ tenant, actor }: Caller): Promise<number> {
    this.parts.similar.clear(tenant);
    const cleared = await this.parts.storeOf(tenant).clear(tenant);
    this.parts.audit.record({ tenant, actor, action: 'cache.clear', target: 'cache', details: { cleared } });
    return cleared;
  }
}
