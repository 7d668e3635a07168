import { endpoint, type Group } from '../endpoint.ts';
import { fields, ids, int32, model, stringMap, t, timestamp } from '../schema.ts';

/** A collection of documents that are searched by meaning. */
export const Collection = model('Collection', {
  id: t.String(),
  tenantId: t.String(),
  name: t.String(),
  description: t.String(),
  embeddingModel: t.String({ description: 'Empty where recall is by words alone.' }),
  embeddingDimension: int32(),
  distanceMetric: t.String({ description: 'cosine, l2 or dot.' }),
  documentCount: int32(),
  metadata: stringMap(),
  createdAt: timestamp(),
  updatedAt: timestamp(),
});

/** The uses of memory in a span of time. */
export const AnalyticsBucket = model('AnalyticsBucket', {
  timestamp: t.String(),
  queryCount: int32(),
  storeCount: int32(),
  deleteCount: int32(),
  errorCount: int32(),
  avgLatencyMs: t.Number(),
});

/** The uses of one collection. */
export const CollectionStat = model('CollectionStat', { collectionName: t.String(), requestCount: int32() });

const here = { spec: 'memory', tag: 'Memory collections' } as const;

/** Collections of documents that are searched by meaning. */
export const memoryCollections = {
  ListCollections: endpoint({
    ...here,
    id: 'ListCollections',
    method: 'GET',
    path: '/v1/memory/collections',
    summary: 'List the collections',
    query: fields({ tenantId: t.String() }),
    response: model('ListCollectionsResponse', { collections: t.Array(Collection) }),
    access: 'viewer',
  }),
  CreateCollection: endpoint({
    ...here,
    id: 'CreateCollection',
    method: 'POST',
    path: '/v1/memory/collections',
    summary: 'Create a collection',
    body: model('CreateCollectionRequest', {
      tenantId: t.String(),
      name: t.String(),
      description: t.String(),
      embeddingModel: t.String(),
      embeddingDimension: int32(),
      distanceMetric: t.String(),
      metadata: stringMap(),
    }),
    response: model('CreateCollectionResponse', { collection: Collection }),
    access: 'member',
  }),
  GetCollection: endpoint({
    ...here,
    id: 'GetCollection',
    method: 'GET',
    path: '/v1/memory/collections/{name}',
    summary: 'Get a collection',
    params: ids('name'),
    query: fields({ tenantId: t.String() }),
    response: model('GetCollectionResponse', { collection: Collection }),
    access: 'viewer',
  }),
  DeleteCollection: endpoint({
    ...here,
    id: 'DeleteCollection',
    method: 'DELETE',
    path: '/v1/memory/collections/{name}',
    summary: 'Delete a collection and its documents',
    params: ids('name'),
    query: fields({ tenantId: t.String() }),
    response: model('DeleteCollectionResponse', { success: t.Boolean() }),
    access: 'member',
  }),
  SetupPgVector: endpoint({
    ...here,
    id: 'SetupPgVector',
    method: 'POST',
    path: '/v1/memory/setup',
    summary: 'Prepare the store of vectors',
    body: model('SetupPgVectorRequest', {}),
    response: model('SetupPgVectorResponse', { success: t.Boolean(), message: t.String() }),
    access: 'admin',
  }),
  GetMemoryAnalytics: endpoint({
    ...here,
    id: 'GetMemoryAnalytics',
    method: 'POST',
    path: '/v1/memory/analytics',
    summary: 'Count the uses of memory over time',
    body: model('GetMemoryAnalyticsRequest', { tenantId: t.String(), from: t.String(), to: t.String() }),
    response: model('GetMemoryAnalyticsResponse', {
      buckets: t.Array(AnalyticsBucket),
      totalRequests: int32(),
      totalErrors: int32(),
      avgLatencyMs: t.Number(),
      topCollections: t.Array(CollectionStat),
    }),
    access: 'viewer',
  }),
} satisfies Group;
