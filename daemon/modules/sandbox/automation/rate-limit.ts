import { type Clock, MINUTE_MS, SECOND_MS } from '../../../../src/kit/time.ts';

/** Keys that are remembered before the quiet ones are dropped. */
const MOST_KEYS = 256;

/** Keeps calls to so many in any minute, by key. Forgotten at a restart. */
export class RateLimit {
  private readonly calls = new Map<number, number[]>();

  constructor(private readonly clock: Clock) {}

  /** Takes a call: 0 when it may pass, else the seconds until one may. */
  take(key: number, perMinute: number): number {
    const now = this.clock.now();
    const recent = (this.calls.get(key) ?? []).filter((at) => at > now - MINUTE_MS && at <= now);
    if (this.calls.size > MOST_KEYS) this.tidy(now);
    this.calls.set(key, recent);
    const blocking = recent.at(-perMinute);
    if (recent.length >= perMinute && blocking !== undefined)
      return Math.max(Math.ceil((blocking + MINUTE_MS - now) / SECOND_MS), 1);
    recent.push(now);
    return 0;
  }

  /** Drops what no call in the last minute keeps. */
  private tidy(now: number): void {
    for (const [key, calls] of this.calls) if ((calls.at(-1) ?? 0) <= now - MINUTE_MS) this.calls.delete(key);
  }
}
