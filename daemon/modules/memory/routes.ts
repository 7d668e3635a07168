import { memoryCollections } from '../../../src/api/memory/collections.ts';
import { memoryDocuments } from '../../../src/api/memory/documents.ts';
import type { Caller } from '../../http/route.ts';
import { implement, type Route } from '../../http/route.ts';
import type { CollectionService } from './collections/service.ts';
import { collectionToWire } from './collections/wire.ts';
import type { DocumentService, FoundChunk } from './documents/service.ts';
import type { UsageReports } from './usage/reports.ts';
import type { Tally, UseKind } from './usage/tally.ts';

/** What the operations call. */
export interface MemoryServices {
  readonly collections: CollectionService;
  readonly documents: DocumentService;
  readonly reports: UsageReports;
  readonly tally: Tally;
}

const SETUP =
  'Nothing is to be set up: vectors and the full-text index are in the database of this instance (SQLite), and are there from the start. The operation has its name from the backend that other installations prepare with it (pgvector on Postgres).';

/** The operations on memory collections. */
export function memoryRoutes({ collections, documents, reports, tally }: MemoryServices): Route[] {
  const counted = <T>(kind: UseKind, { tenant }: Caller, collection: string, work: () => T | Promise<T>) =>
    tally.count({ tenant, collection, kind }, () => collections.has(tenant, collection), work);
  return [
    ...implement(memoryCollections, {
      ListCollections: ({ caller }) => ({
        collections: collections.list(caller.tenant).map(collectionToWire),
      }),
      CreateCollection: async ({ caller, body, signal }) => ({
        collection: collectionToWire(await collections.create(caller, body, signal)),
      }),
      GetCollection: ({ caller, params }) => ({
        collection: collectionToWire(collections.get(caller.tenant, params.name)),
      }),
      DeleteCollection: ({ caller, params }) => {
        collections.remove(caller, params.name);
        return { success: true };
      },
      SetupPgVector: () => ({ success: true, message: SETUP }),
      GetMemoryAnalytics: ({ caller, body }) => reports.of(caller.tenant, body),
    }),
    ...implement(memoryDocuments, {
      AddDocuments: ({ caller, params, body, signal }) =>
        counted('store', caller, params.collectionName, () =>
          documents.add(caller, params.collectionName, body, signal),
        ),
      DeleteDocument: ({ caller, params }) =>
        counted('delete', caller, params.collectionName, () => {
          documents.remove(caller, params.collectionName, params.documentId);
          return { success: true };
        }),
      QueryCollection: ({ caller, params, body, signal }) =>
        counted('query', caller, params.collectionName, async () => ({
          results: (await documents.query(caller, params.collectionName, body, signal)).map(resultToWire),
        })),
    }),
  ];
}

function resultToWire({ documentId, text, position, score, metadata, rank, foundBy }: FoundChunk) {
  return {
    documentId,
    chunkText: text,
    chunkIndex: position,
    score,
    metadata: { ...metadata },
    rank,
    foundBy,
  };
}
