import { invalid } from '../../../../src/errors/app-error.ts';
import { DAY_MS, SECOND_MS } from '../../../../src/kit/time.ts';

/** What a caller wants of the cache for one request, by its headers. */
export interface CacheWish {
  /** `bypass` neither uses nor keeps answers; `refresh` keeps a new one. */
  readonly mode: 'use' | 'bypass' | 'refresh';
  /** Only an answer that was kept will do. */
  readonly onlyIfCached: boolean;
  /** Oldest answer that will do, in milliseconds. */
  readonly maxAgeMs?: number;
  /** How long the answer is to be kept, in milliseconds. */
  readonly ttlMs?: number;
}

const PLAIN: CacheWish = { mode: 'use', onlyIfCached: false };
const MODES = ['use', 'bypass', 'refresh', 'only-if-cached'] as const;
const LONGEST_MS = 30 * DAY_MS;

/**
 * Reads `x-svc-cache` (use, bypass, refresh, only-if-cached), `x-svc-cache-ttl` (seconds) and the directives no-store, no-cache, max-age and
 * only-if-cached of Cache-Control (RFC 9111, 5.2.1). The header of our own is the stronger one. Errors: invalid_argument naming the header.
 */
export function readWish(headers: Headers): CacheWish {
  const [own, control, ttl] = [
    headers.get('x-svc-cache'),
    headers.get('cache-control'),
    headers.get('x-svc-cache-ttl'),
  ];
  if (own === null && control === null && ttl === null) return PLAIN;
  const directives = readControl(control ?? '');
  const wanted = own === null ? directives.mode : readMode(own);
  return {
    mode: wanted === 'only-if-cached' ? 'use' : wanted,
    onlyIfCached: wanted === 'only-if-cached' || (own === null && directives.onlyIfCached),
    maxAgeMs: directives.maxAgeMs,
    ttlMs: ttl === null ? undefined : readTtl(ttl),
  };
}

function readMode(text: string): (typeof MODES)[number] {
  const found = MODES.find((mode) => mode === text.trim().toLowerCase());
  if (found) return found;
  throw invalid({ field: 'x-svc-cache', description: `is one of ${MODES.join(', ')}` });
}

/** What cannot be read in it is not meant for us. */
function readControl(text: string): CacheWish {
  const directives = text.split(',').map((part) => part.trim().toLowerCase());
  const has = (name: string) => directives.includes(name);
  const age = directives.map((one) => /^max-age\s*=\s*"?(\d{1,9})"?$/.exec(one)?.[1]).find(Boolean);
  return {
    mode: has('no-store') ? 'bypass' : has('no-cache') ? 'refresh' : 'use',
    onlyIfCached: has('only-if-cached'),
    maxAgeMs: age === undefined ? undefined : Number(age) * SECOND_MS,
  };
}

function readTtl(text: string): number {
  const ms = Number(text) * SECOND_MS;
  if (/^\d{1,9}$/.test(text.trim()) && ms >= SECOND_MS && ms <= LONGEST_MS) return ms;
  throw invalid({
    field: 'x-svc-cache-ttl',
    description: `is a number of seconds from 1 to ${LONGEST_MS / SECOND_MS}`,
  });
}
