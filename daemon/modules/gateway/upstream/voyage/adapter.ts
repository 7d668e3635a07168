import type { Adapter, RelayRequest } from '../adapter.ts';
import { callWithBearer } from '../translate/bearer-json.ts';
import { embeddingWish } from '../translate/embeddings.ts';
import { rankingOf } from '../translate/ranking.ts';
import { withPromptTokens } from '../translate/total-usage.ts';

/** Voyage AI at `.../v1`: embeddings and reranking. It has no list of models. */
export const voyageAdapter: Adapter = {
  relay: {
    embeddings: async (request, upstream) =>
      withPromptTokens(await callWithBearer('/embeddings', embeddingsBody(request), upstream)),
    rerank: async (request, upstream) => {
      const { model, query, documents, topN } = request;
      const answer = await callWithBearer('/rerank', { model, query, documents, top_k: topN }, upstream);
      return rankingOf(answer, model, upstream);
    },
  },
};

/** Its word for dimensions is another one, `encoding_format` knows base64 alone, and callers have no names there. */
function embeddingsBody(request: RelayRequest): RelayRequest {
  const { texts, dimensions, base64 } = embeddingWish(request);
  const {
    input: _input,
    dimensions: _dimensions,
    encoding_format: _encoding,
    user: _user,
    ...same
  } = request;
  return {
    ...same,
    input: texts,
    ...(dimensions === undefined ? {} : { output_dimension: dimensions }),
    ...(base64 ? { encoding_format: 'base64' } : {}),
  };
}
