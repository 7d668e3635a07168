import type { Adapter, RelayRequest } from '../adapter.ts';
import { callWithBearer } from '../translate/bearer-json.ts';
import { embeddingWish } from '../translate/embeddings.ts';
import { rankingOf } from '../translate/ranking.ts';
import { withPromptTokens } from '../translate/total-usage.ts';

/** Jina AI at `.../v1`: embeddings and reranking. It has no list of models. */
export const jinaAdapter: Adapter = {
  relay: {
    embeddings: async (request, upstream) =>
      withPromptTokens(await callWithBearer('/embeddings', embeddingsBody(request), upstream)),
    rerank: async (request, upstream) => {
      const { model, query, documents, topN } = request;
      const body = { model, query, documents, top_n: topN, return_documents: false };
      return rankingOf(await callWithBearer('/rerank', body, upstream), model, upstream);
    },
  },
};

/** Its word for the encoding is `embedding_type`, and callers have no names there. */
function embeddingsBody(request: RelayRequest): RelayRequest {
  const { texts, base64 } = embeddingWish(request);
  const { input: _input, encoding_format: _encoding, user: _user, ...same } = request;
  return { ...same, input: texts, embedding_type: base64 ? 'base64' : 'float' };
}
