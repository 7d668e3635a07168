import { fail } from '../../../src/errors/app-error.ts';
import { type Clock, MINUTE_MS, SECOND_MS } from '../../../src/kit/time.ts';

/** How attempts are slowed. */
export interface PenaltyRule {
  /** Attempts without a penalty. */
  readonly free: number;
  /** Longest wait between two attempts, in milliseconds; the first one is a second and each next one doubles it. */
  readonly longestMs: number;
}

interface Attempts {
  count: number;
  lastAt: number;
  barredUntil: number;
}

/** Attempts are forgotten when none was made for this long. */
const QUIET_MS = 15 * MINUTE_MS;

/** Keys that are remembered at most; the one that was quiet longest is forgotten first. */
const MOST_KEYS = 10_000;

/** Slows down whoever tries often: guessing passwords, asking for mail. Kept in memory, bounded. */
export class Penalties {
  private readonly records = new Map<string, Attempts>();

  constructor(
    private readonly clock: Clock,
    private readonly rule: PenaltyRule,
  ) {}

  /**
   * Counts an attempt, before its outcome is known, so that attempts side by side are counted too.
   * Errors: rate_limited with the time to wait.
   */
  charge(key: string): void {
    const now = this.clock.now();
    const record = this.recordOf(key, now);
    const waitMs = record.barredUntil - now;
    if (waitMs > 0) {
      const retryAfterSeconds = Math.ceil(waitMs / SECOND_MS);
      throw fail('rate_limited', {
        message: `Too many attempts; wait ${retryAfterSeconds} s.`,
        retryAfterSeconds,
      });
    }
    record.count++;
    record.lastAt = now;
    const over = record.count - this.rule.free;
    if (over > 0) record.barredUntil = now + Math.min(SECOND_MS * 2 ** (over - 1), this.rule.longestMs);
  }

  /** Takes back one attempt: it was a good one. */
  refund(key: string): void {
    const record = this.records.get(key);
    if (!record) return;
    record.count--;
    record.barredUntil = 0;
  }

  /** Forgets all attempts of a key. */
  forgive(key: string): void {
    this.records.delete(key);
  }

  /** The record of a key, moved to the young end; a fresh one after a quiet time. */
  private recordOf(key: string, now: number): Attempts {
    const known = this.records.get(key);
    const isStale = known && now - Math.max(known.lastAt, known.barredUntil) > QUIET_MS;
    const record = known && !isStale ? known : { count: 0, lastAt: now, barredUntil: 0 };
    this.records.delete(key);
    this.records.set(key, record);
    const [oldest] = this.records.keys();
    if (this.records.size > MOST_KEYS && oldest !== undefined) this.records.delete(oldest);
    return record;
  }
}
