import type { ChatRequest } from '../../wire/chat.ts';
import type { Adapter, ModelInfo, StreamedChat, Upstream, WholeChat } from '../adapter.ts';
import { parseJson, readJson } from '../translate/answer.ts';
import { overEvents, streamedChat, wholeChat } from '../translate/stream.ts';
import { callCohere } from './call.ts';
import { embed } from './embeddings.ts';
import { CohereReader } from './reader.ts';
import { toCohere } from './request.ts';
import { rerank } from './rerank.ts';
import type { CohereAnswer } from './wire.ts';

const MOST_PAGES = 20;

/** Cohere: Chat v2, Embed v2 and Rerank v2. */
export const cohereAdapter: Adapter = { chat, relay: { embeddings: embed, rerank }, models: listModels };

async function chat(request: ChatRequest, upstream: Upstream): Promise<WholeChat | StreamedChat> {
  const { name } = upstream.account;
  const response = await callCohere(upstream, '/v2/chat', toCohere(request));
  const reader = new CohereReader(request.model, name);
  if (request.stream)
    return streamedChat(
      response,
      upstream,
      overEvents(reader, (text) => parseJson(text, name)),
    );
  return wholeChat(response, reader.whole((await readJson(response, upstream)) as CohereAnswer));
}

interface Page {
  readonly models?: readonly { readonly name?: string; readonly is_deprecated?: boolean }[];
  readonly next_page_token?: string;
}

async function listModels(upstream: Upstream): Promise<ModelInfo[]> {
  const models: ModelInfo[] = [];
  let token: string | undefined;
  for (let page = 0; page < MOST_PAGES; page++) {
    const next = token ? `&page_token=${encodeURIComponent(token)}` : '';
    const answer = (await readJson(
      await callCohere(upstream, `/v1/models?page_size=1000${next}`),
      upstream,
    )) as Page;
    models.push(
      ...(answer.models ?? []).flatMap(({ name, is_deprecated }) =>
        name && !is_deprecated ? [{ id: name, created: 0 }] : [],
      ),
    );
    token = answer.next_page_token;
    if (!token) break;
  }
  return models;
}
