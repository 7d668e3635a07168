import type { Clock } from '../../../../src/kit/time.ts';
import { reportOf, spanOf } from './report.ts';
import type { UsageStore } from './store.ts';
import type { Tally } from './tally.ts';

/** Writes down how memory is used, and tells of it. */
export class UsageReports {
  constructor(
    private readonly store: UsageStore,
    private readonly tally: Tally,
    private readonly clock: Clock,
  ) {}

  /** The uses of a span of time, those of a moment ago too. Errors: invalid_argument naming the field. */
  of(tenant: string, wanted: { from?: string; to?: string }) {
    const span = spanOf(wanted, this.clock.now());
    this.write();
    return reportOf(span, this.store.between(tenant, span.from, span.to));
  }

  /** Writes what was counted since the last time. */
  write(): void {
    const taken = this.tally.take();
    if (taken.length > 0) this.store.add(taken);
  }

  /** Forgets what was before. */
  prune(before: number): void {
    this.store.prune(before);
  }
}
