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

/** Calls of tools that are taken of one answer. */
const MOST_CALLS = 1_024;

/** Puts the chunks of an answer together to the whole one, so that both are translated by the same code. */
export function completionOf(chunks: readonly ChatChunk[]): ChatCompletion {
  const folding = new Folding();
  for (const chunk of chunks) folding.add(chunk);
  return folding.completion();
}

/** Puts chunks together as they come: they need not be kept. What a chunk says in other forms than the contract's is passed over. */
export class Folding {
  private readonly choices = new Map<number, Folded>();
  private head: ChatChunk | undefined;
  private usage: ChatCompletion['usage'];

  add(chunk: ChatChunk): void {
    this.head ??= chunk;
    this.usage = chunk.usage ?? this.usage;
    for (const choice of chunk.choices) this.fold(choice);
  }

  /** The whole answer. Nothing is added after it. */
  completion(): ChatCompletion {
    const { head, usage } = this;
    const choices = [...this.choices.values()].toSorted((a, b) => a.index - b.index);
    return {
      id: head?.id ?? newId('chatcmpl'),
      object: 'chat.completion',
      created: head?.created ?? 0,
      model: head?.model ?? '',
      choices: choices.map(({ calls, ...choice }) => withCalls(choice, calls)),
      ...(usage ? { usage } : {}),
    };
  }

  private fold({ index, delta, finish_reason, logprobs }: Choice): void {
    let choice = this.choices.get(index);
    if (!choice) {
      const message: Message = { role: 'assistant', content: null, refusal: null };
      choice = { index, message, logprobs: null, finish_reason: null, calls: new Map() };
      this.choices.set(index, choice);
    }
    if (finish_reason) choice.finish_reason = finish_reason;
    if (logprobs) choice.logprobs = joined(choice.logprobs, logprobs);
    add(choice.message, delta);
    for (const call of delta.tool_calls ?? []) addCall(choice.calls, call);
  }
}

type Call = Writable<NonNullable<ChatMessage['tool_calls']>[number]>;
type Folded = Writable<Omit<ChatCompletion['choices'][number], 'message'>> & {
  message: Message;
  /** By the place that the upstream gives them: a list would be as long as the largest place says. */
  readonly calls: Map<number, Call>;
};

function withCalls(choice: Omit<Folded, 'calls'>, calls: Folded['calls']): Omit<Folded, 'calls'> {
  if (calls.size === 0) return choice;
  const { message } = choice;
  message.tool_calls = [...calls].toSorted(([a], [b]) => a - b).map(([, call]) => call);
  if (message.content === '') message.content = null;
  return choice;
}

function joined(
  before: Record<string, unknown> | null | undefined,
  more: Record<string, unknown>,
): Record<string, unknown> {
  return { content: appended(before?.content as unknown[], more.content), refusal: null };
}

function add(message: Message, delta: Delta): void {
  if (typeof delta.content === 'string') message.content = `${message.content ?? ''}${delta.content}`;
  if (delta.reasoning_content)
    message.reasoning_content = (message.reasoning_content ?? '') + delta.reasoning_content;
  if (delta.refusal) message.refusal = (message.refusal ?? '') + delta.refusal;
  if (delta.provider_content)
    message.provider_content = appended(message.provider_content, delta.provider_content);
  if (delta.images) message.images = appended(message.images, delta.images);
  if (delta.annotations) message.annotations = appended(message.annotations, delta.annotations);
}

/** Adds to a list in its place: an answer may bring a piece with each of its chunks. */
function appended<T>(list: T[] | undefined, more: unknown): T[] {
  const all = list ?? [];
  if (Array.isArray(more)) for (const one of more) all.push(one as T);
  return all;
}

type CallDelta = NonNullable<Delta['tool_calls']>[number];

/** Some upstreams give no places: a call with a name is the next one then, and what has none goes on with the last. */
function addCall(calls: Folded['calls'], { index, id, type, function: part }: CallDelta): void {
  const place = Number.isInteger(index) ? index : Math.max(calls.size - (part?.name ? 0 : 1), 0);
  const call = calls.get(place);
  if (call?.function) call.function.arguments += textOf(part?.arguments);
  else if (calls.size < MOST_CALLS)
    calls.set(place, {
      id: typeof id === 'string' ? id : '',
      type: type ?? 'function',
      function: { name: textOf(part?.name), arguments: textOf(part?.arguments) },
    });
}

/** Some upstreams write the arguments of a call as an object. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === undefined || value === null ? '' : JSON.stringify(value);
}
