import type { Adapter, ByteSource, PassedHeaders, RawAnswer, Upstream } from '../../upstream/adapter.ts';
import { UpstreamError } from '../../upstream/error.ts';
import { parseJson } from '../../upstream/translate/answer.ts';
import type { ChatChunk } from '../../wire/chat.ts';
import type { MessagesMessage, MessagesRequest } from '../../wire/messages.ts';
import { withoutOthersThoughts } from './carried.ts';
import { toChatRequest } from './chat-request.ts';
import { untilContent } from './first-content.ts';
import { toMessage } from './message.ts';
import { tasteOf } from './taste.ts';

/** How an upstream has answered a request for a message. */
export type MessagesAnswer =
  /** Whole: as text, and as what the text says. */
  | {
      readonly kind: 'whole';
      readonly headers: Headers;
      readonly body: string;
      readonly message: MessagesMessage;
    }
  /** As bytes of this dialect, which stream. */
  | { readonly kind: 'relayed'; readonly headers: Headers; readonly source: ByteSource }
  /** As chunks of a chat completion, which stream. */
  | { readonly kind: 'chunks'; readonly headers: Headers; readonly chunks: AsyncIterable<ChatChunk> };

const JSON_ANSWER = { 'content-type': 'application/json' };

/** Whether a provider can answer with messages, itself or translated. */
export function canAnswer({ relay, chat }: Adapter): boolean {
  return relay?.messages !== undefined || chat !== undefined;
}

/**
 * Sends a request to one upstream: as it is where that one speaks this dialect, else as a chat completion. The first content has come
 * when it answers. Errors: UpstreamError; cancelled.
 */
export async function send(
  request: MessagesRequest,
  adapter: Adapter,
  upstream: Upstream,
  passed: PassedHeaders,
): Promise<MessagesAnswer> {
  const relay = adapter.relay?.messages;
  if (relay) return received(await relay(withoutOthersThoughts(request), upstream, passed), upstream);
  if (!adapter.chat)
    throw new UpstreamError('request', 'This provider answers neither messages nor chat completions.');
  const answer = await adapter.chat(toChatRequest(request, tasteOf(upstream.account)), upstream);
  if (answer.kind === 'stream')
    return { kind: 'chunks', headers: othersHeaders(answer.headers), chunks: answer.chunks };
  const message = toMessage(answer.completion);
  return { kind: 'whole', headers: othersHeaders(answer.headers), body: JSON.stringify(message), message };
}

async function received({ headers, body }: RawAnswer, upstream: Upstream): Promise<MessagesAnswer> {
  if (body instanceof ReadableStream)
    return { kind: 'relayed', headers, source: await untilContent(body.getReader(), upstream) };
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body);
  const { name } = upstream.account;
  const message = parseJson(text, name) as MessagesMessage | null;
  if (!Array.isArray(message?.content))
    throw new UpstreamError('server', `The provider ${name} answered with no message.`);
  return { kind: 'whole', headers, body: text, message };
}

/** Headers of a translated answer: what they say of its encoding is not true of the translation. */
function othersHeaders(headers: Headers): Headers {
  const others = new Headers(headers);
  others.delete('content-encoding');
  others.set('content-type', JSON_ANSWER['content-type']);
  return others;
}
