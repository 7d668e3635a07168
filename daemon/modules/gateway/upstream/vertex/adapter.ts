import type { Adapter, ModelInfo, Upstream } from '../adapter.ts';
import { anthropicAdapter } from '../anthropic/adapter.ts';
import { UpstreamError } from '../error.ts';
import { type GeminiPlace, generate } from '../gemini/chat.ts';
import { geminiFailure } from '../gemini/failure.ts';
import { JSON_HEADERS, readJson } from '../translate/answer.ts';
import { pathOf } from '../translate/path.ts';
import { onVertex } from './claude.ts';
import { embed } from './embeddings.ts';
import { accessHeaders, forgetToken } from './token.ts';

const MOST_PAGES = 20;
const PUBLISHERS = ['google', 'anthropic'] as const;

/** Vertex AI: the dialect of Gemini and, for Claude, that of Messages, in a project of Google Cloud. */
export const vertexAdapter: Adapter = {
  chat: (request, upstream) =>
    withToken(upstream, () =>
      isClaude(request.model)
        ? chatOf(anthropicAdapter)(request, onVertex(upstream, placeOf(upstream)))
        : generate(request, upstream, placeOf(upstream)),
    ),
  relay: {
    embeddings: (request, upstream) => withToken(upstream, () => embed(request, upstream, placeOf(upstream))),
  },
  models: (upstream) => withToken(upstream, () => listModels(upstream)),
};

function isClaude(model: string): boolean {
  return publisherOf(model) === 'anthropic';
}

function chatOf({ chat }: Adapter): NonNullable<Adapter['chat']> {
  if (!chat)
    throw new UpstreamError('request', 'This provider has no chat completions for Claude.', { status: 400 });
  return chat;
}

function publisherOf(model: string): string {
  const named = /^publishers\/([^/]+)\/models\//.exec(model)?.[1];
  return named ?? (model.startsWith('claude') ? 'anthropic' : 'google');
}

/** A token that is refused before its end was taken back: the next call gets a new one. */
async function withToken<A>(upstream: Upstream, work: () => Promise<A>): Promise<A> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof UpstreamError && error.kind === 'key') forgetToken(upstream);
    throw error;
  }
}

function placeOf(upstream: Upstream): GeminiPlace {
  const { project = '', location = 'global' } = upstream.account.settings;
  return {
    path(model, method) {
      const name = model.replace(/^publishers\/[^/]+\/models\//, '');
      const place = `/projects/${pathOf(project)}/locations/${pathOf(location)}`;
      return `${place}/publishers/${pathOf(publisherOf(model))}/models/${pathOf(name)}:${method}`;
    },
    headers: () => accessHeaders(upstream),
  };
}

interface Page {
  readonly publisherModels?: readonly { readonly name?: string }[];
  readonly nextPageToken?: string;
}

/** The list is kept beside the version that calls use. */
async function listModels(upstream: Upstream): Promise<ModelInfo[]> {
  const base = upstream.account.baseUrl.replace(/\/v1$/, '/v1beta1');
  const headers = { ...JSON_HEADERS, ...(await accessHeaders(upstream)) };
  const lists = await Promise.all(
    PUBLISHERS.map(async (publisher) => {
      const models: ModelInfo[] = [];
      let token: string | undefined;
      for (let page = 0; page < MOST_PAGES; page++) {
        const next = token ? `&pageToken=${encodeURIComponent(token)}` : '';
        const response = await upstream.fetch(`${base}/publishers/${publisher}/models?pageSize=1000${next}`, {
          headers,
        });
        if (!response.ok) throw await geminiFailure(response, upstream);
        const answer = (await readJson(response, upstream)) as Page;
        models.push(...(answer.publisherModels ?? []).flatMap(modelOf));
        token = answer.nextPageToken;
        if (!token) break;
      }
      return models;
    }),
  );
  return lists.flat();
}

function modelOf({ name }: NonNullable<Page['publisherModels']>[number]): ModelInfo[] {
  const id = name?.replace(/^publishers\/[^/]+\/models\//, '');
  return id && /^(gemini|claude|text-embedding|text-multilingual-embedding)/.test(id)
    ? [{ id, created: 0 }]
    : [];
}
