import { DAY_MS, SECOND_MS } from '../../../src/kit/time.ts';
import type { App, Module } from '../../app.ts';
import type { Embed } from '../gateway/index.ts';
import { CollectionService } from './collections/service.ts';
import { CollectionStore } from './collections/store.ts';
import { DocumentService } from './documents/service.ts';
import { DocumentStore, HitStore } from './documents/store.ts';
import { DocumentWriting } from './documents/writing.ts';
import { Embedder } from './embedding.ts';
import { LIMITS } from './limits.ts';
import { CodeCache } from './recall/code-cache.ts';
import { Recall } from './recall/recall.ts';
import { RecallStore } from './recall/recall-store.ts';
import { WordSearch } from './recall/word-search.ts';
import { memoryRoutes } from './routes.ts';
import { Sweep } from './sweep.ts';
import { SweepStore } from './sweep-store.ts';
import { UsageReports } from './usage/reports.ts';
import { UsageStore } from './usage/store.ts';
import { Tally } from './usage/tally.ts';

export type { FoundChunk } from './documents/service.ts';
export { CodeCache, type VectorSource } from './recall/code-cache.ts';
export type { StoredVector } from './recall/codes.ts';
export { fuseWithScores } from './recall/fuse.ts';
export type { Ranked } from './recall/nearest.ts';
export { nearnessTo } from './recall/similarity.ts';
export { bytesOf, floats } from './recall/vector-bytes.ts';
export { nearestByCodes } from './recall/vector-search.ts';
export { type WordHit, type WordIndex, WordSearch } from './recall/word-search.ts';
export { indexed } from './recall/words.ts';

/** How long it is kept how memory was used. */
const USES_KEPT_MS = 366 * DAY_MS;
const WRITE_USES_MS = SECOND_MS;

/** The module of memory collections. */
export interface MemoryModule extends Module {
  /** Adds, removes and finds documents, for modules whose work it is part of. */
  readonly documents: Pick<DocumentService, 'add' | 'query' | 'remove'>;
  /** Resolves when what was removed is gone from the disk. */
  settled(): Promise<void>;
}

/** Collections of documents that are searched by meaning and by words. `embed` makes vectors of texts. */
export function createMemoryModule(app: App, embed: Embed): MemoryModule {
  const { db, clock, log, jobs } = app;
  const embedder = new Embedder(embed);
  const recallStore = new RecallStore(db);
  const cache = new CodeCache(recallStore, LIMITS.vectorCacheBytes);
  const words = new WordSearch(recallStore);
  const sweep = new Sweep(
    new SweepStore(db),
    {
      document: (collection, document) => cache.bury(collection, document),
      collection(collection) {
        cache.forget(collection);
        words.forget(collection);
      },
    },
    log,
  );
  const buried = () => sweep.soon();
  const collectionStore = new CollectionStore(db);
  const collections = new CollectionService(app, collectionStore, embedder, buried);
  const store = new DocumentStore(db, collectionStore);
  const documents = new DocumentService(app, {
    store,
    writing: new DocumentWriting(app, store, collections, buried),
    hits: new HitStore(db),
    collections,
    embedder,
    recall: new Recall(recallStore, cache, words),
    buried,
  });
  const tally = new Tally(clock);
  const reports = new UsageReports(new UsageStore(db), tally, clock, log);
  jobs.every('memory.uses.prune', DAY_MS, () => reports.prune(clock.now() - USES_KEPT_MS));
  let writing: Timer | undefined;
  return {
    name: 'memory',
    routes: memoryRoutes({ collections, documents, reports, tally }),
    documents,
    settled: () => sweep.settled(),
    async start() {
      sweep.start();
      writing = setInterval(() => reports.write(), WRITE_USES_MS);
    },
    async stop() {
      clearInterval(writing);
      reports.write();
      await sweep.stop();
    },
  };
}
