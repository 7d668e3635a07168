import { parseNested } from '../../../../../src/kit/nesting.ts';
import { piecesOf } from '../../wire/byte-source.ts';
import type { ChatChunk, ChatCompletion, ChatRequest } from '../../wire/chat.ts';
import type { Adapter, ByteSource, ModelInfo, StreamedChat, Upstream, WholeChat } from '../adapter.ts';
import { UpstreamError } from '../error.ts';
import { failedAnswer } from '../failed-answer.ts';
import { failedCall } from '../open.ts';
import { passHeaders } from '../pass-headers.ts';
import { failureWithoutSecrets } from '../secrets.ts';
import { readJson, readText } from '../translate/answer.ts';
import { isObject } from '../translate/content.ts';
import { EventData } from '../translate/sse.ts';
import { headersOf, pathOf } from './address.ts';
import { isJson, notThisDialect } from './answer.ts';
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
    return readModels(await readJson(response, upstream));
  },
};

const PATHS_CHAT = '/chat/completions';

/** Reads the answer to GET /models: `{data: [{id, created}]}`, or the list alone. Entries without an id are left out. */
export function readModels(body: unknown): ModelInfo[] {
  const data = Array.isArray(body) ? body : (body as { data?: unknown } | null)?.data;
  if (!Array.isArray(data)) throw new Error('the answer has no list "data"');
  return data.flatMap((item: { id?: unknown; created?: unknown } | null) =>
    typeof item?.id === 'string' && item.id !== ''
      ? [{ id: item.id, created: isTime(item.created) ? item.created : 0 }]
      : [],
  );
}

/** Whether it is a time of Unix in seconds that a Date can hold (ECMA-262, 21.4.1.1). */
function isTime(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 8.64e12;
}

/** The events of a stream of this dialect as objects. Errors: UpstreamError, also for an event that is an error. */
export async function* chunksIn(source: ByteSource, upstream: Upstream): AsyncGenerator<ChatChunk> {
  const events = new EventData();
  try {
    for await (const piece of piecesOf(source))
      for (const data of events.take(piece)) {
        if (data === '[DONE]') continue;
        const failure = failureIn(data, upstream.account.name);
        if (failure) throw failure;
        yield parseNested(data) as ChatChunk;
      }
  } catch (error) {
    const failure = failedCall(error, upstream.account.name, upstream.signal);
    throw failure instanceof UpstreamError ? failureWithoutSecrets(failure, upstream.key) : failure;
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
  const raw = await readText(response, upstream);
  return { kind: 'whole', headers: passHeaders(response.headers), raw, completion: parse(raw, upstream) };
}

function parse(text: string, { account }: Upstream): ChatCompletion {
  const said = failureIn(text, account.name);
  if (said) throw said;
  try {
    const value = parseNested(text) as ChatCompletion | null;
    if (Array.isArray(value?.choices) && value.choices.every((choice) => isObject(choice?.message)))
      return value;
  } catch {
    // Told below, with what is no completion for other reasons.
  }
  throw new UpstreamError('server', `The provider ${account.name} answered with no completion.`);
}
