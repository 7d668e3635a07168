import type { Database } from '../../../db/open.ts';
import type { VectorSource } from './code-cache.ts';
import type { StoredVector } from './codes.ts';
import type { RecallSource } from './recall.ts';
import { floats } from './vector-bytes.ts';
import type { Filter, WordHit, WordIndex } from './word-search.ts';

/** Reads what is searched. Collections are named by their `seq`, which the service has found for its tenant. */
export class RecallStore implements RecallSource, VectorSource, WordIndex {
  constructor(private readonly db: Database) {}

  vectorsAfter(collection: number, seq: number, limit: number): StoredVector[] {
    return this.db.raw
      .query<{ seq: number; document: number; vector: Uint8Array }, [number, number, number]>(
        `SELECT seq, document, vector FROM memory_chunks
         WHERE collection = ? AND seq > ? AND vector IS NOT NULL ORDER BY seq LIMIT ?`,
      )
      .all(collection, seq, limit)
      .map((row) => ({ ...row, vector: floats(row.vector) }));
  }

  vectorsOf(chunks: readonly number[]): Map<number, Float32Array> {
    const rows = this.db.raw
      .query<{ seq: number; vector: Uint8Array }, [string]>(
        `SELECT seq, vector FROM memory_chunks
         WHERE seq IN (SELECT value FROM json_each(?)) AND vector IS NOT NULL`,
      )
      .all(JSON.stringify(chunks));
    return new Map(rows.map(({ seq, vector }) => [seq, floats(vector)]));
  }

  hiddenDocuments(collection: number): Set<number> {
    const rows = this.db.raw
      .query<{ seq: number }, [number]>(
        "SELECT seq FROM memory_documents WHERE collection = ? AND state <> 'live'",
      )
      .all(collection);
    return new Set(rows.map(({ seq }) => seq));
  }

  documentsWith(collection: number, filter: Filter): Set<number> {
    const { sql, values } = documentsHaving(collection, filter);
    const rows = this.db.raw.query<{ document: number }, (string | number)[]>(sql).all(...values);
    return new Set(rows.map(({ document }) => document));
  }

  countUpTo(collection: number, term: string, most: number): number {
    const row = this.db.raw
      .query<{ n: number }, [string, number]>(
        `SELECT count(*) AS n FROM (SELECT 1 FROM ${words(collection)} WHERE ${words(collection)} MATCH ? LIMIT ?)`,
      )
      .get(term, most);
    return row?.n ?? 0;
  }

  /** The plus keeps SQLite from asking the index once for each of the chunks. */
  match(collection: number, expression: string, filter: Filter, limit: number): WordHit[] {
    const table = words(collection);
    const filtered = Object.keys(filter).length > 0;
    const { sql, values } = filtered ? documentsHaving(collection, filter) : { sql: '', values: [] };
    const wanted = filtered ? `AND +rowid IN (SELECT seq FROM memory_chunks WHERE document IN (${sql}))` : '';
    const hidden = "SELECT seq FROM memory_documents WHERE collection = ? AND state <> 'live'";
    return this.db.raw
      .query<WordHit, (string | number)[]>(
        `SELECT rowid AS seq, -rank AS weight FROM ${table} WHERE ${table} MATCH ? ${wanted}
         AND +rowid NOT IN (SELECT seq FROM memory_chunks WHERE document IN (${hidden}))
         ORDER BY rank LIMIT ?`,
      )
      .all(expression, ...values, collection, limit);
  }

  has(collection: number, chunk: number, term: string): boolean {
    const table = words(collection);
    const row = this.db.raw
      .query<{ n: number }, [string, number]>(
        `SELECT 1 AS n FROM ${table} WHERE ${table} MATCH ? AND rowid = ?`,
      )
      .get(term, chunk);
    return row !== null;
  }
}

function documentsHaving(collection: number, filter: Filter): { sql: string; values: (string | number)[] } {
  const each = Object.entries(filter);
  const one = 'SELECT document FROM memory_labels WHERE collection = ? AND name = ? AND value = ?';
  return {
    sql: each.map(() => one).join(' INTERSECT '),
    values: each.flatMap(([name, value]) => [collection, name, value]),
  };
}

function words(collection: number): string {
  return `memory_words_${collection}`;
}
