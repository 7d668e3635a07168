import type { ChatChunk } from '../../wire/chat.ts';
import {
  type MessagesBlock,
  type MessagesEvent,
  type MessagesMessage,
  type MessagesUsage,
  mergedUsage,
  usageOfMessage,
} from '../../wire/messages.ts';
import { ChunkWriter } from '../translate/chunks.ts';
import { brokenOff, type EventReader } from '../translate/stream.ts';
import { annotationsOf } from './annotations.ts';
import { endingOf, serviceTier } from './endings.ts';
import { eventError } from './failure.ts';
import { OUTPUT_TOOL } from './output.ts';
import { Places } from './provider-content.ts';

/** A block that is open: as it began, and what has come of it since. */
interface OpenBlock {
  readonly block: MessagesBlock;
  /** Of the call that it is, among the calls; -1 for what is none. */
  readonly call: number;
  /** Where its text begins in the text of the message. */
  readonly start: number;
  readonly citations: unknown[];
  json: string;
  thinking: string;
  signature: string;
}

const NOTHING: ChatChunk[] = [];

/** Reads the answer of this dialect, event by event or whole, into chunks. One for each answer. */
export class MessagesReader implements EventReader {
  private readonly writer: ChunkWriter;
  private readonly places = new Places();
  private usage: MessagesUsage | undefined;
  private open: OpenBlock | undefined;
  private calls = 0;
  private length = 0;
  private isComplete = false;

  /** `provider` is named in errors. With `answersByTool` the answer is the input of OUTPUT_TOOL. */
  constructor(
    model: string,
    private readonly provider: string,
    private readonly answersByTool = false,
  ) {
    this.writer = new ChunkWriter(model);
  }

  /** The chunks that an event means, mostly one or none. Errors: UpstreamError for an event that reports one. */
  read(given: unknown): ChatChunk[] {
    const event = given as MessagesEvent;
    switch (event?.type) {
      case 'content_block_delta':
        return event.delta ? this.delta(event.delta) : NOTHING;
      case 'content_block_start':
        return event.content_block ? this.start(event.content_block) : NOTHING;
      case 'content_block_stop':
        return this.stop();
      case 'message_start':
        return event.message ? this.begin(event.message) : NOTHING;
      case 'message_delta':
        return this.finish(event);
      case 'message_stop':
        this.isComplete = true;
        return NOTHING;
      case 'error':
        throw eventError(event, this.provider);
      default:
        return NOTHING;
    }
  }

  /** The chunks of a whole answer but the last, by the same way as its events would go. */
  readWhole(message: MessagesMessage): ChatChunk[] {
    const chunks = this.begin(message);
    for (const block of message.content) chunks.push(...this.start(block), ...this.stop());
    const { stop_reason, stop_details } = message;
    chunks.push(...this.finish({ type: 'message_delta', delta: { stop_reason, stop_details } }));
    this.isComplete = true;
    return chunks;
  }

  /** Errors: UpstreamError of kind network when the answer was cut off. */
  end(): ChatChunk[] {
    if (!this.isComplete) throw brokenOff(this.provider);
    const usage = usageOfMessage(this.usage);
    return usage ? [{ ...this.writer.usage(usage), ...serviceTier(this.usage?.service_tier) }] : [];
  }

  private begin({ id, model, usage }: MessagesMessage): ChatChunk[] {
    this.writer.named(id);
    if (model) this.writer.model = model;
    this.usage = usage;
    return [this.writer.delta(0, { content: '' })];
  }

  private start(block: MessagesBlock): ChatChunk[] {
    // What is said beside an answer in JSON would spoil it.
    if (this.answersByTool && block.type === 'text') return NOTHING;
    const isCall = block.type === 'tool_use' && !(this.answersByTool && block.name === OUTPUT_TOOL);
    this.open = {
      block,
      call: isCall ? this.calls++ : -1,
      start: this.length,
      citations: Array.isArray(block.citations) ? [...block.citations] : [],
      json: '',
      thinking: block.thinking ?? '',
      signature: block.signature ?? '',
    };
    if (block.type === 'text' && block.text) return [this.text(block.text)];
    if (block.type === 'thinking' && block.thinking)
      return [this.writer.delta(0, { reasoning_content: block.thinking })];
    if (!isCall) return NOTHING;
    const { id = '', name = '' } = block;
    const call = { index: this.open.call, id, type: 'function', function: { name, arguments: '' } };
    return [this.writer.delta(0, { tool_calls: [call] })];
  }

  private delta({
    text,
    partial_json,
    thinking,
    signature,
    citation,
  }: NonNullable<MessagesEvent['delta']>): ChatChunk[] {
    const { open } = this;
    if (!open) return NOTHING;
    if (text) return [this.text(text)];
    if (partial_json) return this.json(open, partial_json);
    if (thinking) {
      open.thinking += thinking;
      return [this.writer.delta(0, { reasoning_content: thinking })];
    }
    if (signature) open.signature += signature;
    if (citation) open.citations.push(citation);
    return NOTHING;
  }

  private json(open: OpenBlock, piece: string): ChatChunk[] {
    open.json += piece;
    if (open.block.type !== 'tool_use') return NOTHING;
    return [open.call === -1 ? this.text(piece) : this.argumentsOf(open, piece)];
  }

  private stop(): ChatChunk[] {
    const { open } = this;
    this.open = undefined;
    if (!open) return NOTHING;
    if (open.block.type === 'text') return this.annotated(open);
    if (open.block.type === 'tool_use') return this.closeCall(open);
    return [this.writer.delta(0, { provider_content: this.places.take(completed(open)) })];
  }

  /** A call without arguments streams none, but its arguments are an object all the same. */
  private closeCall(open: OpenBlock): ChatChunk[] {
    const given = open.json === '' ? JSON.stringify(open.block.input ?? {}) : '';
    if (open.call === -1) return given === '' ? NOTHING : [this.text(given)];
    this.places.addCall(open.block.id ?? '');
    return given === '' ? NOTHING : [this.argumentsOf(open, given)];
  }

  private annotated({ citations, start }: OpenBlock): ChatChunk[] {
    const annotations = annotationsOf(citations, start, this.length);
    return annotations.length > 0 ? [this.writer.delta(0, { annotations })] : NOTHING;
  }

  private finish({ delta, usage }: MessagesEvent): ChatChunk[] {
    this.usage = mergedUsage(usage, this.usage);
    const { finish_reason, native_finish_reason } = endingOf(delta?.stop_reason, this.answersByTool);
    const chunk = this.writer.finish(0, finish_reason);
    const ended = { ...chunk, choices: chunk.choices.map((choice) => ({ ...choice, native_finish_reason })) };
    const refusal = delta?.stop_details?.explanation;
    const places = this.places.rest();
    const last = {
      ...(refusal ? { refusal } : {}),
      ...(places.length > 0 ? { provider_content: places } : {}),
    };
    return Object.keys(last).length > 0 ? [this.writer.delta(0, last), ended] : [ended];
  }

  private text(content: string): ChatChunk {
    this.length += content.length;
    this.places.addText(content.length);
    return this.writer.delta(0, { content });
  }

  private argumentsOf({ call }: OpenBlock, piece: string): ChatChunk {
    return this.writer.delta(0, { tool_calls: [{ index: call, function: { arguments: piece } }] });
  }
}

/** The block as it stands in a whole answer. */
function completed({ block, json, thinking, signature }: OpenBlock): MessagesBlock {
  if (block.type === 'thinking') return { ...block, thinking, signature };
  return json === '' ? block : { ...block, input: parsed(json) };
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return {};
  }
}
