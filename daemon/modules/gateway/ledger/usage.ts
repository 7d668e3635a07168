import { invalid } from '../../../../src/errors/app-error.ts';
import { type Clock, DAY_MS } from '../../../../src/kit/time.ts';
import type { RequestLedger } from './ledger.ts';
import { add, noSums, type Sums } from './sums.ts';
import type { TotalRow } from './tables.ts';
import type { TotalsStore } from './totals-store.ts';

/** What sums are grouped by. */
export type GroupBy = 'model' | 'key' | 'provider' | 'day' | 'surface';

/** Which sums are asked for. Days as `2026-01-31`, or a time in them. */
export interface UsageQuery {
  readonly groupBy?: GroupBy;
  readonly from?: string;
  readonly to?: string;
  readonly model?: string;
  readonly key?: string;
}

/** Sums of some days. */
export interface UsageReport {
  /** Beginnings of the first and the last day, Unix time in milliseconds. */
  readonly from: number;
  readonly to: number;
  /** Days in their order; otherwise the most expensive first, then the most used. */
  readonly groups: ReadonlyArray<{ readonly group: string; readonly sums: Sums }>;
  readonly total: Sums;
}

const DEFAULT_DAYS = 30;
/** Of one question. */
const MOST_DAYS = 400;
/** Requests that nobody has answered have no provider and no model. */
const NOBODY = '(none)';

/** Sums up what was used, from the daily sums. */
export class UsageReports {
  constructor(
    private readonly ledger: RequestLedger,
    private readonly totals: TotalsStore,
    private readonly clock: Clock,
  ) {}

  /** The sums of a tenant, with everything that has ended before. Errors: invalid_argument naming the day. */
  async report(tenant: string, query: UsageQuery): Promise<UsageReport> {
    const today = dayOf(this.clock.now());
    const to = readDay('to', query.to) ?? today;
    const from = readDay('from', query.from) ?? to - (DEFAULT_DAYS - 1) * DAY_MS;
    if (from > to) throw invalid({ field: 'from', description: 'must not be after to' });
    if (to - from >= MOST_DAYS * DAY_MS)
      throw invalid({ field: 'from', description: `must not be ${MOST_DAYS} days or more before to` });
    await this.ledger.settled();
    const groupBy = query.groupBy ?? 'model';
    const groups = new Map<string, Sums>();
    for (let day = from; day <= to; day += DAY_MS) {
      const rows = this.totals.between(tenant, day, day).filter((row) => isAsked(row, query));
      for (const row of rows) addTo(groups, nameOf(row, groupBy), row);
      if (rows.length > 0) await new Promise((resolve) => setImmediate(resolve));
    }
    return { from, to, total: sum(groups.values()), groups: sorted(groups, groupBy) };
  }
}

function isAsked(row: TotalRow, { model, key }: UsageQuery): boolean {
  return (key === undefined || row.actor === key) && (model === undefined || modelOf(row) === model);
}

function addTo(groups: Map<string, Sums>, group: string, row: TotalRow): void {
  const sums = groups.get(group) ?? noSums();
  const { tenant, dayAt, actor, provider, model, surface, ...counted } = row;
  add(sums, counted);
  groups.set(group, sums);
}

function sorted(groups: ReadonlyMap<string, Sums>, groupBy: GroupBy): UsageReport['groups'] {
  const list = [...groups].map(([group, sums]) => ({ group, sums }));
  return groupBy === 'day'
    ? list
    : list.sort((a, b) => b.sums.costMicros - a.sums.costMicros || b.sums.requests - a.sums.requests);
}

function sum(all: Iterable<Sums>): Sums {
  const total = noSums();
  for (const sums of all) add(total, sums);
  return total;
}

function nameOf(row: TotalRow, groupBy: GroupBy): string {
  switch (groupBy) {
    case 'model':
      return modelOf(row) || NOBODY;
    case 'key':
      return row.actor;
    case 'provider':
      return row.provider || NOBODY;
    case 'surface':
      return row.surface;
    default:
      return dayText(row.dayAt);
  }
}

function modelOf({ provider, model }: TotalRow): string {
  return provider === '' ? model : `${provider}/${model}`;
}

/** The day of a time, as `2026-01-31`. */
export function dayText(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}

function dayOf(at: number): number {
  return at - (at % DAY_MS);
}

function readDay(field: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const at = /^\d{4}-\d{2}-\d{2}(T.*)?$/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(at)) throw invalid({ field, description: 'must be a day such as 2026-01-31, or a time' });
  return dayOf(at);
}
