import { newId } from '../../../../../src/kit/id.ts';
import type { ChatChunk, ChatCompletion, ChatMessage } from '../../wire/chat.ts';
import { toChatUsage } from '../../wire/chat-usage.ts';
import type { Usage } from '../../wire/usage.ts';

/** A value that is being built: what callers may only read is written here. */
type Writable<T> = T extends object ? { -readonly [K in keyof T]: Writable<T[K]> } : T;

/** What one event adds to a choice, with the fields of the family that the contract does not name. */
export type Delta = Writable<ChatChunk['choices'][number]['delta']> & {
  reasoning_content?: string;
  /** Pictures that the model has made, as parts of type image_url. */
  images?: unknown[];
  /** Where the text comes from. */
  annotations?: unknown[];
};
/** A message of an answer, with the same fields. */
type Message = Writable<ChatMessage> & Pick<Delta, 'reasoning_content' | 'images' | 'annotations'>;
type Choice = ChatChunk['choices'][number];

/** Makes the chunks of one answer, all with its id, model and time. */
export class ChunkWriter {
  private readonly created = Math.floor(Date.now() / 1000);
  private readonly begun = new Set<number>();
  private identity: string | undefined;

  constructor(public model: string) {}

  /** The id of the answer: the upstream's own once it is known, else a new one. */
  get id(): string {
    this.identity ??= newId('chatcmpl');
    return this.identity;
  }

  /** Takes the upstream's id, unless a chunk has gone out under another. */
  named(id: string | undefined): void {
    this.identity ??= id;
  }

  /** What is added to a choice. The first of a choice says the role. */
  delta(index: number, delta: Delta, logprobs?: Choice['logprobs']): ChatChunk {
    const first = !this.begun.has(index);
    if (first) this.begun.add(index);
    const whole: Delta = first ? { role: 'assistant', ...delta } : delta;
    return this.chunk([{ index, delta: whole, finish_reason: null, ...(logprobs ? { logprobs } : {}) }]);
  }

  /** The end of a choice. */
  finish(index: number, reason: string): ChatChunk {
    const delta: Delta = this.begun.has(index) ? {} : { role: 'assistant', content: '' };
    this.begun.add(index);
    return this.chunk([{ index, delta, finish_reason: reason }]);
  }

  /** The last chunk. */
  usage(usage: Usage): ChatChunk {
    return { ...this.chunk([]), usage: toChatUsage(usage) };
  }

  private chunk(choices: Choice[]): ChatChunk {
    return {
      id: this.id,
      object: 'chat.completion.chunk',
      created: this.created,
      model: this.model,
      choices,
    };
  }
}

/** Puts the chunks of an answer together to the whole one, so that both are translated by the same code. */
export function completionOf(chunks: readonly ChatChunk[]): ChatCompletion {
  const choices = new Map<number, Folded>();
  let head: ChatChunk | undefined;
  let usage: ChatCompletion['usage'];
  for (const chunk of chunks) {
    head ??= chunk;
    usage = chunk.usage ?? usage;
    for (const choice of chunk.choices) fold(choices, choice);
  }
  return {
    id: head?.id ?? newId('chatcmpl'),
    object: 'chat.completion',
    created: head?.created ?? 0,
    model: head?.model ?? '',
    choices: [...choices.values()].toSorted((a, b) => a.index - b.index),
    ...(usage ? { usage } : {}),
  };
}

type Folded = Writable<Omit<ChatCompletion['choices'][number], 'message'>> & { message: Message };

function fold(choices: Map<number, Folded>, { index, delta, finish_reason, logprobs }: Choice): void {
  let choice = choices.get(index);
  if (!choice) {
    const message: Message = { role: 'assistant', content: null, refusal: null };
    choice = { index, message, logprobs: null, finish_reason: null };
    choices.set(index, choice);
  }
  if (finish_reason) choice.finish_reason = finish_reason;
  if (logprobs) choice.logprobs = joined(choice.logprobs, logprobs);
  add(choice.message, delta);
}

function joined(
  before: Record<string, unknown> | null | undefined,
  more: Record<string, unknown>,
): Record<string, unknown> {
  const list = (value: unknown) => (Array.isArray(value) ? value : []);
  return { content: [...list(before?.content), ...list(more.content)], refusal: null };
}

function add(message: Message, delta: Delta): void {
  if (typeof delta.content === 'string') message.content = `${message.content ?? ''}${delta.content}`;
  if (delta.reasoning_content)
    message.reasoning_content = (message.reasoning_content ?? '') + delta.reasoning_content;
  if (delta.refusal) message.refusal = (message.refusal ?? '') + delta.refusal;
  if (delta.provider_content)
    message.provider_content = [...(message.provider_content ?? []), ...delta.provider_content];
  if (delta.images) message.images = [...(message.images ?? []), ...delta.images];
  if (delta.annotations) message.annotations = [...(message.annotations ?? []), ...delta.annotations];
  for (const call of delta.tool_calls ?? []) addCall(message, call);
  if (message.tool_calls && message.content === '') message.content = null;
}

type CallDelta = NonNullable<Delta['tool_calls']>[number];

function addCall(message: Message, { index, id, type, function: part }: CallDelta): void {
  message.tool_calls ??= [];
  const call = message.tool_calls[index];
  if (call?.function) call.function.arguments += part?.arguments ?? '';
  else
    message.tool_calls[index] = {
      id: id ?? '',
      type: type ?? 'function',
      function: { name: part?.name ?? '', arguments: part?.arguments ?? '' },
    };
}
