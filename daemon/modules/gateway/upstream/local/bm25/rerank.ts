import type { Output } from '../../../../../../src/api/endpoint.ts';
import type { rerank as contract } from '../../../../../../src/api/gateway/rerank.ts';
import type { RawAnswer, RelayRequest, Upstream } from '../../adapter.ts';
import { failedCall } from '../../open.ts';
import { refused } from '../../refused.ts';
import { bm25 } from './rank.ts';

/** The name of the one reranker of this provider: `local/bm25`. */
export const BM25 = 'bm25';

const MOST_QUERY_CHARS = 8192;

/**
 * Reranks by words alone, without a model, a key or a network (rank.ts). Its tokens are words. Errors: UpstreamError for another
 * model and for a query that is too long; cancelled.
 */
export async function rerankByWords(
  request: RelayRequest,
  { account, signal }: Upstream,
): Promise<RawAnswer> {
  const { model, query, documents, maxTokensPerDoc } = request;
  if (model !== BM25) throw refused('model', `there is no reranker local/${model}; take local/${BM25}`);
  if (String(query).length > MOST_QUERY_CHARS)
    throw refused('query', `is longer than ${MOST_QUERY_CHARS} characters`);
  const mostWords = typeof maxTokensPerDoc === 'number' ? maxTokensPerDoc : undefined;
  const { scores, words } = await bm25(String(query), documents as readonly string[], {
    mostWords,
    signal,
  }).catch((error: unknown) => {
    throw signal.aborted ? failedCall(error, account.name, signal) : error;
  });
  const answer: Output<typeof contract.Rerank> = {
    model: `${account.name}/${BM25}`,
    results: [...scores],
    meta: {
      version: 'bm25-1',
      isBillable: false,
      billedUnits: { searchUnits: 0, inputTokens: 0, outputTokens: 0 },
      tokens: { inputTokens: words, outputTokens: 0 },
    },
  };
  return {
    headers: new Headers({ 'content-type': 'application/json' }),
    body: JSON.stringify(answer),
    usage: { input: words, output: 0 },
  };
}
