import type { RawAnswer, RelayRequest, Upstream } from '../adapter.ts';
import type { GeminiPlace } from '../gemini/chat.ts';
import { geminiFailure } from '../gemini/failure.ts';
import { JSON_HEADERS, readJson } from '../translate/answer.ts';
import { embeddingAnswer, embeddingWish, inGroups } from '../translate/embeddings.ts';

/** What one call takes: Gemini's own models take a single text. */
const MOST_TEXTS = 100;

interface Answer {
  readonly predictions?: readonly {
    readonly embeddings?: {
      readonly values?: readonly number[];
      readonly statistics?: { readonly token_count?: number };
    };
  }[];
}

/** Embeddings by predict. Errors: UpstreamError; cancelled. */
export async function embed(
  request: RelayRequest,
  upstream: Upstream,
  place: GeminiPlace,
): Promise<RawAnswer> {
  const wish = embeddingWish(request);
  const { task_type, auto_truncate: autoTruncate } = request;
  const headers = { ...JSON_HEADERS, ...(await place.headers()) };
  const size = wish.model.startsWith('gemini-') ? 1 : MOST_TEXTS;
  const vectors = await inGroups(wish.texts, size, async (texts) => {
    const instances = texts.map((content) => ({ content, task_type }));
    const body = JSON.stringify({
      instances,
      parameters: { outputDimensionality: wish.dimensions, autoTruncate },
    });
    const response = await upstream.fetch(place.path(wish.model, 'predict'), { headers, body });
    if (!response.ok) throw await geminiFailure(response, upstream);
    const found = (((await readJson(response, upstream)) as Answer).predictions ?? []).map(
      ({ embeddings }) => embeddings,
    );
    const counted = found.every((entry) => entry?.statistics?.token_count !== undefined);
    return {
      vectors: found.map((entry) => entry?.values ?? []),
      tokens: counted
        ? found.reduce((sum, entry) => sum + (entry?.statistics?.token_count ?? 0), 0)
        : undefined,
    };
  });
  return embeddingAnswer(wish, vectors, upstream.account.name);
}
