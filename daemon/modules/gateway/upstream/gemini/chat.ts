import type { ChatRequest } from '../../wire/chat.ts';
import type { StreamedChat, Upstream, WholeChat } from '../adapter.ts';
import { JSON_HEADERS, parseJson, readJson } from '../translate/answer.ts';
import { overEvents, streamedChat, wholeChat } from '../translate/stream.ts';
import { geminiFailure } from './failure.ts';
import { GeminiReader } from './reader.ts';
import { toGemini } from './request.ts';

/** Where the models of this dialect are, and what opens the door. */
export interface GeminiPlace {
  /** The path of a model's method: `generateContent`, `streamGenerateContent`, `predict`... */
  path(model: string, method: string): string;
  headers(): Promise<Readonly<Record<string, string>>>;
}

/** Answers a chat completion by generateContent. Errors: UpstreamError; cancelled. */
export async function generate(
  request: ChatRequest,
  upstream: Upstream,
  place: GeminiPlace,
): Promise<WholeChat | StreamedChat> {
  const { name } = upstream.account;
  const body = JSON.stringify(toGemini(request));
  const method = request.stream ? 'streamGenerateContent?alt=sse' : 'generateContent';
  const headers = { ...JSON_HEADERS, ...(await place.headers()) };
  const response = await upstream.fetch(place.path(request.model, method), { headers, body });
  if (!response.ok) throw await geminiFailure(response, upstream);
  const reader = new GeminiReader(request.model, name);
  if (request.stream)
    return streamedChat(
      response,
      upstream,
      overEvents(reader, (text) => parseJson(text, name)),
    );
  const chunks = reader.read(await readJson(response, upstream));
  return wholeChat(response, [...chunks, ...reader.end()]);
}
