import { and, eq, gte, inArray, lte, ne, sql } from 'drizzle-orm';
import type { Database } from '../../../db/open.ts';
import { add, type Group, type Sums } from './sums.ts';
import { type TotalRow, usagePosition, usageTotals } from './tables.ts';

/** Sums of one group that are to be added. */
export interface Delta {
  readonly group: Group;
  readonly sums: Sums;
}

/** What was spent in a window that begins at a time, and ever. Millionths of a US dollar. */
export interface Spent {
  readonly dayMicros: number;
  readonly monthMicros: number;
  readonly totalMicros: number;
}

/** Most groups of a tenant and day. What comes after is counted under the model `*`, so that made-up names cost nothing. */
const MOST_GROUPS = 5000;

/** Reads and writes the daily sums in the instance's database. */
export class TotalsStore {
  private readonly find;
  private readonly countOf;

  constructor(private readonly db: Database) {
    const { tenant, dayAt, actor, provider, model, surface } = usageTotals;
    this.find = db.sql
      .select()
      .from(usageTotals)
      .where(
        and(
          eq(tenant, sql.placeholder('tenant')),
          eq(dayAt, sql.placeholder('dayAt')),
          eq(actor, sql.placeholder('actor')),
          eq(provider, sql.placeholder('provider')),
          eq(model, sql.placeholder('model')),
          eq(surface, sql.placeholder('surface')),
        ),
      )
      .prepare();
    this.countOf = db.sql
      .select({ groups: sql<number>`count(*)` })
      .from(usageTotals)
      .where(and(eq(tenant, sql.placeholder('tenant')), eq(dayAt, sql.placeholder('dayAt'))))
      .prepare();
  }

  /** How far the sums reach into a log; 0 when it is new. */
  position(logId: string): number {
    return this.db.sql.select().from(usagePosition).where(eq(usagePosition.logId, logId)).get()?.seq ?? 0;
  }

  /** Adds sums and notes how far they reach, in one transaction: no request is counted twice, whenever the process ends. */
  add(deltas: Iterable<Delta>, reach?: { readonly logId: string; readonly seq: number }): void {
    this.db.transaction(() => {
      for (const delta of deltas) this.addOne(delta);
      if (!reach) return;
      this.db.sql.delete(usagePosition).where(ne(usagePosition.logId, reach.logId)).run();
      this.db.sql
        .insert(usagePosition)
        .values(reach)
        .onConflictDoUpdate({ target: usagePosition.logId, set: { seq: reach.seq } })
        .run();
    });
  }

  /** The sums of a tenant on the days between two times, both included. */
  between(tenant: string, from: number, to: number): TotalRow[] {
    return this.db.sql
      .select()
      .from(usageTotals)
      .where(and(eq(usageTotals.tenant, tenant), gte(usageTotals.dayAt, from), lte(usageTotals.dayAt, to)))
      .all();
  }

  /** What a tenant, or some callers of it, have spent. */
  spent(tenant: string, actors: readonly string[] | undefined, dayAt: number, monthAt: number): Spent {
    const since = (at: number) =>
      sql<number>`coalesce(sum(case when ${usageTotals.dayAt} >= ${at} then ${usageTotals.costMicros} end), 0)`;
    const row = this.db.sql
      .select({ dayMicros: since(dayAt), monthMicros: since(monthAt), totalMicros: since(0) })
      .from(usageTotals)
      .where(and(eq(usageTotals.tenant, tenant), actors && inArray(usageTotals.actor, [...actors])))
      .get();
    return row ?? { dayMicros: 0, monthMicros: 0, totalMicros: 0 };
  }

  private addOne({ group, sums }: Delta): void {
    const place = this.placeOf(group);
    const row = this.find.get({ ...place });
    if (row) add(row, sums);
    const values = row ?? { ...place, ...sums };
    this.db.sql.insert(usageTotals).values(values).onConflictDoUpdate({ target: KEY, set: values }).run();
  }

  private placeOf(group: Group): Group {
    if (this.find.get({ ...group })) return group;
    const groups = this.countOf.get({ tenant: group.tenant, dayAt: group.dayAt })?.groups ?? 0;
    return groups < MOST_GROUPS ? group : { ...group, provider: '', model: '*' };
  }
}

const KEY = [
  usageTotals.tenant,
  usageTotals.dayAt,
  usageTotals.actor,
  usageTotals.provider,
  usageTotals.model,
  usageTotals.surface,
];
