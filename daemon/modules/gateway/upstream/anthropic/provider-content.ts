import type { ChatMessage } from '../../wire/chat.ts';
import type { MessagesBlock } from '../../wire/messages.ts';

/**
 * What `provider_content` carries for this dialect: the blocks for which chat completions have no word (thinking with its
 * signature, redacted thinking, calls and results of the provider's own tools), and between them how far the text and the calls
 * had come, so that every block returns to its place.
 */
export type OwnItem =
  | { readonly dialect: 'anthropic'; readonly block: MessagesBlock }
  /** So many more characters of the message's text stand before the next block. */
  | { readonly dialect: 'anthropic'; readonly text: number }
  /** The call of this id stands before the next block. */
  | { readonly dialect: 'anthropic'; readonly call: string };

/** A block for `provider_content`. */
export function ownBlock(block: MessagesBlock): OwnItem {
  return { dialect: 'anthropic', block };
}

/** The items of this dialect in a message; another provider's are left out. */
export function ownItems({ provider_content: items }: ChatMessage): readonly OwnItem[] {
  return (items ?? []).filter(isOwn);
}

/** The blocks among them. */
export function ownBlocks(message: ChatMessage): MessagesBlock[] {
  return ownItems(message).flatMap((item) => ('block' in item ? [item.block] : []));
}

/** Whether a block is thinking, readable or not. */
export function isThinking({ type }: MessagesBlock): boolean {
  return type === 'thinking' || type === 'redacted_thinking';
}

/** Notes how far text and calls have come, and says it when a block follows on them. */
export class Places {
  private text = 0;
  private readonly calls: string[] = [];
  private readonly said: OwnItem[] = [];

  addText(length: number): void {
    this.text += length;
  }

  addCall(id: string): void {
    this.flushText();
    this.calls.push(id);
    this.said.push({ dialect: 'anthropic', call: id });
  }

  /** The items for a block that comes now: what stands before it since the last one, then itself. */
  take(block: MessagesBlock): OwnItem[] {
    this.flushText();
    return [...this.said.splice(0), ownBlock(block)];
  }

  /** The items for what is left at the end, when text stands behind a call there: else text goes first by itself. */
  rest(): OwnItem[] {
    this.flushText();
    const firstCall = this.said.findIndex((item) => 'call' in item);
    const isUsual = firstCall === -1 || !this.said.slice(firstCall).some((item) => 'text' in item);
    return isUsual ? [] : this.said.splice(0);
  }

  private flushText(): void {
    if (this.text > 0) this.said.push({ dialect: 'anthropic', text: this.text });
    this.text = 0;
  }
}

function isOwn(item: unknown): item is OwnItem {
  if (typeof item !== 'object' || item === null || !('dialect' in item) || item.dialect !== 'anthropic')
    return false;
  if ('block' in item) return typeof item.block === 'object' && item.block !== null && 'type' in item.block;
  return ('text' in item && Number.isInteger(item.text)) || ('call' in item && typeof item.call === 'string');
}
