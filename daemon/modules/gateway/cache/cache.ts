import { fail } from '../../../../src/errors/app-error.ts';
import type { Clock } from '../../../../src/kit/time.ts';
import type { RuntimeSettings } from '../../settings/index.ts';
import type { ModelCall, ModelRequest } from '../pipeline/call.ts';
import type { AnswerCache, CachedAnswer } from '../pipeline/stages.ts';
import type { AnswerStore, KeptAnswer } from './answer.ts';
import { type Asked, askedOf } from './asked.ts';
import type { Print } from './likeness.ts';
import { type RequestKey, requestKey, type Scope } from './request-key.ts';
import type { SimilarRequests } from './similar.ts';
import { readWish } from './wish.ts';
import { isCached, isWorthKeeping } from './worth-keeping.ts';

/** How requests that say nearly the same are found. */
export interface Semantics {
  readonly isOn: boolean;
  readonly threshold: number;
  /** What stands for a text; undefined when that cannot be had now. */
  print(call: ModelCall, text: string): Promise<Print | undefined>;
}

/** What happened to the requests of a tenant since the start. */
export interface CacheCounts {
  hits: number;
  semanticHits: number;
  misses: number;
  kept: number;
}

/** What the cache works with. */
export interface CacheParts {
  readonly settings: Pick<RuntimeSettings, 'of'>;
  readonly clock: Clock;
  storeOf(tenant: string): AnswerStore;
  /** What of an answer depends on more than its request. */
  scopeOf(call: ModelCall): Scope;
  readonly similar: SimilarRequests;
  readonly semantics: () => Semantics;
}

/** What was found out about a request while its answer was looked for. */
interface Known {
  readonly key: RequestKey;
  readonly asked?: Asked;
  readonly print?: Print;
}

/** Surfaces of which requests that say nearly the same get the same answer. */
const SEMANTIC = new Set(['chat', 'messages', 'responses', 'completions']);

/** Remembers whole answers: by the exact request, and where that is on, by requests that say nearly the same. */
export class RequestCache implements AnswerCache {
  private readonly known = new WeakMap<ModelRequest, Known>();
  private readonly tallies = new Map<string, CacheCounts>();

  constructor(private readonly parts: CacheParts) {}

  /** Errors: invalid_argument naming a header. */
  modeOf(call: ModelCall): 'use' | 'bypass' | 'refresh' | 'off' {
    const { cache, features } = this.parts.settings.of(call.caller.tenant);
    if (!cache.enabled || !features.enableResponseCaching) return 'off';
    if (call.request.stream === true || !isCached(call.surface)) return 'off';
    return readWish(call.headers).mode;
  }

  /** Errors: not_cached when the caller wants an answer that was kept, and nothing else. */
  async find(call: ModelCall): Promise<CachedAnswer | undefined> {
    const { tenant } = call.caller;
    const { maxAgeMs, onlyIfCached } = readWish(call.headers);
    const found = await this.lookUp(call, maxAgeMs);
    const counts = this.counts(tenant);
    if (found) counts[found.by === 'hit' ? 'hits' : 'semanticHits']++;
    else counts.misses++;
    if (!found && onlyIfCached) throw fail('not_cached');
    return found;
  }

  keep(call: ModelCall, answer: Omit<CachedAnswer, 'by' | 'keptAt'>): void {
    if (!isWorthKeeping(call.surface, answer.body)) return;
    const { tenant } = call.caller;
    const { key, asked, print } = this.knownOf(call) ?? {};
    if (!key) return;
    const { ttlMs } = readWish(call.headers);
    const keptAt = this.parts.clock.now();
    const expiresAt = keptAt + (ttlMs ?? this.parts.settings.of(tenant).cache.ttlMs);
    this.parts.storeOf(tenant).keep(tenant, key, { ...answer, keptAt, expiresAt });
    if (asked && print) this.parts.similar.add(tenant, asked.context, key, print);
    this.counts(tenant).kept++;
  }

  /** What happened since the start. */
  counts(tenant: string): CacheCounts {
    const found = this.tallies.get(tenant) ?? { hits: 0, semanticHits: 0, misses: 0, kept: 0 };
    this.tallies.set(tenant, found);
    return found;
  }

  private async lookUp(call: ModelCall, maxAgeMs: number | undefined): Promise<CachedAnswer | undefined> {
    const known = this.knownOf(call);
    if (!known) return undefined;
    const { tenant } = call.caller;
    const store = this.parts.storeOf(tenant);
    const same = await store.find(tenant, known.key);
    if (same && this.isYoung(same, maxAgeMs)) return { ...same, by: 'hit' };
    const near = await this.nearest(call, known, store);
    return near && this.isYoung(near, maxAgeMs) ? { ...near, by: 'semantic' } : undefined;
  }

  private async nearest(
    call: ModelCall,
    { key }: Known,
    store: AnswerStore,
  ): Promise<KeptAnswer | undefined> {
    const semantics = this.parts.semantics();
    if (!semantics.isOn || !SEMANTIC.has(call.surface)) return undefined;
    const asked = askedOf(call, this.parts.scopeOf(call));
    const print = asked && (await semantics.print(call, asked.text));
    if (!asked || !print) return undefined;
    this.known.set(call.request, { key, asked, print });
    const { tenant } = call.caller;
    const near = await this.parts.similar.nearest(tenant, asked.context, print, semantics.threshold);
    const found = near && (await store.find(tenant, near));
    if (near && !found) this.parts.similar.forget(tenant, near);
    return found;
  }

  private isYoung({ keptAt }: KeptAnswer, maxAgeMs: number | undefined): boolean {
    return maxAgeMs === undefined || this.parts.clock.now() - keptAt <= maxAgeMs;
  }

  /** Undefined for a request that is nested too deeply to be read. */
  private knownOf(call: ModelCall): Known | undefined {
    const earlier = this.known.get(call.request);
    if (earlier) return earlier;
    try {
      const known = { key: requestKey(call, this.parts.scopeOf(call)) };
      this.known.set(call.request, known);
      return known;
    } catch (error) {
      if (error instanceof RangeError) return undefined;
      throw error;
    }
  }
}
