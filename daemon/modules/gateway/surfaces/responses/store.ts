import { and, asc, desc, eq, gt, inArray, isNotNull, lt, type SQL } from 'drizzle-orm';
import type { Database } from '../../../../db/open.ts';
import { type ResponseRow, responseItems, responses } from './tables.ts';
import type { Item, ResponseObject, Status } from './wire.ts';

/** All that is kept of one response. Without `input` it is one that is there already: its input stays, and it is left out when it is gone. */
export interface Kept {
  readonly row: Omit<ResponseRow, 'body'>;
  readonly response: ResponseObject;
  readonly input?: readonly Item[];
  /** The responses that it goes on from: they are still of use. */
  readonly chain?: readonly string[];
}

/** One response of a chain. */
export interface Link {
  readonly id: string;
  readonly previousId: string | null;
  readonly status: Status;
  readonly provider: string;
  /** Characters of what went in and came out. */
  readonly size: number;
}

/** Which part of a list is wanted. */
export interface Page {
  readonly limit: number;
  readonly order: 'asc' | 'desc';
  readonly after?: string;
  readonly before?: string;
}

/** A part of a list, in its order. */
export interface Paged<T> {
  readonly rows: T[];
  readonly hasMore: boolean;
}

/** Reads and writes responses. Every answer is of the tenant that is given. */
export class ResponseStore {
  constructor(private readonly db: Database) {}

  /** Writes several responses at once, each with its items. */
  putAll(all: readonly Kept[]): void {
    this.db.transaction(() => {
      for (const kept of all) this.put(kept);
    });
  }

  /** Changes what is there; false when it is not. */
  change(tenant: string, id: string, change: Partial<Pick<ResponseRow, 'status' | 'run'>>): boolean {
    const found = this.db.sql
      .update(responses)
      .set(change)
      .where(mine(tenant, id))
      .returning({ id: responses.id })
      .all();
    return found.length > 0;
  }

  /** A response with its output. */
  find(
    tenant: string,
    id: string,
  ): { row: Omit<ResponseRow, 'events' | 'run'>; response: ResponseObject } | undefined {
    const { events: _, run: __, ...columns } = allOf;
    const row = this.db.sql.select(columns).from(responses).where(mine(tenant, id)).get();
    return row && { row, response: this.withOutput(row) };
  }

  /** The compressed events of one that ran in the background; undefined when it has none. */
  events(tenant: string, id: string): Buffer | undefined {
    const row = this.db.sql
      .select({ events: responses.events })
      .from(responses)
      .where(mine(tenant, id))
      .get();
    return row?.events ?? undefined;
  }

  /** Forgets a response; false when there is none. */
  remove(tenant: string, id: string): boolean {
    return (
      this.db.sql.delete(responses).where(mine(tenant, id)).returning({ id: responses.id }).all().length > 0
    );
  }

  /** Responses with their output, newest or oldest first. With `before` alone, those nearest to it. */
  list(tenant: string, statuses: readonly Status[] | undefined, page: Page): Paged<ResponseObject> {
    const { id, status } = responses;
    const wanted = [eq(responses.tenant, tenant), ...(statuses ? [inArray(status, [...statuses])] : [])];
    const { events: _, run: __, ...columns } = allOf;
    const { where, isBackwards, ascending } = cursorOf(id, page);
    const found = this.db.sql
      .select(columns)
      .from(responses)
      .where(and(...wanted, ...where))
      .orderBy(ascending ? asc(id) : desc(id))
      .limit(page.limit + 1)
      .all();
    const rows = found.slice(0, page.limit).map((row) => this.withOutput(row));
    return { rows: isBackwards ? rows.reverse() : rows, hasMore: found.length > page.limit };
  }

  /** The input of a response. `after` is a place in it. */
  input(
    tenant: string,
    id: string,
    { limit, order, after }: Omit<Page, 'after'> & { after?: number },
  ): Paged<Item> {
    const { position } = responseItems;
    const from =
      after === undefined ? undefined : order === 'asc' ? gt(position, after) : lt(position, after);
    const found = this.db.sql
      .select({ body: responseItems.body })
      .from(responseItems)
      .where(and(itemsOf(tenant, id, 'input'), from))
      .orderBy(order === 'asc' ? asc(position) : desc(position))
      .limit(limit + 1)
      .all();
    return { rows: found.slice(0, limit).map(({ body }) => body), hasMore: found.length > limit };
  }

  /** Where an item stands in the input of a response; undefined when it does not. */
  placeOf(tenant: string, id: string, itemId: string): number | undefined {
    const where = and(itemsOf(tenant, id, 'input'), eq(responseItems.id, itemId));
    return this.db.sql.select({ position: responseItems.position }).from(responseItems).where(where).get()
      ?.position;
  }

  /** Items by their ids, in whatever response they are, with who has made them. */
  items(tenant: string, ids: readonly string[]): Array<{ item: Item; provider: string }> {
    const same = and(eq(responses.tenant, responseItems.tenant), eq(responses.id, responseItems.responseId));
    return this.db.sql
      .select({ item: responseItems.body, provider: responses.provider })
      .from(responseItems)
      .innerJoin(responses, same)
      .where(and(eq(responseItems.tenant, tenant), inArray(responseItems.id, [...ids])))
      .all();
  }

  /** A response and those that it goes on from, the oldest first, `most` at most. */
  chain(tenant: string, id: string, most: number): Link[] {
    return this.db.raw
      .query<Link, [string, string, number]>(
        `WITH RECURSIVE chain (id, previousId, status, provider, depth) AS (
           SELECT id, previous_id, status, provider, 1 FROM responses WHERE tenant = ?1 AND id = ?2
           UNION ALL
           SELECT r.id, r.previous_id, r.status, r.provider, depth + 1 FROM responses r JOIN chain c ON r.id = c.previousId
           WHERE r.tenant = ?1 AND depth < ?3)
         SELECT id, previousId, status, provider,
           (SELECT coalesce(sum(length(body)), 0) FROM response_items i WHERE i.tenant = ?1 AND i.response_id = chain.id) AS size
         FROM chain ORDER BY depth DESC`,
      )
      .all(tenant, id, most);
  }

  /** What went into a response and came out of it, in order. */
  itemsOf(tenant: string, id: string): Item[] {
    return this.db.sql
      .select({ body: responseItems.body })
      .from(responseItems)
      .where(and(eq(responseItems.tenant, tenant), eq(responseItems.responseId, id)))
      .orderBy(asc(responseItems.side), asc(responseItems.position))
      .all()
      .map(({ body }) => body);
  }

  /** What was cut off by the end of the process, of every tenant. */
  unfinished(): Array<Pick<ResponseRow, 'tenant' | 'id' | 'status' | 'run'>> {
    const { tenant, id, status, run } = responses;
    return this.db.sql
      .select({ tenant, id, status, run })
      .from(responses)
      .where(and(isNotNull(run), inArray(status, ['queued', 'in_progress'])))
      .orderBy(asc(id))
      .all();
  }

  /** Forgets responses of every tenant that were not used since `before`, `most` at once. Answers how many. */
  prune(before: number, most: number): number {
    return this.db.raw
      .query(
        `DELETE FROM responses WHERE (tenant, id) IN
           (SELECT tenant, id FROM responses WHERE used_at < ? AND run IS NULL ORDER BY used_at LIMIT ?)`,
      )
      .run(before, most).changes;
  }

  private put({ row, response: { output, ...body }, input, chain = [] }: Kept): void {
    const { tenant, id, usedAt } = row;
    for (const earlier of chain)
      this.db.sql.update(responses).set({ usedAt }).where(mine(tenant, earlier)).run();
    if (input) {
      this.db.sql
        .insert(responses)
        .values({ ...row, body })
        .run();
      this.addItems(tenant, id, 'input', input);
    } else {
      const { createdAt: _, ...changed } = row;
      const found = this.db.sql
        .update(responses)
        .set({ ...changed, body })
        .where(mine(tenant, id))
        .returning({ id: responses.id });
      if (found.all().length === 0) return;
    }
    this.addItems(tenant, id, 'output', output);
  }

  private addItems(
    tenant: string,
    responseId: string,
    side: 'input' | 'output',
    items: readonly Item[],
  ): void {
    for (const [position, item] of items.entries())
      this.db.sql
        .insert(responseItems)
        .values({ tenant, responseId, side, position, id: item.id ?? '', body: item })
        .run();
  }

  private withOutput({ tenant, id, body }: Pick<ResponseRow, 'tenant' | 'id' | 'body'>): ResponseObject {
    const output = this.db.sql
      .select({ item: responseItems.body })
      .from(responseItems)
      .where(itemsOf(tenant, id, 'output'))
      .orderBy(asc(responseItems.position))
      .all();
    return { ...body, output: output.map(({ item }) => item) } as ResponseObject;
  }
}

const allOf = {
  tenant: responses.tenant,
  id: responses.id,
  status: responses.status,
  background: responses.background,
  previousId: responses.previousId,
  provider: responses.provider,
  body: responses.body,
  run: responses.run,
  events: responses.events,
  createdAt: responses.createdAt,
  usedAt: responses.usedAt,
};

function mine(tenant: string, id: string): SQL | undefined {
  return and(eq(responses.tenant, tenant), eq(responses.id, id));
}

function itemsOf(tenant: string, id: string, side: 'input' | 'output'): SQL | undefined {
  const { tenant: owner, responseId, side: kind } = responseItems;
  return and(eq(owner, tenant), eq(responseId, id), eq(kind, side));
}

/** Ids sort by time. A list that is read towards its beginning is read backwards and turned around. */
function cursorOf(id: typeof responses.id, { order, after, before }: Page) {
  const later = order === 'asc' ? gt : lt;
  const earlier = order === 'asc' ? lt : gt;
  const isBackwards = before !== undefined && after === undefined;
  const where = [
    ...(after === undefined ? [] : [later(id, after)]),
    ...(before === undefined ? [] : [earlier(id, before)]),
  ];
  return { where, isBackwards, ascending: (order === 'asc') !== isBackwards };
}
