import type { Adapter, RawAnswer, Upstream, WholeChat } from '../../upstream/adapter.ts';
import { refused } from '../../upstream/refused.ts';
import type { ChatChunk, ChatRequest } from '../../wire/chat.ts';
import { usageOf } from '../../wire/chat-usage.ts';
import { eventBytes } from '../../wire/event-stream.ts';
import { streamOf } from '../../wire/stream-of.ts';
import type { TextRequest } from './text-request.ts';

/** A text completion by a provider that has only chat: the prompt is what the user says. Errors: UpstreamError. */
export async function completeOverChat(
  request: TextRequest,
  chat: NonNullable<Adapter['chat']>,
  upstream: Upstream,
): Promise<RawAnswer> {
  const prompt = promptOf(request);
  const before = request.echo ? prompt : '';
  const answer = await chat(chatRequest(request, prompt), upstream);
  if (answer.kind === 'whole') return wholeText(answer, before);
  const headers = new Headers(answer.headers);
  headers.set('content-type', 'text/event-stream; charset=utf-8');
  return { headers, body: streamOf(eventsOf(answer.chunks, before)) };
}

/** The one text to go on from. Errors: UpstreamError of kind request for what chat has no word for. */
function promptOf({ prompt, suffix, logprobs, best_of, n }: TextRequest): string {
  if (suffix) throw refused('suffix', 'cannot be given to a model that only chats');
  if (typeof logprobs === 'number') throw refused('logprobs', 'cannot be had of a model that only chats');
  if (best_of && best_of > (n ?? 1))
    throw refused('best_of', 'cannot be more than n for a model that only chats');
  const texts = Array.isArray(prompt) ? prompt : [prompt];
  const [text] = texts;
  if (texts.length !== 1) throw refused('prompt', 'must be one text for a model that only chats');
  if (typeof text !== 'string')
    throw refused('prompt', 'must be a text, not token numbers, for a model that only chats');
  return text;
}

function chatRequest(request: TextRequest, prompt: string): ChatRequest {
  const {
    prompt: _prompt,
    suffix: _suffix,
    echo: _echo,
    best_of: _best,
    logprobs: _logprobs,
    ...same
  } = request;
  return { ...same, messages: [{ role: 'user', content: prompt }] };
}

function wholeText({ completion, headers }: WholeChat, before: string): RawAnswer {
  const { id, created, model, choices, usage } = completion;
  const body = {
    id: textId(id),
    object: 'text_completion',
    created,
    model,
    choices: choices.map(({ index, message, finish_reason }) => ({
      index,
      text: before + (typeof message.content === 'string' ? message.content : ''),
      logprobs: null,
      finish_reason,
    })),
    usage,
  };
  const answered = new Headers(headers);
  answered.set('content-type', 'application/json');
  return { headers: answered, body: JSON.stringify(body), usage: usageOf(completion) };
}

async function* eventsOf(chunks: AsyncIterable<ChatChunk>, before: string): AsyncGenerator<Uint8Array> {
  const begun = new Set<number>();
  for await (const { id, created, model, choices, usage } of chunks) {
    const texts = choices.map(({ index, delta, finish_reason = null }) => {
      const text =
        (begun.has(index) ? '' : before) + (typeof delta.content === 'string' ? delta.content : '');
      begun.add(index);
      return { index, text, logprobs: null, finish_reason };
    });
    const isEmpty = texts.every(({ text, finish_reason }) => text === '' && finish_reason === null) && !usage;
    if (isEmpty) continue;
    const event = { id: textId(id), object: 'text_completion', created, model, choices: texts };
    yield eventBytes(JSON.stringify(usage ? { ...event, usage } : event));
  }
  yield eventBytes('[DONE]');
}

function textId(id: string): string {
  return id.replace(/^chat(?=cmpl)/, '');
}
