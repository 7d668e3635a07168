import type { RequestRecord } from '../pipeline/record.ts';
import { count, groupOf, noSums } from './sums.ts';
import type { Delta } from './totals-store.ts';

/** Sums that are not in the database yet. */
export class Pending {
  private deltas = new Map<string, Delta>();

  /** How many groups there are. */
  get size(): number {
    return this.deltas.size;
  }

  /** Counts requests. */
  fold(records: readonly RequestRecord[]): void {
    for (const record of records) count(this.of(record).sums, record);
  }

  /** What was counted since `clear`. */
  values(): Iterable<Delta> {
    return this.deltas.values();
  }

  /** It is in the database. */
  clear(): void {
    this.deltas = new Map();
  }

  private of(record: RequestRecord): Delta {
    const group = groupOf(record);
    const key = Object.values(group).join('\0');
    const known = this.deltas.get(key);
    if (known) return known;
    const delta = { group, sums: noSums() };
    this.deltas.set(key, delta);
    return delta;
  }
}
