import { type Clock, MINUTE_MS } from '../../../../src/kit/time.ts';
import type { Log } from '../../../log/log.ts';

/** A failure that goes on is mentioned once in this time. */
const PAUSE_MS = 10 * MINUTE_MS;

/** Does work that may fail without harm to anything else, and says so now and then. */
export class Complaint {
  private saidAt = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly log: Log,
    private readonly clock: Clock,
    private readonly words: string,
  ) {}

  /** Whether the work was done. */
  attempt(work: () => void): boolean {
    try {
      work();
      return true;
    } catch (error) {
      const now = this.clock.now();
      if (now - this.saidAt >= PAUSE_MS) {
        this.saidAt = now;
        this.log.warn(this.words, { error });
      }
      return false;
    }
  }
}
