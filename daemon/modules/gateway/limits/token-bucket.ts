/** How a bucket is filled. */
export interface Refill {
  /** Most tokens that it holds; at least 1. */
  readonly burst: number;
  /** Tokens a millisecond. */
  readonly perMs: number;
}

/**
 * A token bucket: full at first, one token a request, filled again at a steady rate. In any stretch of time `t` it
 * gives at most `burst + perMs * t` tokens. Time is handed in, in milliseconds; when it steps back, nothing is filled
 * until it goes on from there, and nothing that was there is lost.
 */
export class TokenBucket {
  private tokens: number;

  constructor(
    burst: number,
    private at: number,
  ) {
    this.tokens = burst;
  }

  /** Takes a token if there is one. */
  take(now: number, refill: Refill): boolean {
    this.fill(now, refill);
    if (this.tokens < 1) return false;
    this.tokens -= 1;
    return true;
  }

  /** Whole tokens that are left. */
  get remaining(): number {
    return Math.floor(this.tokens);
  }

  /** Milliseconds until there is a token. */
  untilToken({ perMs }: Refill): number {
    return this.tokens >= 1 ? 0 : (1 - this.tokens) / perMs;
  }

  /** Milliseconds until it is full. */
  untilFull({ burst, perMs }: Refill): number {
    return Math.max(0, (burst - this.tokens) / perMs);
  }

  /** Milliseconds since it was last looked at. */
  idle(now: number): number {
    return now - this.at;
  }

  private fill(now: number, { burst, perMs }: Refill): void {
    const elapsed = Math.max(0, now - this.at);
    this.tokens = Math.min(burst, this.tokens + elapsed * perMs);
    this.at = now;
  }
}
