import type { Output } from '../../../../../src/api/endpoint.ts';
import type { rerank as declared } from '../../../../../src/api/gateway/rerank.ts';
import type { RawAnswer, RelayRequest, Upstream } from '../adapter.ts';
import { UpstreamError } from '../error.ts';
import { answerHeaders, readJson } from '../translate/answer.ts';
import { callCohere } from './call.ts';
import type { CohereCounts } from './wire.ts';

type Ranking = Output<typeof declared.Rerank>;

interface Answer {
  readonly id?: string;
  readonly results?: readonly { readonly index: number; readonly relevance_score: number }[];
  readonly meta?: {
    readonly api_version?: { readonly version?: string };
    readonly billed_units?: CohereCounts;
    readonly tokens?: CohereCounts;
  };
}

/** Reranks by Rerank v2; the request and the answer are those of /v1/rerank. Errors: UpstreamError; cancelled. */
export async function rerank(request: RelayRequest, upstream: Upstream): Promise<RawAnswer> {
  const { model, query, documents, topN: top_n, maxTokensPerDoc: max_tokens_per_doc } = request;
  const body = { model, query, documents, top_n, max_tokens_per_doc };
  const response = await callCohere(upstream, '/v2/rerank', body);
  const { id, results, meta } = (await readJson(response, upstream)) as Answer;
  if (!Array.isArray(results))
    throw new UpstreamError('server', `The provider ${upstream.account.name} answered without results.`);
  const scores = results as NonNullable<Answer['results']>;
  const answer: Ranking = {
    id,
    model,
    results: scores.map(({ index, relevance_score: relevanceScore }) => ({ index, relevanceScore })),
    meta: metaOf(meta),
  };
  const { search_units: searchUnits, input_tokens, output_tokens } = meta?.billed_units ?? {};
  const usage = { input: input_tokens ?? 0, output: output_tokens ?? 0, searchUnits };
  return {
    headers: answerHeaders(response.headers, 'application/json'),
    body: JSON.stringify(answer),
    usage,
  };
}

function metaOf({ api_version, billed_units, tokens }: NonNullable<Answer['meta']> = {}) {
  const billed = billed_units ?? {};
  return {
    version: api_version?.version ?? '2',
    isBillable: billed_units !== undefined,
    billedUnits: {
      searchUnits: billed.search_units ?? 0,
      inputTokens: billed.input_tokens ?? 0,
      outputTokens: billed.output_tokens ?? 0,
    },
    tokens: { inputTokens: tokens?.input_tokens ?? 0, outputTokens: tokens?.output_tokens ?? 0 },
  };
}
