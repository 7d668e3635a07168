import { fail, invalid } from '../../../../src/errors/app-error.ts';
import { newId } from '../../../../src/kit/id.ts';
import type { App } from '../../../app.ts';
import type { Caller } from '../../../http/route.ts';
import type { Embedder } from '../embedding.ts';
import { LIMITS } from '../limits.ts';
import { checkMetadata } from '../metadata.ts';
import { METRICS, type Metric } from '../recall/similarity.ts';
import type { CollectionRow, Metadata } from '../tables.ts';
import type { CollectionStore } from './store.ts';

/** A collection as a caller asks for it. */
export interface WantedCollection {
  readonly name?: string;
  readonly description?: string;
  readonly embeddingModel?: string;
  readonly embeddingDimension?: number;
  readonly distanceMetric?: string;
  readonly metadata?: Metadata;
}

const NAME = /^[\p{L}\p{N}][\p{L}\p{N} ._:@-]{0,127}$/u;

/** Makes, finds and removes collections. */
export class CollectionService {
  constructor(
    private readonly app: Pick<App, 'db' | 'clock' | 'audit' | 'config'>,
    private readonly store: CollectionStore,
    private readonly embedder: Embedder,
    /** Told when there is something to remove. */
    private readonly buried: () => void,
  ) {}

  list(tenant: string): CollectionRow[] {
    return this.store.list(tenant);
  }

  has(tenant: string, name: string): boolean {
    return this.store.find(tenant, name) !== undefined;
  }

  /** One collection. Errors: not_found naming it. */
  get(tenant: string, name: string): CollectionRow {
    const row = this.store.find(tenant, name);
    if (!row) throw fail('not_found', { what: 'collection', id: name });
    return row;
  }

  /** The same collection as it is now. Errors: not_found when it was removed, even if another has its name. */
  still({ tenant, name, seq }: CollectionRow): CollectionRow {
    const now = this.get(tenant, name);
    if (now.seq !== seq) throw fail('not_found', { what: 'collection', id: name });
    return now;
  }

  /**
   * Makes a collection; with a model it is asked once, so that a collection that is there can be used. Errors: invalid_argument
   * naming the field; already_exists; resource_exhausted; those of the gateway.
   */
  async create(caller: Caller, wanted: WantedCollection, signal: AbortSignal): Promise<CollectionRow> {
    const { name = '', description = '', embeddingModel = '' } = wanted;
    this.check(wanted);
    this.checkFree(caller.tenant, name);
    const vectors = await this.vectorsOf(caller, wanted, signal);
    const now = this.app.clock.now();
    return this.app.db.transaction(() => {
      this.checkFree(caller.tenant, name);
      const row = this.store.insert({
        ...vectors,
        id: newId('col', now),
        tenant: caller.tenant,
        name,
        description,
        embeddingModel,
        distance: (wanted.distanceMetric || METRICS[0]) as Metric,
        metadata: wanted.metadata ?? {},
        documentCount: 0,
        chunkCount: 0,
        state: 'live',
        createdAt: now,
        updatedAt: now,
      });
      this.record(caller, 'memory_collection.create', name);
      return row;
    });
  }

  /** Removes a collection with all that is in it. Errors: not_found naming it. */
  remove(caller: Caller, name: string): void {
    this.app.db.transaction(() => {
      this.get(caller.tenant, name);
      this.store.bury(caller.tenant, name);
      this.record(caller, 'memory_collection.delete', name);
    });
    this.buried();
  }

  private check({ name = '', description = '', ...wanted }: WantedCollection): void {
    if (!NAME.test(name))
      throw invalid({
        field: 'name',
        description:
          'begins with a letter or digit and has at most 128 letters, digits, spaces and . _ : @ -',
      });
    if (description.length > LIMITS.descriptionLength)
      throw invalid({
        field: 'description',
        description: `has at most ${LIMITS.descriptionLength} characters`,
      });
    if (wanted.distanceMetric && !METRICS.some((metric) => metric === wanted.distanceMetric))
      throw invalid({ field: 'distanceMetric', description: `must be one of ${METRICS.join(', ')}` });
    const { embeddingDimension: dimension = 0, embeddingModel: model = '' } = wanted;
    if (dimension < 0 || dimension > LIMITS.dimension)
      throw invalid({ field: 'embeddingDimension', description: `must be 1 to ${LIMITS.dimension}` });
    if (dimension > 0 && model === '')
      throw invalid({
        field: 'embeddingModel',
        description: 'is required with embeddingDimension; without both, recall is by words',
      });
    const allowed = this.app.config.get('features.memory.embedding_models');
    if (model !== '' && allowed.length > 0 && !allowed.includes(model))
      throw invalid({ field: 'embeddingModel', description: `must be one of ${allowed.join(', ')}` });
    checkMetadata('metadata', wanted.metadata ?? {});
  }

  private checkFree(tenant: string, name: string): void {
    if (this.store.find(tenant, name)) throw fail('already_exists', { what: 'collection', id: name });
    if (this.store.count(tenant) >= LIMITS.collections)
      throw fail('resource_exhausted', {
        message: `A tenant has at most ${LIMITS.collections} collections.`,
      });
  }

  private async vectorsOf(
    caller: Caller,
    { embeddingModel = '', embeddingDimension: wanted = 0 }: WantedCollection,
    signal: AbortSignal,
  ): Promise<Pick<CollectionRow, 'dimension' | 'asksDimension'>> {
    if (embeddingModel === '') return { dimension: 0, asksDimension: false };
    const found = await this.embedder.probe(caller, embeddingModel, wanted, signal);
    if (wanted > 0 && found.dimension !== wanted)
      throw invalid({
        field: 'embeddingDimension',
        description: `${embeddingModel} makes vectors of ${found.dimension} numbers`,
      });
    if (found.dimension < 1 || found.dimension > LIMITS.dimension)
      throw invalid({
        field: 'embeddingModel',
        description: `makes vectors of ${found.dimension} numbers; at most ${LIMITS.dimension} are stored. Ask for fewer by embeddingDimension`,
      });
    return found;
  }

  private record({ tenant, actor }: Caller, action: string, target: string): void {
    this.app.audit.record({ tenant, actor, action, target });
  }
}
