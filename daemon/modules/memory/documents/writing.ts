import { fail } from '../../../../src/errors/app-error.ts';
import type { App } from '../../../app.ts';
import type { Caller } from '../../../http/route.ts';
import type { CollectionService } from '../collections/service.ts';
import { LIMITS } from '../limits.ts';
import { turn } from '../recall/turn.ts';
import type { CollectionRow } from '../tables.ts';
import type { DocumentStore, NewChunk } from './store.ts';
import type { ReadDocument } from './wanted.ts';

/** A document that is ready to be written. */
export interface Chunked extends ReadDocument {
  readonly chunks: readonly NewChunk[];
}

/** Some chunks of one document. */
interface Piece {
  readonly document: Chunked;
  readonly chunks: readonly NewChunk[];
}

const CHUNKS_A_STEP = 12;

/** Writes documents without holding anybody up, and shows them at once. */
export class DocumentWriting {
  constructor(
    private readonly app: Pick<App, 'db' | 'clock' | 'audit'>,
    private readonly store: DocumentStore,
    private readonly collections: CollectionService,
    /** Told when there may be something to remove. */
    private readonly buried: () => void,
  ) {}

  /**
   * Adds documents, all or none: they are written in steps that nobody sees, and shown in one. Errors: not_found when the
   * collection is removed meanwhile; resource_exhausted when it is full.
   */
  async write(caller: Caller, collection: CollectionRow, documents: readonly Chunked[]): Promise<void> {
    const staged = new Map<Chunked, number>();
    try {
      for (const step of stepsOf(documents)) {
        for (const [document, seq] of this.stage(collection, step, staged)) staged.set(document, seq);
        await turn();
      }
      this.publish(caller, collection, staged);
    } catch (error) {
      this.store.discard([...staged.values()]);
      throw error;
    } finally {
      this.buried();
    }
  }

  /** Writes one step; answers the documents that are there now, which they are only when all of it is. */
  private stage(
    collection: CollectionRow,
    step: readonly Piece[],
    staged: ReadonlyMap<Chunked, number>,
  ): Array<readonly [Chunked, number]> {
    const { store } = this;
    const { tenant } = collection;
    return this.app.db.transaction(() => {
      this.collections.still(collection);
      return step.map(({ document, chunks }) => {
        const { id, digest, source, metadata } = document;
        const createdAt = this.app.clock.now();
        const row = { id, digest, source, metadata, chunkCount: document.chunks.length, createdAt };
        const seq = staged.get(document) ?? store.stage(tenant, collection.seq, row);
        store.addChunks(collection.seq, seq, chunks);
        return [document, seq] as const;
      });
    });
  }

  private publish(
    { tenant, actor }: Caller,
    collection: CollectionRow,
    staged: ReadonlyMap<Chunked, number>,
  ): void {
    if (staged.size === 0) return;
    const chunks = [...staged.keys()].reduce((sum, document) => sum + document.chunks.length, 0);
    this.app.db.transaction(() => {
      checkRoom(this.collections.still(collection), chunks);
      this.store.publish(tenant, collection.seq, [...staged.values()], this.app.clock.now());
      this.app.audit.record({
        tenant,
        actor,
        action: 'memory_document.add',
        target: collection.name,
        details: { documents: staged.size, chunks },
      });
    });
  }
}

/** Whether a collection can take more chunks. Errors: resource_exhausted. */
export function checkRoom({ chunkCount }: CollectionRow, more: number): void {
  if (chunkCount + more > LIMITS.chunksACollection)
    throw fail('resource_exhausted', {
      message: `A collection has at most ${LIMITS.chunksACollection} chunks; this one has ${chunkCount}, and ${more} are to be added.`,
    });
}

/** The chunks of documents, about as many in each step; of a document at most one piece in a step. */
function* stepsOf(documents: readonly Chunked[]): Generator<Piece[]> {
  let step: Piece[] = [];
  let size = 0;
  for (const document of documents)
    for (let from = 0; from < document.chunks.length; from += CHUNKS_A_STEP) {
      const chunks = document.chunks.slice(from, from + CHUNKS_A_STEP);
      if (step.length > 0 && size + chunks.length > CHUNKS_A_STEP) {
        yield step;
        [step, size] = [[], 0];
      }
      step.push({ document, chunks });
      size += chunks.length;
    }
  if (step.length > 0) yield step;
}
