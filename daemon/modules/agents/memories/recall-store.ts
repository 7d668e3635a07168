import type { Database } from '../../../db/open.ts';
import type { WordHit, WordIndex } from '../../memory/index.ts';
import type { MemoryType } from './face.ts';
import { shelfWord, wordsOf } from './store.ts';
import type { MemoryRow } from './tables.ts';

/** What words are looked for in. */
export interface Among {
  /** Numbers of shelves. */
  readonly shelves: readonly number[];
  readonly types: readonly MemoryType[];
}

/** Looks for active memories. Books and shelves are named by their `seq`, which was found for a tenant. */
export class RecallStore {
  constructor(private readonly db: Database) {}

  /** The words of a book, of some shelves alone: how common a word is counts within them. */
  words(among: Among): WordIndex {
    const { raw } = this.db;
    const within = `shelf : (${among.shelves.map(shelfWord).join(' OR ')}) AND text : `;
    return {
      countUpTo: (book, term, most) =>
        raw
          .query<{ n: number }, [string, number]>(
            `SELECT count(*) AS n FROM (SELECT 1 FROM ${wordsOf(book)} WHERE ${wordsOf(book)} MATCH ? LIMIT ?)`,
          )
          .get(`${within}(${term})`, most)?.n ?? 0,
      match: (book, expression, _, limit) => this.match(book, `${within}(${expression})`, among, limit),
      has: (book, seq, term) =>
        raw
          .query<{ n: number }, [string, number]>(
            `SELECT 1 AS n FROM ${wordsOf(book)} WHERE ${wordsOf(book)} MATCH ? AND rowid = ?`,
          )
          .get(`${within}(${term})`, seq) !== null,
    };
  }

  /** Active memories of some types. */
  ofTypes({ shelves, types }: Among): Set<number> {
    const rows = this.db.raw
      .query<{ seq: number }, [string, string]>(
        `SELECT seq FROM agent_memories WHERE active = 1 AND shelf IN (SELECT value FROM json_each(?))
         AND type IN (SELECT value FROM json_each(?))`,
      )
      .all(JSON.stringify(shelves), JSON.stringify(types));
    return new Set(rows.map(({ seq }) => seq));
  }

  /**
   * Instructions that changed last: those that this user has given, and those that somebody has written down by hand. What an agent has
   * taken from the words of another user does not rule this one's turns.
   */
  instructions(shelves: readonly number[], userId: string, limit: number): number[] {
    return this.db.raw
      .query<{ seq: number }, [string, string, number]>(
        `SELECT seq FROM agent_memories WHERE active = 1 AND type = 'instruction'
         AND shelf IN (SELECT value FROM json_each(?)) AND (source = 'user_explicit' OR user_id = ?)
         ORDER BY updated_at DESC, seq DESC LIMIT ?`,
      )
      .all(JSON.stringify(shelves), userId, limit)
      .map(({ seq }) => seq);
  }

  /** Those of the memories that are active. */
  active(tenant: string, seqs: readonly number[]): Map<number, Found> {
    const rows = this.db.raw
      .query<Found, [string, string]>(
        `SELECT seq, id, type, scope, content, fact_key AS factKey, confidence FROM agent_memories
         WHERE seq IN (SELECT value FROM json_each(?)) AND tenant = ? AND active = 1`,
      )
      .all(JSON.stringify(seqs), tenant);
    return new Map(rows.map((row) => [row.seq, row]));
  }

  /** The shelf itself has no weight: that word is there in each row that is found. */
  private match(book: number, expression: string, { shelves, types }: Among, limit: number): WordHit[] {
    const table = wordsOf(book);
    const wanted =
      types.length === 0
        ? ''
        : `AND +rowid IN (SELECT seq FROM agent_memories WHERE active = 1 AND shelf IN (SELECT value FROM json_each(?))
             AND type IN (SELECT value FROM json_each(?)))`;
    const values = types.length === 0 ? [] : [JSON.stringify(shelves), JSON.stringify(types)];
    return this.db.raw
      .query<WordHit, (string | number)[]>(
        `SELECT rowid AS seq, -rank AS weight FROM ${table} WHERE ${table} MATCH ? ${wanted}
         AND rank MATCH 'bm25(0.0, 1.0)' ORDER BY rank LIMIT ?`,
      )
      .all(expression, ...values, limit);
  }
}

/** What recall reads of a memory. */
export type Found = Pick<MemoryRow, 'seq' | 'id' | 'type' | 'scope' | 'content' | 'factKey' | 'confidence'>;
