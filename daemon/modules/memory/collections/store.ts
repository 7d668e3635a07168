import { and, asc, count, eq, sql } from 'drizzle-orm';
import type { Database } from '../../../db/open.ts';
import { type CollectionRow, memoryCollections } from '../tables.ts';

/** Reads and writes collections. Every answer is of the tenant that is given. */
export class CollectionStore {
  constructor(private readonly db: Database) {}

  find(tenant: string, name: string): CollectionRow | undefined {
    return this.db.sql
      .select()
      .from(memoryCollections)
      .where(and(mine(tenant), eq(memoryCollections.name, name)))
      .get();
  }

  list(tenant: string): CollectionRow[] {
    return this.db.sql
      .select()
      .from(memoryCollections)
      .where(mine(tenant))
      .orderBy(asc(memoryCollections.name))
      .all();
  }

  count(tenant: string): number {
    return this.db.sql.select({ n: count() }).from(memoryCollections).where(mine(tenant)).get()?.n ?? 0;
  }

  /** Makes a collection with its full-text index: without the text, which stands in its chunks. */
  insert(row: Omit<CollectionRow, 'seq'>): CollectionRow {
    const made = this.db.sql.insert(memoryCollections).values(row).returning().get();
    this.db.raw.run(
      `CREATE VIRTUAL TABLE memory_words_${made.seq} USING fts5(
         text, content = '', contentless_delete = 1, tokenize = 'porter unicode61 remove_diacritics 2')`,
    );
    return made;
  }

  /** Takes a collection away from its tenant; what it holds is removed piece by piece (sweep.ts). */
  bury(tenant: string, name: string): void {
    this.db.sql
      .update(memoryCollections)
      .set({ state: 'dead' })
      .where(and(mine(tenant), eq(memoryCollections.name, name)))
      .run();
  }

  /** Counts documents and chunks that came, or with a minus went. */
  grow(tenant: string, seq: number, documents: number, chunks: number, now: number): void {
    const { documentCount, chunkCount } = memoryCollections;
    this.db.sql
      .update(memoryCollections)
      .set({
        documentCount: sql`${documentCount} + ${documents}`,
        chunkCount: sql`${chunkCount} + ${chunks}`,
        updatedAt: now,
      })
      .where(and(mine(tenant), eq(memoryCollections.seq, seq)))
      .run();
  }
}

/** The state is no parameter: the index by name is of live collections, and SQLite sees that only in the text. */
function mine(tenant: string) {
  return and(eq(memoryCollections.tenant, tenant), sql`${memoryCollections.state} = 'live'`);
}
