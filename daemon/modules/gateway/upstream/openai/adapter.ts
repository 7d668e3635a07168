import { SseParser } from '../../../../../src/client/sse.ts';
import { piecesOf } from '../../wire/byte-source.ts';
import type { ChatChunk, ChatCompletion, ChatRequest } from '../../wire/chat.ts';
import type { Adapter, ByteSource, ModelInfo, StreamedChat, Upstream, WholeChat } from '../adapter.ts';
import { UpstreamError } from '../error.ts';
import { failedAnswer } from '../failed-answer.ts';
import { failedCall } from '../open.ts';
import { passHeaders } from '../pass-headers.ts';
import { headersOf, pathOf } from './address.ts';
import { isJson, notThisDialect, textOf } from './answer.ts';
import { failureIn, untilContent } from './first-content.ts';
import { plainRequest } from './plain.ts';
import { openaiRelay } from './relay.ts';
import { reportsUsage } from './stream-usage.ts';

/** Providers of the chat-completions family, Azure's among them: bytes pass, only the model's name is rewritten. */
export const openaiAdapter: Adapter = {
  async chat(request, upstream) {
    const plain = plainRequest(request, upstream.account);
    const response = await post(PATHS_CHAT, reportsUsage(plain, upstream), upstream);
    const type = response.headers.get('content-type') ?? '';
    if (type.startsWith('text/event-stream')) return streamed(response, upstream);
    if (isJson(type)) return whole(response, upstream);
    await response.body?.cancel();
    throw notThisDialect(upstream, type);
  },
  relay: openaiRelay,
  async models(upstream) {
    const response = await upstream.fetch(pathOf('/models', upstream), { headers: headersOf(upstream) });
    if (!response.ok) throw await failedAnswer(response, upstream);
    return readModels(await response.json());
  },
};

const PATHS_CHAT = '/chat/completions';

/** Reads the answer to GET /models: `{data: [{id, created}]}`, or the list alone. Entries without an id are left out. */
export function readModels(body: unknown): ModelInfo[] {
  const data = Array.isArray(body) ? body : (body as { data?: unknown } | null)?.data;
  if (!Array.isArray(data)) throw new Error('the answer has no list "data"');
  return data.flatMap((item: { id?: unknown; created?: unknown } | null) =>
    typeof item?.id === 'string' && item.id !== ''
      ? [{ id: item.id, created: Number.isInteger(item.created) ? Number(item.created) : 0 }]
      : [],
  );
}

/** The events of a stream of this dialect as objects. Errors: UpstreamError, also for an event that is an error. */
export async function* chunksIn(source: ByteSource, upstream: Upstream): AsyncGenerator<ChatChunk> {
  const parser = new SseParser();
  const decoder = new TextDecoder();
  try {
    for await (const piece of piecesOf(source))
      for (const { data } of parser.push(decoder.decode(piece, { stream: true }))) {
        if (data === '[DONE]') continue;
        const failure = failureIn(data, upstream.account.name);
        if (failure) throw failure;
        yield JSON.parse(data) as ChatChunk;
      }
  } catch (error) {
    throw failedCall(error, upstream.account.name, upstream.signal);
  }
}

async function post(path: string, request: ChatRequest, upstream: Upstream): Promise<Response> {
  const response = await upstream.fetch(pathOf(path, upstream, request.model), {
    headers: headersOf(upstream, 'application/json'),
    body: JSON.stringify(request),
  });
  if (response.ok) return response;
  throw await failedAnswer(response, upstream);
}

async function streamed(response: Response, upstream: Upstream): Promise<StreamedChat> {
  if (!response.body) throw notThisDialect(upstream, 'an empty stream');
  const raw = await untilContent(response.body.getReader(), upstream.account.name).catch((error: unknown) => {
    throw failedCall(error, upstream.account.name, upstream.signal);
  });
  return { kind: 'stream', headers: passHeaders(response.headers), raw, chunks: chunksIn(raw, upstream) };
}

async function whole(response: Response, upstream: Upstream): Promise<WholeChat> {
  const raw = await textOf(response, upstream);
  return { kind: 'whole', headers: passHeaders(response.headers), raw, completion: parse(raw, upstream) };
}

function parse(text: string, { account }: Upstream): ChatCompletion {
  const said = failureIn(text, account.name);
  if (said) throw said;
  try {
    const value = JSON.parse(text) as ChatCompletion | null;
    if (Array.isArray(value?.choices)) return value;
  } catch {
    // Told below, with what is no completion for other reasons.
  }
  throw new UpstreamError('server', `The provider ${account.name} answered with no completion.`);
}
