import { and, eq, sql } from 'drizzle-orm';
import type { Database } from '../../../db/open.ts';
import type { CollectionStore } from '../collections/store.ts';
import { bytesOf } from '../recall/vector-bytes.ts';
import { indexed } from '../recall/words.ts';
import { type DocumentRow, memoryDocuments, memoryLabels } from '../tables.ts';

/** A chunk that is to be written. */
export interface NewChunk {
  readonly position: number;
  readonly text: string;
  readonly vector?: Float32Array;
}

/** Writes documents: first staged, where nobody sees them, then live, all at once. */
export class DocumentStore {
  constructor(
    private readonly db: Database,
    private readonly collections: CollectionStore,
  ) {}

  private find(tenant: string, collection: number, id: string): DocumentRow | undefined {
    return this.db.sql
      .select()
      .from(memoryDocuments)
      .where(
        and(
          eq(memoryDocuments.tenant, tenant),
          eq(memoryDocuments.collection, collection),
          eq(memoryDocuments.id, id),
          sql`${memoryDocuments.state} = 'live'`,
        ),
      )
      .get();
  }

  /** The digests of those documents that are there, by id. */
  digests(tenant: string, collection: number, ids: readonly string[]): Map<string, string> {
    const rows = this.db.raw
      .query<{ id: string; digest: string }, [string, number, string]>(
        `SELECT id, digest FROM memory_documents WHERE tenant = ? AND collection = ? AND state = 'live'
         AND id IN (SELECT value FROM json_each(?))`,
      )
      .all(tenant, collection, JSON.stringify(ids));
    return new Map(rows.map(({ id, digest }) => [id, digest]));
  }

  /** Writes a document that is not seen yet; answers its `seq`. */
  stage(
    tenant: string,
    collection: number,
    row: Omit<DocumentRow, 'seq' | 'tenant' | 'collection' | 'state'>,
  ): number {
    const values = { ...row, tenant, collection, state: 'staged' as const };
    const { seq } = this.db.sql
      .insert(memoryDocuments)
      .values(values)
      .returning({ seq: memoryDocuments.seq })
      .get();
    const labels = Object.entries(row.metadata).map(([name, value]) => ({
      collection,
      name,
      value,
      document: seq,
    }));
    if (labels.length > 0) this.db.sql.insert(memoryLabels).values(labels).run();
    return seq;
  }

  /** Writes chunks of a staged document, with their words. */
  addChunks(collection: number, document: number, chunks: readonly NewChunk[]): void {
    const insert = this.db.raw.query<{ seq: number }, [number, number, number, string, Uint8Array | null]>(
      'INSERT INTO memory_chunks (collection, document, position, text, vector) VALUES (?, ?, ?, ?, ?) RETURNING seq',
    );
    const words = this.db.raw.query<null, [number, string]>(
      `INSERT INTO memory_words_${collection} (rowid, text) VALUES (?, ?)`,
    );
    for (const { position, text, vector } of chunks) {
      const seq = insert.get(collection, document, position, text, vector ? bytesOf(vector) : null)?.seq ?? 0;
      words.run(seq, indexed(text));
    }
  }

  /** Shows staged documents, each in place of the one of its id. Part of a transaction. */
  publish(tenant: string, collection: number, staged: readonly number[], now: number): void {
    const seqs = JSON.stringify(staged);
    const replaced = this.db.raw
      .query<{ chunk_count: number }, [number, string, string]>(
        `UPDATE memory_documents SET state = 'dead' WHERE collection = ? AND state = 'live' AND tenant = ?
         AND id IN (SELECT id FROM memory_documents WHERE seq IN (SELECT value FROM json_each(?)))
         RETURNING chunk_count`,
      )
      .all(collection, tenant, seqs);
    const shown = this.db.raw
      .query<{ chunk_count: number }, [string, string]>(
        `UPDATE memory_documents SET state = 'live' WHERE tenant = ? AND seq IN (SELECT value FROM json_each(?))
         RETURNING chunk_count`,
      )
      .all(tenant, seqs);
    const chunks = chunksIn(shown) - chunksIn(replaced);
    this.collections.grow(tenant, collection, shown.length - replaced.length, chunks, now);
  }

  /** Takes a document away; false when there is none. Part of a transaction. */
  bury(tenant: string, collection: number, id: string, now: number): boolean {
    const row = this.find(tenant, collection, id);
    if (!row) return false;
    this.setState(row.seq, 'dead');
    this.collections.grow(tenant, collection, -1, -row.chunkCount, now);
    return true;
  }

  /** Gives up documents that were staged. */
  discard(documents: readonly number[]): void {
    this.db.transaction(() => {
      for (const seq of documents) this.setState(seq, 'dead');
    });
  }

  private setState(seq: number, state: DocumentRow['state']): void {
    this.db.sql.update(memoryDocuments).set({ state }).where(eq(memoryDocuments.seq, seq)).run();
  }
}

/** What was found, as callers see it. */
export interface Hit {
  readonly seq: number;
  readonly documentId: string;
  readonly position: number;
  readonly text: string;
  readonly metadata: Readonly<Record<string, string>>;
}

/** Reads chunks of live documents. */
export class HitStore {
  constructor(private readonly db: Database) {}

  /** Those of the chunks whose documents are still there, by their `seq`. */
  find(tenant: string, chunks: readonly number[]): Map<number, Hit> {
    const rows = this.db.raw
      .query<Omit<Hit, 'metadata'> & { metadata: string }, [string, string]>(
        `SELECT c.seq, d.id AS documentId, c.position, c.text, d.metadata
         FROM memory_chunks c JOIN memory_documents d ON d.seq = c.document
         WHERE c.seq IN (SELECT value FROM json_each(?)) AND d.tenant = ? AND d.state = 'live'`,
      )
      .all(JSON.stringify(chunks), tenant);
    return new Map(rows.map((row) => [row.seq, { ...row, metadata: JSON.parse(row.metadata) }]));
  }
}

function chunksIn(rows: ReadonlyArray<{ chunk_count: number }>): number {
  return rows.reduce((sum, { chunk_count }) => sum + chunk_count, 0);
}
