import type { RawAnswer, RelayRequest, Upstream } from '../adapter.ts';
import { refused } from '../refused.ts';
import { readJson } from '../translate/answer.ts';
import {
  type EmbeddingWish,
  embeddingAnswer,
  embeddingWish,
  inGroups,
  type Vectors,
} from '../translate/embeddings.ts';
import { callModel } from './call.ts';

/** What one call of a Cohere model takes; one of a Titan model takes a single text. */
const MOST_TEXTS = 96;
const TOKEN_COUNT = 'x-amzn-bedrock-input-token-count';

/** Embeddings by InvokeModel, whose bodies are the model's own. Errors: UpstreamError; cancelled. */
export async function embed(request: RelayRequest, upstream: Upstream): Promise<RawAnswer> {
  const wish = embeddingWish(request);
  const isCohere = wish.model.includes('cohere.embed');
  if (!isCohere && !wish.model.includes('amazon.titan-embed'))
    throw refused('model', 'must be one with embeddings here: of Titan or of Cohere');
  const ask = isCohere
    ? (texts: readonly string[]) => byCohere(texts, wish, request, upstream)
    : (texts: readonly string[]) => byTitan(texts[0] ?? '', wish, upstream);
  const vectors = await inGroups(wish.texts, isCohere ? MOST_TEXTS : 1, ask);
  return embeddingAnswer(wish, vectors, upstream.account.name);
}

async function byTitan(
  inputText: string,
  { model, dimensions }: EmbeddingWish,
  upstream: Upstream,
): Promise<Vectors> {
  const response = await callModel(upstream, model, 'invoke', { inputText, dimensions });
  const answer = (await readJson(response, upstream)) as {
    embedding?: number[];
    inputTextTokenCount?: number;
  };
  return { vectors: answer.embedding ? [answer.embedding] : [], tokens: answer.inputTextTokenCount };
}

async function byCohere(
  texts: readonly string[],
  { model, dimensions }: EmbeddingWish,
  { input_type = 'search_document', truncate }: RelayRequest,
  upstream: Upstream,
): Promise<Vectors> {
  const body = { texts, input_type, truncate, embedding_types: ['float'], output_dimension: dimensions };
  const response = await callModel(upstream, model, 'invoke', body);
  const { embeddings } = (await readJson(response, upstream)) as {
    embeddings?: number[][] | { float?: number[][] };
  };
  const tokens = response.headers.get(TOKEN_COUNT);
  const vectors = Array.isArray(embeddings) ? embeddings : (embeddings?.float ?? []);
  return { vectors, tokens: tokens === null ? undefined : Number(tokens) };
}
