import type { Penalties } from './penalties.ts';

/** How many connections there may be. */
export interface Limits {
  readonly total: number;
  readonly perSource: number;
  /** Of those that have not logged in yet. */
  readonly waiting: number;
  readonly waitingPerSource: number;
}

/** Why a connection was not taken. */
export type Refusal = 'blocked' | 'too many' | 'too many from there';

/** A connection that was taken. */
export interface Place {
  readonly source: string;
  /** It has logged in. */
  enter(): void;
  /** It is over. May be called twice. */
  leave(): void;
}

/** Counts connections by source, so that one source cannot take what the others need. */
export class Admission {
  private readonly all = new Counter();
  private readonly waiting = new Counter();

  constructor(
    private readonly limits: Limits,
    private readonly penalties: Penalties,
  ) {}

  /** A place for a connection from a source, or why there is none. */
  admit(source: string): Place | Refusal {
    if (this.penalties.isBlocked(source)) return 'blocked';
    if (this.all.total >= this.limits.total || this.waiting.total >= this.limits.waiting) return 'too many';
    if (
      this.all.of(source) >= this.limits.perSource ||
      this.waiting.of(source) >= this.limits.waitingPerSource
    )
      return 'too many from there';
    this.all.add(source, 1);
    this.waiting.add(source, 1);
    let isWaiting = true;
    let isHere = true;
    const enter = () => {
      if (isWaiting) this.waiting.add(source, -1);
      isWaiting = false;
    };
    const leave = () => {
      enter();
      if (isHere) this.all.add(source, -1);
      isHere = false;
    };
    return { source, enter, leave };
  }
}

class Counter {
  private readonly counts = new Map<string, number>();
  total = 0;

  of(source: string): number {
    return this.counts.get(source) ?? 0;
  }

  add(source: string, change: 1 | -1): void {
    const count = this.of(source) + change;
    this.total += change;
    if (count > 0) this.counts.set(source, count);
    else this.counts.delete(source);
  }
}
