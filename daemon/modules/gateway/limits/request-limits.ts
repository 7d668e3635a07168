import { fail } from '../../../../src/errors/app-error.ts';
import { type Clock, MINUTE_MS, SECOND_MS } from '../../../../src/kit/time.ts';
import type { RateLimitValue, RuntimeSettings } from '../../settings/index.ts';
import type { ModelCall } from '../pipeline/call.ts';
import type { Limits } from '../pipeline/stages.ts';
import { bucketKey } from './bucket-key.ts';
import { type Refill, TokenBucket } from './token-bucket.ts';

/** A bucket that was idle for this long and is full again is dropped. */
const IDLE_MS = 10 * MINUTE_MS;
/** Most buckets that are kept; the one that was used longest ago makes room. */
const MOST_BUCKETS = 100_000;
/** Old buckets that a request looks at. Two, so that they become fewer than come. */
const SWEPT = 2;

/** What can be told apart in tests. */
export interface LimitOptions {
  /** Milliseconds that only go forward, whatever is done to the clock of the machine. */
  readonly monotonic?: () => number;
  readonly mostBuckets?: number;
}

/** Token buckets in memory, by tenant and within it by the source that its configuration names (spec, Rate limiting). */
export class RequestLimits implements Limits {
  /** The one that was used longest ago stands first. */
  private readonly buckets = new Map<string, Kept>();
  private readonly monotonic: () => number;
  private readonly mostBuckets: number;

  constructor(
    private readonly settings: Pick<RuntimeSettings, 'of'>,
    private readonly clock: Clock,
    { monotonic = () => performance.now(), mostBuckets = MOST_BUCKETS }: LimitOptions = {},
  ) {
    this.monotonic = monotonic;
    this.mostBuckets = mostBuckets;
  }

  /** How many callers are counted now. */
  get size(): number {
    return this.buckets.size;
  }

  admit(call: ModelCall): Readonly<Record<string, string>> | undefined {
    const { tenant } = call.caller;
    const { rateLimit } = this.settings.of(tenant);
    if (!rateLimit.enabled) return undefined;
    const now = this.monotonic();
    const refill = { burst: rateLimit.burst, perMs: rateLimit.requestsPerMinute / MINUTE_MS };
    const bucket = this.bucket(
      `${tenant} ${rateLimit.keySource} ${bucketKey(rateLimit.keySource, call)}`,
      refill,
      now,
    );
    const isAdmitted = bucket.take(now, refill);
    const headers = this.headers(bucket, refill);
    if (isAdmitted) return headers;
    throw fail('rate_limited', {
      message: `More than ${words(rateLimit)} were made.`,
      retryAfterSeconds: Math.ceil(bucket.untilToken(refill) / SECOND_MS),
      headers,
    });
  }

  private bucket(key: string, refill: Refill, now: number): TokenBucket {
    this.sweep(now);
    const kept = this.buckets.get(key);
    if (kept) this.buckets.delete(key);
    const { bucket } = kept ?? { bucket: new TokenBucket(refill.burst, now) };
    this.buckets.set(key, { bucket, refill });
    return bucket;
  }

  /** Drops what was not used for long; one that is not full yet would be given its tokens for nothing. */
  private sweep(now: number): void {
    let left = SWEPT;
    for (const [key, { bucket, refill }] of this.buckets) {
      const isDue = bucket.idle(now) >= Math.max(IDLE_MS, bucket.untilFull(refill));
      if (left-- === 0 || !(isDue || this.buckets.size >= this.mostBuckets)) return;
      this.buckets.delete(key);
    }
  }

  private headers(bucket: TokenBucket, refill: Refill): Record<string, string> {
    return {
      'x-ratelimit-limit': String(refill.burst),
      'x-ratelimit-remaining': String(bucket.remaining),
      'x-ratelimit-reset': String(Math.ceil((this.clock.now() + bucket.untilFull(refill)) / SECOND_MS)),
    };
  }
}

interface Kept {
  readonly bucket: TokenBucket;
  /** As it was at the last use. */
  readonly refill: Refill;
}

function words({ requestsPerMinute, burst }: RateLimitValue): string {
  return `${requestsPerMinute} requests a minute, ${burst} at once,`;
}
