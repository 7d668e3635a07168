import type { Adapter, ModelInfo, Upstream } from '../adapter.ts';
import { JSON_HEADERS, readJson } from '../translate/answer.ts';
import { pathOf } from '../translate/path.ts';
import { type GeminiPlace, generate } from './chat.ts';
import { embed } from './embeddings.ts';
import { geminiFailure } from './failure.ts';

const MOST_PAGES = 20;

/** The Gemini API at `.../v1beta`. Its key goes in a header, because addresses end up in logs. */
export const geminiAdapter: Adapter = {
  chat: (request, upstream) => generate(request, upstream, placeOf(upstream)),
  relay: { embeddings: (request, upstream) => embed(request, upstream, placeOf(upstream)) },
  models: listModels,
};

function placeOf({ key }: Upstream): GeminiPlace {
  return {
    path: (model, method) => `/${pathOf(model.includes('/') ? model : `models/${model}`)}:${method}`,
    headers: async (): Promise<Record<string, string>> => (key ? { 'x-goog-api-key': key.secret } : {}),
  };
}

interface Page {
  readonly models?: readonly {
    readonly name?: string;
    readonly supportedGenerationMethods?: readonly string[];
  }[];
  readonly nextPageToken?: string;
}

const CALLED = new Set(['generateContent', 'embedContent', 'batchEmbedContents']);

async function listModels(upstream: Upstream): Promise<ModelInfo[]> {
  const models: ModelInfo[] = [];
  let token: string | undefined;
  for (let page = 0; page < MOST_PAGES; page++) {
    const next = token ? `&pageToken=${encodeURIComponent(token)}` : '';
    const headers = { ...JSON_HEADERS, ...(await placeOf(upstream).headers()) };
    const response = await upstream.fetch(`/models?pageSize=1000${next}`, { headers });
    if (!response.ok) throw await geminiFailure(response, upstream);
    const answer = (await readJson(response, upstream)) as Page;
    models.push(...(answer.models ?? []).flatMap(modelOf));
    token = answer.nextPageToken;
    if (!token) break;
  }
  return models;
}

function modelOf({
  name,
  supportedGenerationMethods = [],
}: NonNullable<Page['models']>[number]): ModelInfo[] {
  if (!name || !supportedGenerationMethods.some((method) => CALLED.has(method))) return [];
  return [{ id: name.replace(/^models\//, ''), created: 0 }];
}
