import type { Output } from '../../../../../src/api/endpoint.ts';
import type { rerank } from '../../../../../src/api/gateway/rerank.ts';
import type { RawAnswer, Upstream } from '../adapter.ts';
import { UpstreamError } from '../error.ts';
import { answerHeaders, parseJson } from './answer.ts';
import type { TextAnswer } from './bearer-json.ts';

type Ranking = Output<typeof rerank.Rerank>;

interface Score {
  readonly index: number;
  readonly relevance_score: number;
}

/** The order that a provider answers in `data` or `results` with `index` and `relevance_score`, as /v1/rerank tells it. */
export function rankingOf({ headers, text }: TextAnswer, model: string, { account }: Upstream): RawAnswer {
  const said = parseJson(text, account.name) as {
    readonly data?: readonly Score[];
    readonly results?: readonly Score[];
    readonly usage?: { readonly total_tokens?: number };
  };
  const scores = said.results ?? said.data;
  if (!Array.isArray(scores))
    throw new UpstreamError(
      'server',
      `The provider ${account.name} answered with no order of the documents.`,
    );
  const inputTokens = said.usage?.total_tokens ?? 0;
  const answer: Ranking = {
    model,
    results: (scores as readonly Score[]).map(({ index, relevance_score: relevanceScore }) => ({
      index,
      relevanceScore,
    })),
    meta: {
      version: '1',
      isBillable: true,
      billedUnits: { inputTokens, outputTokens: 0 },
      tokens: { inputTokens, outputTokens: 0 },
    },
  };
  return {
    headers: answerHeaders(headers, 'application/json'),
    body: JSON.stringify(answer),
    ...(said.usage ? { usage: { input: inputTokens, output: 0 } } : {}),
  };
}
