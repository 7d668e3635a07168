import { SECOND_MS } from '../../../../src/kit/time.ts';
import type { App } from '../../../app.ts';

/** Longest time between two looks: a clock that was set, or a machine that slept, is noticed after it. */
const LONGEST_SLEEP_MS = 10 * SECOND_MS;

/** What can expire. */
export interface Expiring {
  /** When the next one expires; undefined when none can. */
  nextDue(): number | undefined;
  /** Settles some of those whose time is over; true when there may be more. */
  expireDue(): boolean;
}

/** Settles reviews when their time is over: one timer for all, armed from the rows. */
export class Expiry {
  private timer: Timer | undefined;
  private armedFor = Number.POSITIVE_INFINITY;
  private stopped = true;

  constructor(
    private readonly app: Pick<App, 'clock' | 'log'>,
    private readonly reviews: Expiring,
  ) {}

  /** Settles at once what has expired while nobody looked. */
  start(): void {
    this.stopped = false;
    while (this.reviews.expireDue());
    this.arm(this.reviews.nextDue());
  }

  stop(): void {
    this.stopped = true;
    this.disarm();
  }

  /** Looks at this time, too. */
  wakeAt(at: number): void {
    if (at < this.armedFor) this.arm(at);
  }

  private arm(at: number | undefined): void {
    this.disarm();
    if (this.stopped || at === undefined) return;
    this.armedFor = at;
    const delay = Math.min(Math.max(at - this.app.clock.now(), 0), LONGEST_SLEEP_MS);
    this.timer = setTimeout(() => this.look(), delay);
  }

  private disarm(): void {
    clearTimeout(this.timer);
    this.armedFor = Number.POSITIVE_INFINITY;
  }

  private look(): void {
    try {
      this.reviews.expireDue();
      this.arm(this.reviews.nextDue());
    } catch (error) {
      this.app.log.error('reviews could not be settled', { error });
      this.arm(this.app.clock.now() + SECOND_MS);
    }
  }
}
