import { and, eq, getTableColumns, gte, inArray, lte, ne, sql } from 'drizzle-orm';
import type { Database } from '../../../db/open.ts';
import { placeholders } from '../../../db/placeholders.ts';
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
const MOST_GROUPS = 2000;
const OTHERS = '*';
/** Tenants and days whose groups are counted in memory. */
const REMEMBERED = 1000;

/** Reads and writes the daily sums in the instance's database. */
export class TotalsStore {
  private readonly find;
  private readonly countOf;
  private readonly put;
  /** How many groups a tenant and day have, of those that were written lately. */
  private readonly groups = new Map<string, number>();

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
    this.put = db.sql
      .insert(usageTotals)
      .values(placeholders(usageTotals))
      .onConflictDoUpdate({ target: [tenant, dayAt, actor, provider, model, surface], set: WRITTEN })
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
    const row = this.find.get({ ...group });
    if (row) {
      add(row, sums);
      this.put.run(row);
    } else this.addNew(group, sums);
  }

  /** A group that is not there yet. */
  private addNew(group: Group, sums: Sums): void {
    const key = `${group.tenant} ${group.dayAt}`;
    const groups =
      this.groups.get(key) ?? this.countOf.get({ tenant: group.tenant, dayAt: group.dayAt })?.groups ?? 0;
    if (groups >= MOST_GROUPS && group.model !== OTHERS) {
      this.addOne({ group: { ...group, provider: '', model: OTHERS }, sums });
      return;
    }
    this.put.run({ ...group, ...sums });
    if (this.groups.size >= REMEMBERED) this.groups.clear();
    this.groups.set(key, groups + 1);
  }
}

/** Every column with the value that would be written. */
const WRITTEN = Object.fromEntries(
  Object.entries(getTableColumns(usageTotals)).map(([name, column]) => [
    name,
    sql.raw(`excluded.${column.name}`),
  ]),
);
