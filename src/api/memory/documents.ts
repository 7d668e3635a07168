import { endpoint, type Group } from '../endpoint.ts';
import { ids, int32, model, oneOf, stringMap, t } from '../schema.ts';

/** A text to be stored, with metadata to filter by. */
export const Document = model('Document', {
  content: t.String(),
  metadata: stringMap(),
  source: t.String(),
  id: t.String({ description: 'Made of the document when absent. One whose id is there takes its place.' }),
});

/** A chunk that was found, and how near it is. */
export const SearchResult = model('SearchResult', {
  documentId: t.String(),
  chunkText: t.String(),
  chunkIndex: int32(),
  score: t.Number(),
  metadata: stringMap(),
  rank: int32({ description: 'Place by meaning and words together, from 1.' }),
  foundBy: oneOf('meaning', 'words', 'both'),
});

const MB = 1024 * 1024;
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
      chunkSize: int32({ description: 'Characters of a chunk; 1000 when absent.' }),
    }),
    bodyLimit: 16 * MB,
    response: model('AddDocumentsResponse', { documentIds: t.Array(t.String()), chunksCreated: int32() }),
    access: 'member',
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
      mode: oneOf('hybrid', 'vector', 'text'),
    }),
    response: model('QueryCollectionResponse', { results: t.Array(SearchResult) }),
    access: 'member',
  }),
} satisfies Group;
