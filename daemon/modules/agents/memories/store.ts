import { and, count, desc, eq, inArray, or, type SQL, sql } from 'drizzle-orm';
import type { Database } from '../../../db/open.ts';
import { indexed } from '../../memory/index.ts';
import type { MemoryType } from './face.ts';
import type { Party, Shelf } from './shelves.ts';
import { agentMemories, type MemoryRow, memoryBooks, memoryCalls, memoryShelves } from './tables.ts';

/** Which memories are meant. */
export interface MemoryFilter {
  readonly type?: MemoryType;
  readonly scope?: MemoryRow['scope'];
  readonly activeOnly?: boolean;
  /** Also those that other agents have kept for the user and for the tenant. */
  readonly includeShared?: boolean;
  readonly limit: number;
  readonly offset: number;
}

/** What may become another of a memory. */
export type MemoryChange = Partial<
  Pick<MemoryRow, 'content' | 'digest' | 'factKey' | 'confidence' | 'active' | 'supersededBy' | 'updatedAt'>
>;

/** Reads and writes memories with their words. Every answer is of the tenant that is given. */
export class MemoryStore {
  constructor(private readonly db: Database) {}

  /** A memory that this user may see: another user's own ones are as if they were not there. */
  find(tenant: string, userId: string, id: string): MemoryRow | undefined {
    return this.one(and(mine(tenant), eq(agentMemories.id, id), visibleTo(userId)));
  }

  /** A page of an agent's memories, newest first, and how many there are of that kind. */
  list(
    tenant: string,
    { agentId, userId }: Party,
    { type, scope, activeOnly, includeShared, limit, offset }: MemoryFilter,
  ): { rows: MemoryRow[]; total: number } {
    const ofAgent = eq(agentMemories.agentId, agentId);
    const where = and(
      mine(tenant),
      includeShared ? or(ofAgent, inArray(agentMemories.scope, ['user', 'global'])) : ofAgent,
      visibleTo(userId),
      type && eq(agentMemories.type, type),
      scope && eq(agentMemories.scope, scope),
      activeOnly ? ACTIVE : undefined,
    );
    const rows = this.db.sql
      .select()
      .from(agentMemories)
      .where(where)
      .orderBy(desc(agentMemories.seq))
      .limit(limit)
      .offset(offset)
      .all();
    const total = this.db.sql.select({ n: count() }).from(agentMemories).where(where).get()?.n ?? 0;
    return { rows, total };
  }

  /** The valid version of a fact. */
  byKey(tenant: string, shelf: number, factKey: string): MemoryRow | undefined {
    const hasKey = and(eq(agentMemories.factKey, factKey), sql`${agentMemories.factKey} <> ''`);
    return this.one(and(mine(tenant), eq(agentMemories.shelf, shelf), hasKey, ACTIVE));
  }

  /** The active memory with the same text. */
  byText(tenant: string, shelf: number, digest: string): MemoryRow | undefined {
    return this.one(
      and(mine(tenant), eq(agentMemories.shelf, shelf), eq(agentMemories.digest, digest), ACTIVE),
    );
  }

  bySeq(tenant: string, seq: number): MemoryRow | undefined {
    return this.one(and(mine(tenant), eq(agentMemories.seq, seq)));
  }

  /** The keys of the facts that changed last. */
  factKeys(tenant: string, shelf: number, limit: number): string[] {
    return this.db.sql
      .select({ key: agentMemories.factKey })
      .from(agentMemories)
      .where(and(mine(tenant), eq(agentMemories.shelf, shelf), ACTIVE, sql`${agentMemories.factKey} <> ''`))
      .orderBy(desc(agentMemories.updatedAt))
      .limit(limit)
      .all()
      .map(({ key }) => key);
  }

  /** The number of a shelf, which is made when it is not there. Part of a transaction. */
  shelf(tenant: string, { scope, owner }: Shelf): number {
    const { seq } = this.db.sql
      .insert(memoryShelves)
      .values({ tenant, scope, owner })
      .onConflictDoUpdate({
        target: [memoryShelves.tenant, memoryShelves.scope, memoryShelves.owner],
        set: { scope },
      })
      .returning({ seq: memoryShelves.seq })
      .get();
    return seq;
  }

  /** The number of a shelf, when it is there. */
  findShelf(tenant: string, { scope, owner }: Shelf): number | undefined {
    const { tenant: whose, scope: of, owner: by, seq } = memoryShelves;
    const where = and(eq(whose, tenant), eq(of, scope), eq(by, owner));
    return this.db.sql.select({ seq }).from(memoryShelves).where(where).get()?.seq;
  }

  /** The number of a tenant's book, which is made with its index of words when it is not there. Part of a transaction. */
  book(tenant: string): { seq: number; count: number } {
    const there = this.findBook(tenant);
    if (there) return there;
    const made = this.db.sql.insert(memoryBooks).values({ tenant, count: 0 }).returning().get();
    this.db.raw.run(
      `CREATE VIRTUAL TABLE ${wordsOf(made.seq)} USING fts5(
         shelf, text, content = '', contentless_delete = 1, tokenize = 'porter unicode61 remove_diacritics 2')`,
    );
    return made;
  }

  findBook(tenant: string): { seq: number; count: number } | undefined {
    return this.db.sql.select().from(memoryBooks).where(eq(memoryBooks.tenant, tenant)).get();
  }

  /** Writes a memory and its words. Part of a transaction. */
  insert(tenant: string, row: Omit<MemoryRow, 'seq' | 'tenant' | 'vectorModel'>): MemoryRow {
    const book = this.book(tenant);
    const made = this.db.sql
      .insert(agentMemories)
      .values({ ...row, tenant, vectorModel: '' })
      .returning()
      .get();
    this.addWords(book.seq, made);
    this.grow(tenant, 1);
    return made;
  }

  /** Changes a memory and its words. Part of a transaction. */
  change(tenant: string, row: MemoryRow, change: MemoryChange): MemoryRow {
    const book = this.book(tenant).seq;
    const where = and(mine(tenant), eq(agentMemories.seq, row.seq));
    const now = this.db.sql.update(agentMemories).set(change).where(where).returning().get();
    if (!now) return row;
    const isIndexed = now.active && now.content === row.content && now.factKey === row.factKey;
    if (row.active && !isIndexed) this.dropWords(book, row.seq);
    if (now.active && !(isIndexed && row.active)) this.addWords(book, now);
    return now;
  }

  /** Removes a memory with its words. Part of a transaction. */
  remove(tenant: string, { seq, active }: MemoryRow): void {
    if (active) this.dropWords(this.book(tenant).seq, seq);
    this.db.sql
      .delete(agentMemories)
      .where(and(mine(tenant), eq(agentMemories.seq, seq)))
      .run();
    this.grow(tenant, -1);
  }

  /** Of those that are no longer valid, the one that has been so for longest. */
  oldestRetired(tenant: string): MemoryRow | undefined {
    return this.db.sql
      .select()
      .from(agentMemories)
      .where(and(mine(tenant), sql`${agentMemories.active} = 0`))
      .orderBy(agentMemories.updatedAt)
      .limit(1)
      .get();
  }

  /** The memories of a shelf, at most `limit`. */
  ofShelf(tenant: string, shelf: number, limit: number): MemoryRow[] {
    return this.db.sql
      .select()
      .from(agentMemories)
      .where(and(mine(tenant), eq(agentMemories.shelf, shelf)))
      .limit(limit)
      .all();
  }

  /** The shelves of single agents, of every tenant. */
  agentShelves(): Array<{ seq: number; tenant: string; owner: string }> {
    return this.db.sql.select().from(memoryShelves).where(eq(memoryShelves.scope, 'agent')).all();
  }

  /** Removes a shelf that nothing stands on any more. Part of a transaction. */
  dropShelf(tenant: string, shelf: number): void {
    const empty = and(eq(memoryShelves.tenant, tenant), eq(memoryShelves.seq, shelf));
    this.db.sql.delete(memoryShelves).where(empty).run();
  }

  /** What a call of a tool has stored, when it has. */
  storedBy(tenant: string, callId: string): MemoryRow | undefined {
    const call = this.db.sql
      .select()
      .from(memoryCalls)
      .where(and(eq(memoryCalls.tenant, tenant), eq(memoryCalls.callId, callId)))
      .get();
    return call && this.one(and(mine(tenant), eq(agentMemories.id, call.memory)));
  }

  /** Notes what a call of a tool has stored. Part of a transaction. */
  noteCall(tenant: string, callId: string, memory: string, now: number): void {
    this.db.sql
      .insert(memoryCalls)
      .values({ tenant, callId, memory, createdAt: now })
      .onConflictDoNothing()
      .run();
  }

  /** Forgets old calls of tools, of every tenant. */
  pruneCalls(before: number): void {
    this.db.sql.delete(memoryCalls).where(sql`${memoryCalls.createdAt} < ${before}`).run();
  }

  /** Counts that memories were recalled. */
  accessed(all: ReadonlyMap<number, number>, now: number): void {
    const update = this.db.raw.query<null, [number, number, number]>(
      'UPDATE agent_memories SET access_count = min(access_count + ?, 2147483647), last_accessed_at = ? WHERE seq = ?',
    );
    this.db.transaction(() => {
      for (const [seq, times] of all) update.run(times, now, seq);
    });
  }

  private one(where: SQL | undefined): MemoryRow | undefined {
    return this.db.sql.select().from(agentMemories).where(where).get();
  }

  private grow(tenant: string, by: number): void {
    this.db.sql
      .update(memoryBooks)
      .set({ count: sql`${memoryBooks.count} + ${by}` })
      .where(eq(memoryBooks.tenant, tenant))
      .run();
  }

  private addWords(book: number, { seq, shelf, content, factKey }: MemoryRow): void {
    this.db.raw
      .query<null, [number, string, string]>(
        `INSERT INTO ${wordsOf(book)} (rowid, shelf, text) VALUES (?, ?, ?)`,
      )
      .run(seq, shelfWord(shelf), indexed(`${content}\n${factKey}`));
  }

  private dropWords(book: number, seq: number): void {
    this.db.raw.query<null, [number]>(`DELETE FROM ${wordsOf(book)} WHERE rowid = ?`).run(seq);
  }
}

/** The full-text table of a book: active memories only. */
export function wordsOf(book: number): string {
  return `agent_memory_words_${book}`;
}

/** The word by which the full-text table knows a shelf. */
export function shelfWord(shelf: number): string {
  return `s${shelf}`;
}

/** No parameter: the indexes are of active memories, and SQLite sees that only in the text. */
const ACTIVE = sql`${agentMemories.active} = 1`;

function mine(tenant: string) {
  return eq(agentMemories.tenant, tenant);
}

function visibleTo(userId: string) {
  return or(sql`${agentMemories.scope} <> 'user'`, eq(agentMemories.userId, userId));
}
