import type { Clock } from '../../../../src/kit/time.ts';
import type { Log } from '../../../log/log.ts';
import { reportOf, spanOf } from './report.ts';
import type { UsageStore } from './store.ts';
import type { Tally } from './tally.ts';

/** Writes down how memory is used, and tells of it. */
export class UsageReports {
  constructor(
    private readonly store: UsageStore,
    private readonly tally: Tally,
    private readonly clock: Clock,
    private readonly log: Log,
  ) {}

  /** The uses of a span of time, those of a moment ago too. Errors: invalid_argument naming the field. */
  of(tenant: string, wanted: { from?: string; to?: string }) {
    const span = spanOf(wanted, this.clock.now());
    this.write();
    return reportOf(span, this.store.between(tenant, span.from, span.to));
  }

  /** Writes what was counted since the last time. What cannot be written is lost, and the log says so. */
  write(): void {
    const taken = this.tally.take();
    if (taken.length === 0) return;
    try {
      this.store.add(taken);
    } catch (error) {
      this.log.error('uses of memory are not written', { error });
    }
  }

  /** Forgets what was before. */
  prune(before: number): void {
    this.store.prune(before);
  }
}
