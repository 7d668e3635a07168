import { fail, invalid } from '../../../../src/errors/app-error.ts';
import type { App } from '../../../app.ts';
import type { Caller } from '../../../http/route.ts';
import type { CollectionService } from '../collections/service.ts';
import type { Embedder } from '../embedding.ts';
import { LIMITS } from '../limits.ts';
import { checkMetadata } from '../metadata.ts';
import type { Found, Mode, Question, Recall } from '../recall/recall.ts';
import type { CollectionRow, Metadata } from '../tables.ts';
import type { DocumentStore, Hit, HitStore } from './store.ts';
import { chunkSizeOf, chunksOf, type ReadDocument, readDocuments, type WantedDocuments } from './wanted.ts';
import { type Chunked, checkRoom, type DocumentWriting } from './writing.ts';

/** What is looked for, as a caller asks. */
export interface WantedRecall {
  readonly query?: string;
  readonly topK?: number;
  readonly minScore?: number;
  readonly metadataFilter?: Metadata;
  readonly mode?: Mode;
}

/** A chunk that was found, with what it says. */
export type FoundChunk = Hit & Omit<Found, 'seq'>;

/** What documents take from the rest of memory. */
export interface DocumentParts {
  readonly store: DocumentStore;
  readonly writing: DocumentWriting;
  readonly hits: HitStore;
  readonly collections: CollectionService;
  readonly embedder: Embedder;
  readonly recall: Recall;
  /** Told when there is something to remove. */
  readonly buried: () => void;
}

const USUAL_TOP_K = 10;

/** Adds, removes and finds documents. */
export class DocumentService {
  private readonly adding = new Map<string, number>();

  constructor(
    private readonly app: Pick<App, 'db' | 'clock' | 'audit'>,
    private readonly parts: DocumentParts,
  ) {}

  /**
   * Adds documents, all or none; those that are there as they are stay, and one whose id is there takes its place. Errors:
   * not_found; invalid_argument naming the field; resource_exhausted; those of the gateway.
   */
  async add(
    caller: Caller,
    name: string,
    wanted: WantedDocuments,
    signal: AbortSignal,
  ): Promise<{ documentIds: string[]; chunksCreated: number }> {
    const { tenant } = caller;
    const collection = this.parts.collections.get(tenant, name);
    const documents = readDocuments(wanted);
    this.enter(tenant);
    try {
      const chunked = await this.chunked(
        caller,
        collection,
        this.news(collection, documents),
        wanted,
        signal,
      );
      await this.parts.writing.write(caller, collection, chunked);
      const chunksCreated = chunked.reduce((sum, { chunks }) => sum + chunks.length, 0);
      return { documentIds: documents.map(({ id }) => id), chunksCreated };
    } finally {
      this.leave(tenant);
    }
  }

  /** Removes a document with all its chunks. Errors: not_found naming the collection or the document. */
  remove({ tenant, actor }: Caller, name: string, id: string): void {
    this.app.db.transaction(() => {
      const { seq } = this.parts.collections.get(tenant, name);
      if (!this.parts.store.bury(tenant, seq, id, this.app.clock.now()))
        throw fail('not_found', { what: 'document', id });
      this.app.audit.record({ tenant, actor, action: 'memory_document.delete', target: `${name}/${id}` });
    });
    this.parts.buried();
  }

  /** The chunks that answer best, by their score. Errors: not_found; invalid_argument naming the field; those of the gateway. */
  async query(
    caller: Caller,
    name: string,
    wanted: WantedRecall,
    signal: AbortSignal,
  ): Promise<FoundChunk[]> {
    const collection = this.parts.collections.get(caller.tenant, name);
    const { query: text = '', topK = USUAL_TOP_K, minScore = 0, metadataFilter: filter = {} } = wanted;
    const mode = modeOf(collection, wanted);
    if (text.trim() === '') throw invalid({ field: 'query', description: 'must not be empty' });
    if (text.length > LIMITS.queryLength)
      throw invalid({ field: 'query', description: `has at most ${LIMITS.queryLength} characters` });
    if (topK > LIMITS.topK) throw invalid({ field: 'topK', description: `is at most ${LIMITS.topK}` });
    checkMetadata('metadataFilter', filter);
    const [vector] =
      mode === 'text' ? [] : await this.parts.embedder.vectorsOf(caller, collection, [text], signal);
    const found = await this.found(collection, { text, vector, mode, topK, minScore, filter });
    const hits = this.parts.hits.find(
      caller.tenant,
      found.map(({ seq }) => seq),
    );
    return found.flatMap((one) => {
      const hit = hits.get(one.seq);
      return hit ? [{ ...one, ...hit }] : [];
    });
  }

  /** Errors: not_found when the collection is removed meanwhile. */
  private async found(collection: CollectionRow, question: Question): Promise<Found[]> {
    try {
      return await this.parts.recall.find(collection, question);
    } catch (error) {
      this.parts.collections.still(collection);
      throw error;
    }
  }

  /** Those that are not there yet as they are. */
  private news({ tenant, seq }: CollectionRow, documents: readonly ReadDocument[]): ReadDocument[] {
    const byId = new Map(documents.map((document) => [document.id, document]));
    const there = this.parts.store.digests(tenant, seq, [...byId.keys()]);
    return [...byId.values()].filter(({ id, digest }) => there.get(id) !== digest);
  }

  private async chunked(
    caller: Caller,
    collection: CollectionRow,
    documents: readonly ReadDocument[],
    wanted: WantedDocuments,
    signal: AbortSignal,
  ): Promise<Chunked[]> {
    const texts = await chunksOf(documents, chunkSizeOf(wanted));
    const all = texts.flat();
    checkRoom(collection, all.length);
    const vectors =
      collection.embeddingModel === ''
        ? []
        : await this.parts.embedder.vectorsOf(caller, collection, all, signal);
    let next = 0;
    return documents.map((document, i) => ({
      ...document,
      chunks: (texts[i] ?? []).map((text, position) => ({ position, text, vector: vectors[next++] })),
    }));
  }

  private enter(tenant: string): void {
    const running = this.adding.get(tenant) ?? 0;
    if (running >= LIMITS.addsAtOnce)
      throw fail('resource_exhausted', {
        message: `At most ${LIMITS.addsAtOnce} calls of a tenant add documents at the same time. Try again when one has ended.`,
      });
    this.adding.set(tenant, running + 1);
  }

  private leave(tenant: string): void {
    const running = (this.adding.get(tenant) ?? 1) - 1;
    if (running > 0) this.adding.set(tenant, running);
    else this.adding.delete(tenant);
  }
}

function modeOf({ embeddingModel }: CollectionRow, { mode = 'hybrid' }: WantedRecall): Mode {
  if (embeddingModel !== '') return mode;
  if (mode !== 'vector') return 'text';
  throw invalid({ field: 'mode', description: 'must be text: this collection has no embedding model' });
}
