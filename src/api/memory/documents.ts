import { endpoint, type Group } from '../endpoint.ts';
import { ids, int32, model, stringMap, t } from '../schema.ts';

/** A text to be stored, with metadata to filter by. */
export const Document = model('Document', { content: t.String(), metadata: stringMap(), source: t.String() });

/** A chunk that was found, and how near it is. */
export const SearchResult = model('SearchResult', {
  documentId: t.String(),
  chunkText: t.String(),
  chunkIndex: int32(),
  score: t.Number(),
  metadata: stringMap(),
});

const here = { spec: 'memory', tag: 'Memory documents' } as const;

/** The documents of a collection. */
export const memoryDocuments = {
  AddDocuments: endpoint({
    ...here,
    id: 'AddDocuments',
    method: 'POST',
    path: '/v1/memory/collections/{collectionName}/documents',
    summary: 'Cut documents into chunks and store them',
    params: ids('collectionName'),
    body: model('MemoryServiceAddDocumentsBody', {
      tenantId: t.String(),
      documents: t.Array(Document),
      chunkSize: int32(),
    }),
    response: model('AddDocumentsResponse', { documentIds: t.Array(t.String()), chunksCreated: int32() }),
    access: 'member',
    unbuilt: true,
  }),
  DeleteDocument: endpoint({
    ...here,
    id: 'DeleteDocument',
    method: 'DELETE',
    path: '/v1/memory/collections/{collectionName}/documents/{documentId}',
    summary: 'Delete a document',
    params: ids('collectionName', 'documentId'),
    response: model('DeleteDocumentResponse', { success: t.Boolean() }),
    access: 'member',
    unbuilt: true,
  }),
  QueryCollection: endpoint({
    ...here,
    id: 'QueryCollection',
    method: 'POST',
    path: '/v1/memory/collections/{collectionName}/query',
    summary: 'Find the chunks nearest to a text',
    params: ids('collectionName'),
    body: model('MemoryServiceQueryCollectionBody', {
      tenantId: t.String(),
      query: t.String(),
      topK: int32({ minimum: 1, description: '10 when absent.' }),
      minScore: t.Number({ minimum: 0, maximum: 1 }),
      metadataFilter: stringMap(),
    }),
    response: model('QueryCollectionResponse', { results: t.Array(SearchResult) }),
    access: 'viewer',
    unbuilt: true,
  }),
} satisfies Group;
