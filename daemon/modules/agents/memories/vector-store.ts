import { and, eq } from 'drizzle-orm';
import type { Database } from '../../../db/open.ts';
import { bytesOf, floats, type StoredVector, type VectorSource } from '../../memory/index.ts';
import { type MemoryRow, memorySpaces, memoryVectors } from './tables.ts';

/** Vectors that can be compared: those of one shelf, by one model, of one length. */
export interface Space {
  readonly seq: number;
  readonly dimension: number;
  /** Vectors in it. */
  readonly count: number;
}

/** A text as a model of vectors sees it. */
export interface Embedded {
  readonly model: string;
  readonly vector: Float32Array;
}

/** A memory that has no vector by the model in use. */
export type Bare = Pick<MemoryRow, 'seq' | 'content' | 'shelf' | 'userId'>;

/** Reads and writes vectors of memories. Spaces and memories are named by their `seq`, which was found for a tenant. */
export class VectorStore implements VectorSource {
  constructor(private readonly db: Database) {}

  /** `document` is the memory. */
  vectorsAfter(space: number, seq: number, limit: number): StoredVector[] {
    return this.db.raw
      .query<{ seq: number; document: number; vector: Uint8Array }, [number, number, number]>(
        `SELECT seq, memory AS document, vector FROM agent_memory_vectors
         WHERE space = ? AND seq > ? ORDER BY seq LIMIT ?`,
      )
      .all(space, seq, limit)
      .map((row) => ({ ...row, vector: floats(row.vector) }));
  }

  /** The vectors of these memories in these spaces, by memory. */
  vectorsOf(spaces: readonly number[], memories: readonly number[]): Map<number, Float32Array> {
    const rows = this.db.raw
      .query<{ memory: number; vector: Uint8Array }, [string, string]>(
        `SELECT memory, vector FROM agent_memory_vectors WHERE memory IN (SELECT value FROM json_each(?))
         AND +space IN (SELECT value FROM json_each(?))`,
      )
      .all(JSON.stringify(memories), JSON.stringify(spaces));
    return new Map(rows.map(({ memory, vector }) => [memory, floats(vector)]));
  }

  /** The spaces of shelves in which a vector can be looked for. */
  spaces(shelves: readonly number[], { model, vector }: Embedded): Space[] {
    return this.db.raw
      .query<Space, [string, string, number]>(
        `SELECT seq, dimension, (SELECT count(*) FROM agent_memory_vectors WHERE space = s.seq) AS count
         FROM agent_memory_spaces s
         WHERE shelf IN (SELECT value FROM json_each(?)) AND model = ? AND dimension = ?`,
      )
      .all(JSON.stringify(shelves), model, vector.length);
  }

  /** Gives a memory its vector, in place of another one; answers the space that the other one has left. Part of a transaction. */
  put(memory: number, shelf: number, { model, vector }: Embedded): number | undefined {
    const left = this.drop(memory);
    const { seq: space } = this.db.sql
      .insert(memorySpaces)
      .values({ shelf, model, dimension: vector.length })
      .onConflictDoUpdate({
        target: [memorySpaces.shelf, memorySpaces.model, memorySpaces.dimension],
        set: { model },
      })
      .returning({ seq: memorySpaces.seq })
      .get();
    this.db.sql
      .insert(memoryVectors)
      .values({ space, memory, vector: Buffer.from(bytesOf(vector)) })
      .run();
    this.mark(memory, model);
    return left;
  }

  /** Takes the vector of a memory away; answers the space that it was in. Part of a transaction. */
  drop(memory: number): number | undefined {
    const left = this.db.sql
      .delete(memoryVectors)
      .where(eq(memoryVectors.memory, memory))
      .returning({ space: memoryVectors.space })
      .get()?.space;
    if (left !== undefined) this.mark(memory, '');
    return left;
  }

  /** Some active memories that have no vector by a model. */
  bare(tenant: string, model: string, but: readonly number[], limit: number): Bare[] {
    const some = (range: string) =>
      `SELECT seq, content, shelf, user_id AS userId FROM agent_memories
       WHERE tenant = ?1 AND active = 1 AND vector_model ${range} ?2 AND seq NOT IN (SELECT value FROM json_each(?3))`;
    return this.db.raw
      .query<Bare, [string, string, string, number]>(`${some('<')} UNION ALL ${some('>')} LIMIT ?4`)
      .all(tenant, model, JSON.stringify(but), limit);
  }

  /** Whether a memory is still active with this text, so that a vector of it may be kept. */
  isStill(tenant: string, { seq, content }: Bare): boolean {
    const row = this.db.raw
      .query<{ n: number }, [number, string, string]>(
        'SELECT 1 AS n FROM agent_memories WHERE seq = ? AND tenant = ? AND content = ? AND active = 1',
      )
      .get(seq, tenant, content);
    return row !== null;
  }

  /** Tenants that have memories. For the start of the daemon. */
  tenants(): string[] {
    return this.db.raw
      .query<{ tenant: string }, []>('SELECT tenant FROM agent_memory_books WHERE count > 0')
      .all()
      .map(({ tenant }) => tenant);
  }

  /** Removes the spaces of a shelf that nothing is in any more. Part of a transaction. */
  dropSpaces(shelf: number): number[] {
    return this.db.sql
      .delete(memorySpaces)
      .where(and(eq(memorySpaces.shelf, shelf)))
      .returning({ seq: memorySpaces.seq })
      .all()
      .map(({ seq }) => seq);
  }

  private mark(memory: number, model: string): void {
    this.db.raw
      .query<null, [string, number]>('UPDATE agent_memories SET vector_model = ? WHERE seq = ?')
      .run(model, memory);
  }
}
