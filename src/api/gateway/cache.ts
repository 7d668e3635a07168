import { endpoint, type Group } from '../endpoint.ts';
import { int64, model, oneOf, t } from '../schema.ts';

/** How the cache of answers stands. Counts are since the start of this instance. */
export const CacheState = model('CacheState', {
  enabled: t.Boolean(),
  type: oneOf('memory', 'redis'),
  semantic: t.Boolean({ description: 'Whether requests that say nearly the same are answered too.' }),
  ttl: t.String({ description: 'A duration such as 10m.' }),
  entries: t.Integer({ description: 'Answers in memory; absent where Redis has them.' }),
  bytes: int64(),
  hits: t.Integer(),
  semanticHits: t.Integer(),
  misses: t.Integer(),
  kept: t.Integer(),
});

const here = { spec: 'extra', tag: 'Cache', path: '/v1/cache' } as const;

/** Answers of models that are kept. */
export const cache = {
  GetCache: endpoint({
    ...here,
    id: 'GetCache',
    method: 'GET',
    summary: 'Show how the cache of answers stands',
    response: CacheState,
    access: 'viewer',
  }),
  ClearCache: endpoint({
    ...here,
    id: 'ClearCache',
    method: 'DELETE',
    summary: 'Forget every kept answer',
    response: model('ClearCacheResponse', { cleared: t.Integer() }),
    access: 'admin',
  }),
} satisfies Group;
