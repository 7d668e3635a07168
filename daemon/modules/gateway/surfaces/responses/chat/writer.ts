import { newId } from '../../../../../../src/kit/id.ts';
import { UpstreamError } from '../../../upstream/error.ts';
import { parseDataUrl } from '../../../upstream/translate/content.ts';
import type { ChatChunk } from '../../../wire/chat.ts';
import { usageOf } from '../../../wire/chat-usage.ts';
import type { Usage } from '../../../wire/usage.ts';
import { toSeconds } from '../new-response.ts';
import { toResponseUsage } from '../usage.ts';
import { endOf, type Item, LIFECYCLE, type ResponseEvent, type ResponseObject } from '../wire.ts';
import {
  CallItem,
  type ItemStatus,
  MessageItem,
  type OpenItem,
  ReasoningItem,
  type Tell,
  tellPicture,
} from './output-items.ts';

type Choice = ChatChunk['choices'][number];
type CallDelta = NonNullable<Choice['delta']['tool_calls']>[number];
/** A delta with the fields of its family that the contract does not name. */
type Delta = Choice['delta'] & {
  readonly reasoning_content?: string | null;
  /** The same under the name that some providers of the family use. */
  readonly reasoning?: unknown;
  readonly annotations?: readonly unknown[];
  readonly images?: ReadonlyArray<{ readonly image_url?: { readonly url?: unknown } }>;
};

/** How an answer ends that its provider did not finish. */
export interface Cut {
  readonly status: 'cancelled' | 'failed';
  readonly error?: ResponseObject['error'];
}

/**
 * Makes a response of the chunks of a chat completion, event by event. Each event is whole when it is handed out: what comes later
 * does not change it. Its reader sees the same whether the completion came whole or in pieces.
 */
export class ResponseWriter {
  usage: Usage | undefined;
  private events: ResponseEvent[] = [];
  private number = 0;
  private readonly output: Array<OpenItem | Item> = [];
  /** The item that goes on until something of another kind comes. */
  private current: MessageItem | ReasoningItem | undefined;
  private readonly calls = new Map<number, CallItem>();
  private reason: string | undefined;

  constructor(
    private response: ResponseObject,
    private readonly now: () => number,
  ) {}

  /** The events of the beginning. `model` is the name that the provider gives it. */
  begin(model: string | undefined): ResponseEvent[] {
    if (model) this.response = { ...this.response, model };
    this.tell(LIFECYCLE.created, { response: this.response });
    this.tell(LIFECYCLE.inProgress, { response: this.response });
    return this.taken();
  }

  /** The events of one chunk. */
  take(chunk: ChatChunk): ResponseEvent[] {
    this.usage = usageOf(chunk) ?? this.usage;
    const choice = chunk.choices.find(({ index }) => index === 0);
    if (choice) this.takeChoice(choice);
    return this.taken();
  }

  /** The events of the end. Errors: UpstreamError when the model has not said that it is done. */
  end(): { events: ResponseEvent[]; response: ResponseObject } {
    const { reason } = this;
    if (reason === undefined)
      throw new UpstreamError(
        'network',
        'The provider closed the connection before its answer was complete.',
      );
    const cut = CUT_REASONS[reason];
    this.closeAll(cut ? 'incomplete' : 'completed');
    const usage = this.usage ? toResponseUsage(this.usage) : null;
    const over = cut
      ? ({ status: 'incomplete', incomplete_details: { reason: cut } } as const)
      : ({ status: 'completed', completed_at: toSeconds(this.now()) } as const);
    return this.ended({ ...this.response, ...over, usage, output: this.shown('completed') });
  }

  /** The event of an end that came too early; what was said so far stays. */
  cut({ status, error = null }: Cut): { events: ResponseEvent[]; response: ResponseObject } {
    const usage = this.usage ? toResponseUsage(this.usage) : null;
    return this.ended({ ...this.response, status, error, usage, output: this.shown('incomplete') });
  }

  private ended(response: ResponseObject) {
    this.response = response;
    const { type, sequence_number: _, ...fields } = endOf(response, 0);
    this.tell(type, fields);
    return { events: this.taken(), response };
  }

  private takeChoice({ delta, finish_reason, logprobs }: Choice): void {
    const {
      reasoning_content,
      reasoning,
      provider_content,
      content,
      refusal,
      annotations,
      images,
      tool_calls,
    } = delta as Delta;
    const thought = reasoning_content ?? reasoning;
    if (typeof thought === 'string' && thought !== '') this.reasoning().text(thought);
    if (provider_content?.length) this.reasoning().keep(provider_content);
    if (content) this.message().text(content, listIn(logprobs, 'content'));
    if (refusal) this.message().refusal(refusal);
    for (const annotation of annotations ?? []) this.message().annotation(annotationOf(annotation));
    for (const call of tool_calls ?? []) this.takeCall(call);
    for (const { image_url } of images ?? []) this.takePicture(image_url?.url);
    if (finish_reason) this.reason = finish_reason;
  }

  private takeCall({ index, id, function: { name = '', arguments: given = '' } = {} }: CallDelta): void {
    const known = this.calls.get(index);
    if (known) known.add(name, given);
    else this.openCall(index, id || newId('call'), name).add('', given);
  }

  private openCall(index: number, callId: string, name: string): CallItem {
    this.closeCurrent();
    const call = new CallItem(this.output.length, this.tell, callId, name);
    this.output.push(call);
    this.calls.set(index, call);
    return call;
  }

  private takePicture(url: unknown): void {
    const data = typeof url === 'string' ? parseDataUrl(url)?.data : undefined;
    if (data === undefined) return;
    this.closeCurrent();
    this.output.push(tellPicture(this.output.length, this.tell, data));
  }

  private message(): MessageItem {
    if (this.current instanceof MessageItem) return this.current;
    return this.opened(new MessageItem(this.nextIndex(), this.tell));
  }

  private reasoning(): ReasoningItem {
    if (this.current instanceof ReasoningItem) return this.current;
    return this.opened(new ReasoningItem(this.nextIndex(), this.tell));
  }

  private nextIndex(): number {
    this.closeCurrent();
    return this.output.length;
  }

  private opened<I extends MessageItem | ReasoningItem>(item: I): I {
    this.output.push(item);
    this.current = item;
    return item;
  }

  private closeCurrent(status: ItemStatus = 'completed'): void {
    if (this.current) this.finish(this.current, status);
    this.current = undefined;
  }

  private closeAll(status: ItemStatus): void {
    this.closeCurrent(status);
    for (const call of this.calls.values()) this.finish(call, status);
  }

  private finish(item: OpenItem, status: ItemStatus): void {
    item.finish(status);
    this.output[this.output.indexOf(item)] = item.shown(status);
  }

  private shown(status: ItemStatus): Item[] {
    return this.output.map((item) => (isOpen(item) ? item.shown(status) : item));
  }

  private readonly tell: Tell = (type, fields) => {
    this.events.push({ type, sequence_number: this.number++, ...fields });
  };

  private taken(): ResponseEvent[] {
    const { events } = this;
    this.events = [];
    return events;
  }
}

/** Reasons of the chat family to end an answer before it is complete, in the words of this dialect. */
const CUT_REASONS: Readonly<Record<string, string | undefined>> = {
  length: 'max_output_tokens',
  content_filter: 'content_filter',
};

function isOpen(item: OpenItem | Item): item is OpenItem {
  return 'finish' in item && typeof item.finish === 'function';
}

function listIn(logprobs: Choice['logprobs'], name: string): readonly unknown[] {
  const list = logprobs?.[name];
  return Array.isArray(list) ? list : [];
}

/** The chat family wraps what this dialect says directly. */
function annotationOf(annotation: unknown): unknown {
  const { type, url_citation } = (annotation ?? {}) as { type?: unknown; url_citation?: object };
  return url_citation ? { type, ...url_citation } : annotation;
}
