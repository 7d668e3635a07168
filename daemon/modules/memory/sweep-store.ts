import type { Database } from '../../db/open.ts';

/** A document whose chunks are to be removed. */
export interface DeadDocument {
  readonly seq: number;
  readonly collection: number;
  /** Whether its collection goes too, with its words at once. */
  readonly whole: boolean;
}

/** Removes what callers no longer see, over all tenants. `<> 'live'` names the index of such documents. */
export class SweepStore {
  constructor(private readonly db: Database) {}

  /** What a former process had staged is given up. */
  discardStaged(): void {
    this.db.raw.run("UPDATE memory_documents SET state = 'dead' WHERE state = 'staged' AND state <> 'live'");
  }

  deadCollections(): number[] {
    return this.db.raw
      .query<{ seq: number }, []>("SELECT seq FROM memory_collections WHERE state = 'dead' LIMIT 100")
      .all()
      .map(({ seq }) => seq);
  }

  dropWords(collection: number): void {
    this.db.raw.run(`DROP TABLE IF EXISTS memory_words_${collection}`);
  }

  /** Any document of a collection that is removed as a whole. */
  documentOf(collection: number): number | undefined {
    return this.db.raw
      .query<{ seq: number }, [number]>('SELECT seq FROM memory_documents WHERE collection = ? LIMIT 1')
      .get(collection)?.seq;
  }

  deadDocument(): { seq: number; collection: number } | undefined {
    const row = this.db.raw
      .query<{ seq: number; collection: number }, []>(
        `SELECT d.seq, d.collection FROM memory_collections c JOIN memory_documents d ON d.collection = c.seq
         WHERE c.state = 'live' AND d.state = 'dead' AND d.state <> 'live' LIMIT 1`,
      )
      .get();
    return row ?? undefined;
  }

  /** Removes at most `limit` chunks of a document, and the document when none is left. True when it is gone. */
  shrink({ seq, collection, whole }: DeadDocument, limit: number): boolean {
    return this.db.transaction(() => {
      const chunks = this.db.raw
        .query<{ seq: number }, [number, number]>('SELECT seq FROM memory_chunks WHERE document = ? LIMIT ?')
        .all(seq, limit);
      const drop = this.db.raw.query<null, [number]>('DELETE FROM memory_chunks WHERE seq = ?');
      for (const chunk of chunks) {
        if (!whole)
          this.db.raw.query(`DELETE FROM memory_words_${collection} WHERE rowid = ?`).run(chunk.seq);
        drop.run(chunk.seq);
      }
      if (chunks.length === limit) return false;
      this.db.raw.query('DELETE FROM memory_labels WHERE document = ?').run(seq);
      this.db.raw.query('DELETE FROM memory_documents WHERE seq = ?').run(seq);
      return true;
    });
  }

  removeCollection(collection: number): void {
    this.db.raw.query('DELETE FROM memory_collections WHERE seq = ?').run(collection);
  }
}
