import { endpoint, type Group } from '../endpoint.ts';
import { int32, model, struct, t } from '../schema.ts';

/** A document. */
export const RerankDocument = model('RerankDocument', { text: t.String() });

/** A document and how well it answers; `index` is its place in the request. */
export const RerankResult = model('RerankResult', {
  index: int32(),
  relevanceScore: t.Number(),
  document: t.String(),
});

/** What was billed. */
export const RerankBilledUnits = model('RerankBilledUnits', {
  searchUnits: int32(),
  inputTokens: int32(),
  outputTokens: int32(),
});

/** What was read and written. */
export const RerankTokens = model('RerankTokens', { inputTokens: int32(), outputTokens: int32() });

/** How the answer was made and what it took. */
export const RerankApiVersion = model('RerankApiVersion', {
  version: t.String(),
  isBillable: t.Boolean(),
  billedUnits: RerankBilledUnits,
  tokens: RerankTokens,
});

const here = { spec: 'gateway', tag: 'Reranking' } as const;

/** Ordering documents by how well they answer a query. */
export const rerank = {
  Rerank: endpoint({
    ...here,
    id: 'Rerank',
    method: 'POST',
    path: '/v1/rerank',
    summary: 'Order documents by how well they answer a query',
    body: model('RerankRequest', {
      model: t.String(),
      query: t.String(),
      documents: t.Array(t.String()),
      documentObjects: t.Array(RerankDocument),
      topN: int32({ minimum: 1, description: 'All when absent.' }),
      returnDocuments: t.Boolean(),
      maxTokensPerDoc: int32(),
      metadata: struct(),
    }),
    response: model('RerankResponse', {
      id: t.String(),
      model: t.String(),
      results: t.Array(RerankResult),
      meta: RerankApiVersion,
    }),
    access: 'member',
  }),
} satisfies Group;
