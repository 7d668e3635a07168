import type { RawAnswer, RelayRequest, Upstream } from '../adapter.ts';
import { readJson } from '../translate/answer.ts';
import { embeddingAnswer, embeddingWish, inGroups } from '../translate/embeddings.ts';
import { callCohere } from './call.ts';
import type { CohereCounts } from './wire.ts';

/** What one call of Embed v2 takes. */
const MOST_TEXTS = 96;

interface Answer {
  readonly embeddings?: { readonly float?: number[][] };
  readonly meta?: { readonly billed_units?: CohereCounts };
}

/** Embeddings by Embed v2; what they are for is `input_type`, documents when absent. Errors: UpstreamError; cancelled. */
export async function embed(request: RelayRequest, upstream: Upstream): Promise<RawAnswer> {
  const wish = embeddingWish(request);
  const { input_type = 'search_document', truncate } = request;
  const vectors = await inGroups(wish.texts, MOST_TEXTS, async (texts) => {
    const body = {
      model: wish.model,
      texts,
      input_type,
      truncate,
      embedding_types: ['float'],
      output_dimension: wish.dimensions,
    };
    const { embeddings, meta } = (await readJson(
      await callCohere(upstream, '/v2/embed', body),
      upstream,
    )) as Answer;
    return { vectors: embeddings?.float ?? [], tokens: meta?.billed_units?.input_tokens };
  });
  return embeddingAnswer(wish, vectors, upstream.account.name);
}
