import type { RawAnswer, RelayRequest, Upstream } from '../adapter.ts';
import { JSON_HEADERS, readJson } from '../translate/answer.ts';
import {
  type EmbeddingWish,
  embeddingAnswer,
  embeddingWish,
  inGroups,
  type Vectors,
} from '../translate/embeddings.ts';
import type { GeminiPlace } from './chat.ts';
import { geminiFailure } from './failure.ts';

/** What one call of batchEmbedContents takes. */
const MOST_TEXTS = 100;

interface BatchAnswer {
  readonly embeddings?: readonly { readonly values?: readonly number[] }[];
  readonly usageMetadata?: { readonly promptTokenCount?: number };
}

/** Embeddings by batchEmbedContents. Errors: UpstreamError; cancelled. */
export async function embed(
  request: RelayRequest,
  upstream: Upstream,
  place: GeminiPlace,
): Promise<RawAnswer> {
  const wish = embeddingWish(request);
  const headers = { ...JSON_HEADERS, ...(await place.headers()) };
  const path = place.path(wish.model, 'batchEmbedContents');
  const vectors = await inGroups(wish.texts, MOST_TEXTS, async (texts) => {
    const body = JSON.stringify({ requests: texts.map((text) => entryOf(text, wish, request)) });
    const response = await upstream.fetch(path, { headers, body });
    if (!response.ok) throw await geminiFailure(response, upstream);
    return vectorsIn((await readJson(response, upstream)) as BatchAnswer);
  });
  return embeddingAnswer(wish, vectors, upstream.account.name);
}

function entryOf(text: string, { model, dimensions }: EmbeddingWish, { task_type }: RelayRequest) {
  const name = model.includes('/') ? model : `models/${model}`;
  return {
    model: name,
    content: { parts: [{ text }] },
    outputDimensionality: dimensions,
    taskType: task_type,
  };
}

function vectorsIn({ embeddings = [], usageMetadata }: BatchAnswer): Vectors {
  return { vectors: embeddings.map(({ values }) => values ?? []), tokens: usageMetadata?.promptTokenCount };
}
