import type { Output } from '../../../../../src/api/endpoint.ts';
import type { rerank } from '../../../../../src/api/gateway/rerank.ts';
import { parseNested } from '../../../../../src/kit/nesting.ts';
import type { ModelCall } from '../../pipeline/call.ts';
import type { Pipeline, SurfaceWork } from '../../pipeline/pipeline.ts';
import type { RawAnswer } from '../../upstream/adapter.ts';
import { UpstreamError } from '../../upstream/error.ts';
import type { Usage } from '../../wire/usage.ts';
import { answerRaw, type RawReading } from '../raw-answer.ts';
import { relayWork } from '../relay-work.ts';
import type { RerankRequest } from './request.ts';

/** An order of documents, in the native format. */
export type Ranking = Output<typeof rerank.Rerank>;

const relaying = relayWork<RerankRequest>('rerank');

const work: SurfaceWork<RerankRequest, RawAnswer> = {
  can: relaying.can,
  async send(request, adapter, upstream) {
    const answer = await relaying.send(request, adapter, upstream);
    const text = typeof answer.body === 'string' ? answer.body : await new Response(answer.body).text();
    const ranking = inOrder(text, request, upstream.account.name);
    return {
      ...answer,
      body: JSON.stringify({ ...ranking, model: `${upstream.account.name}/${request.model}` }),
    };
  },
};

const reading: RawReading<RerankRequest> = {
  took(text): Usage | undefined {
    const { meta } = parseNested(text) as Ranking;
    const tokens = meta?.tokens ?? meta?.billedUnits;
    const searchUnits = meta?.billedUnits?.searchUnits;
    if (tokens?.inputTokens === undefined && searchUnits === undefined) return undefined;
    const counted = { input: tokens?.inputTokens ?? 0, output: tokens?.outputTokens ?? 0 };
    return searchUnits === undefined ? counted : { ...counted, searchUnits };
  },
};

/** Reranking: the order of documents by how well they answer a query. */
export class RerankSurface {
  constructor(private readonly pipeline: Pipeline) {}

  /** Answers a request; `answerHeaders` get what says how it came about. Errors: as Pipeline.run. */
  async rank(call: ModelCall<RerankRequest>, answerHeaders: Headers): Promise<Ranking> {
    const response = await answerRaw(this.pipeline, call, work, reading);
    for (const [name, value] of response.headers) if (name !== 'content-type') answerHeaders.set(name, value);
    const { id = call.requestId, ...ranking } = (await response.json()) as Ranking;
    return { id, ...ranking };
  }
}

/**
 * The best first, ties by their place in the request; as many as were asked for; with their texts if those were. Errors:
 * UpstreamError of kind server when the places are not those of documents.
 */
function inOrder(
  text: string,
  { documents, topN, returnDocuments }: RerankRequest,
  provider: string,
): Ranking {
  const ranking = parse(text, provider);
  const results = (ranking.results ?? [])
    .map(({ index = -1, relevanceScore = 0 }) => ({ index, relevanceScore }))
    .toSorted((a, b) => b.relevanceScore - a.relevanceScore || a.index - b.index)
    .slice(0, topN);
  if (results.some(({ index }) => documents[index] === undefined)) throw nonsense(provider);
  return {
    ...ranking,
    results: returnDocuments
      ? results.map((result) => ({ ...result, document: documents[result.index] }))
      : results,
  };
}

function parse(text: string, provider: string): Ranking {
  try {
    const ranking = parseNested(text) as Ranking;
    if (Array.isArray(ranking.results)) return ranking;
  } catch {
    // Told below, with what has no results.
  }
  throw nonsense(provider);
}

function nonsense(provider: string): UpstreamError {
  return new UpstreamError('server', `The provider ${provider} answered with no order of the documents.`);
}
