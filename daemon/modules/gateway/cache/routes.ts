import { cache } from '../../../../src/api/gateway/cache.ts';
import { durationText } from '../../../../src/kit/duration.ts';
import { implement, type Route } from '../../../http/route.ts';
import type { CacheService } from './service.ts';

/** The operations on kept answers. */
export function cacheRoutes(service: CacheService): Route[] {
  return implement(cache, {
    GetCache: ({ caller }) => {
      const { ttlMs, bytes, ...state } = service.state(caller.tenant);
      return { ...state, ttl: durationText(ttlMs), bytes: bytes === undefined ? undefined : String(bytes) };
    },
    ClearCache: async ({ caller }) => ({ cleared: await service.clear(caller) }),
  });
}
