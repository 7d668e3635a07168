import type { ChatChunk } from '../../wire/chat.ts';
import { usageOf } from '../../wire/chat-usage.ts';
import type { MessagesBlock, MessagesEvent } from '../../wire/messages.ts';
import type { Usage } from '../../wire/usage.ts';
import { carry } from './carried.ts';
import { JsonEnd } from './json-end.ts';
import { stopReason, thoughtIn, toMessagesUsage } from './message.ts';

type CallDelta = NonNullable<ChatChunk['choices'][number]['delta']['tool_calls']>[number];

/** A block on its way out. Only one is open at a time; the others wait with what has come for them. */
interface Block {
  readonly kind: 'thinking' | 'text' | 'tool_use';
  readonly start: MessagesBlock;
  /** Of a call: where its arguments end. */
  readonly input?: JsonEnd;
  held: string;
}

/**
 * Writes the chunks of a chat completion as the events of a message. Blocks follow one another here, while chunks may give several calls
 * by turns: a call that is under way goes out as it comes, and others wait until its arguments are complete.
 */
export class EventWriter {
  /** What the chunks have reported. */
  usage: Usage | undefined;
  private begun = false;
  private index = -1;
  private open: Block | undefined;
  private readonly waiting: Block[] = [];
  private readonly calls = new Map<number, Block>();
  private kept: unknown[] = [];
  private finish: string | null | undefined;
  private id = '';

  /** The events that a chunk means. */
  take(chunk: ChatChunk): MessagesEvent[] {
    const events: MessagesEvent[] = this.begun ? [] : this.begin(chunk);
    this.usage = usageOf(chunk) ?? this.usage;
    const [choice] = chunk.choices;
    if (!choice) return events;
    const { delta, finish_reason } = choice;
    const thought = thoughtIn(delta);
    if (thought !== '') this.say('thinking', thought, events);
    if (delta.provider_content) this.kept.push(...delta.provider_content);
    if (delta.content) this.say('text', delta.content, events);
    if (delta.refusal) this.say('text', delta.refusal, events);
    for (const call of delta.tool_calls ?? []) this.call(call, events);
    this.finish = finish_reason ?? this.finish;
    return events;
  }

  /** The events of the end. */
  end(): MessagesEvent[] {
    const events: MessagesEvent[] = [];
    this.close(events);
    for (let next = this.waiting.shift(); next; next = this.waiting.shift()) {
      this.unfold(next, events);
      this.close(events);
    }
    if (this.kept.length > 0) this.hide(events);
    events.push({
      type: 'message_delta',
      delta: { stop_reason: stopReason(this.finish, this.calls.size > 0), stop_sequence: null },
      usage: toMessagesUsage(this.usage),
    });
    events.push({ type: 'message_stop' });
    return events;
  }

  private begin({ id, model, usage }: ChatChunk): MessagesEvent[] {
    this.begun = true;
    this.id = id;
    const counted = toMessagesUsage(usageOf({ usage }));
    const head = { id, type: 'message', role: 'assistant', model } as const;
    return [
      {
        type: 'message_start',
        message: { ...head, content: [], stop_reason: null, stop_sequence: null, usage: counted },
      },
      { type: 'ping' },
    ];
  }

  private say(kind: 'thinking' | 'text', text: string, events: MessagesEvent[]): void {
    const last = this.waiting.at(-1) ?? this.open;
    if (last?.kind === kind) {
      this.add(last, text, events);
      return;
    }
    const start = kind === 'text' ? { type: kind, text: '' } : { type: kind, thinking: '', signature: '' };
    this.enqueue({ kind, start, held: text }, events);
  }

  private call({ index, id, function: part }: CallDelta, events: MessagesEvent[]): void {
    const given = part?.arguments ?? '';
    const known = this.calls.get(index);
    if (known) {
      if (given !== '') this.add(known, given, events);
      return;
    }
    const start = {
      type: 'tool_use',
      id: id ?? `call_${this.id}_${index}`,
      name: part?.name ?? '',
      input: {},
    };
    const block: Block = { kind: 'tool_use', start, input: new JsonEnd(), held: given };
    block.input?.add(given);
    this.calls.set(index, block);
    this.enqueue(block, events);
  }

  private add(block: Block, text: string, events: MessagesEvent[]): void {
    block.input?.add(text);
    if (block !== this.open) {
      if (this.waiting.includes(block)) block.held += text;
      return;
    }
    events.push(this.deltaOf(block, text));
    if (this.waiting.length > 0) this.advance(events);
  }

  private enqueue(block: Block, events: MessagesEvent[]): void {
    this.waiting.push(block);
    this.advance(events);
  }

  private advance(events: MessagesEvent[]): void {
    while (this.waiting.length > 0 && mayClose(this.open)) {
      this.close(events);
      const next = this.waiting.shift();
      if (next) this.unfold(next, events);
    }
  }

  private unfold(block: Block, events: MessagesEvent[]): void {
    this.open = block;
    events.push({ type: 'content_block_start', index: ++this.index, content_block: block.start });
    if (block.held !== '') events.push(this.deltaOf(block, block.held));
    block.held = '';
  }

  private close(events: MessagesEvent[]): void {
    const { open, index } = this;
    this.open = undefined;
    if (!open) return;
    if (open.kind === 'thinking' && this.kept.length > 0) {
      events.push({
        type: 'content_block_delta',
        index,
        delta: { type: 'signature_delta', signature: carry(this.kept) },
      });
      this.kept = [];
    }
    events.push({ type: 'content_block_stop', index });
  }

  /** What is to be given back, when there is no thought whose signature could carry it. */
  private hide(events: MessagesEvent[]): void {
    const index = ++this.index;
    const content_block = { type: 'redacted_thinking', data: carry(this.kept) };
    events.push({ type: 'content_block_start', index, content_block }, { type: 'content_block_stop', index });
  }

  private deltaOf({ kind }: Block, text: string): MessagesEvent {
    const { index } = this;
    if (kind === 'text') return { type: 'content_block_delta', index, delta: { type: 'text_delta', text } };
    if (kind === 'thinking')
      return { type: 'content_block_delta', index, delta: { type: 'thinking_delta', thinking: text } };
    return { type: 'content_block_delta', index, delta: { type: 'input_json_delta', partial_json: text } };
  }
}

function mayClose(block: Block | undefined): boolean {
  return block?.input?.isComplete ?? true;
}
