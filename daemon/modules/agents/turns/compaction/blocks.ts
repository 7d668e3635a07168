import type { ChatMessage } from '../../../gateway/index.ts';

/** A message of a conversation as it is kept. */
export interface HeldMessage {
  /** Its place. */
  readonly seq: number;
  readonly message: ChatMessage;
  /** As estimateMessage guesses. */
  readonly tokens: number;
  /** It stands for messages that are no longer sent. */
  readonly isSummary?: boolean;
}

/** Messages that stay or go together: a call stays with its results. */
export interface Block {
  readonly kind: 'user' | 'summary' | 'other';
  readonly messages: readonly HeldMessage[];
  readonly tokens: number;
  /** It has a call whose result is not there yet. */
  readonly isOpen: boolean;
}

/** Whether a message is an instruction, which always stays. */
export function isSystem({ message: { role } }: HeldMessage): boolean {
  return role === 'system' || role === 'developer';
}

/** The messages of a conversation that are no instructions, in blocks. */
export function blocksOf(messages: readonly HeldMessage[]): Block[] {
  const said = messages.filter((one) => !isSystem(one));
  const blocks: Block[] = [];
  for (let at = 0; at < said.length; ) {
    const block = blockAt(said, at);
    blocks.push(block);
    at += block.messages.length;
  }
  return blocks;
}

function blockAt(said: readonly HeldMessage[], at: number): Block {
  const first = said[at] as HeldMessage;
  const open = new Set(first.message.tool_calls?.map(({ id }) => id));
  let end = at + 1;
  // Results stand before the next answer of the model; something said in between belongs to the block.
  for (let next = end; open.size > 0 && next < said.length; next++) {
    const { role, tool_call_id: id = '' } = (said[next] as HeldMessage).message;
    if (role === 'assistant') break;
    if (role === 'tool' && open.delete(id)) end = next + 1;
  }
  const messages = said.slice(at, end);
  return { kind: kindOf(first), messages, tokens: tokensIn(messages), isOpen: open.size > 0 };
}

function kindOf({ message: { role }, isSummary }: HeldMessage): Block['kind'] {
  if (isSummary) return 'summary';
  return role === 'user' ? 'user' : 'other';
}

/** The guessed tokens of messages, or of blocks. */
export function tokensIn(all: ReadonlyArray<{ readonly tokens: number }>): number {
  return all.reduce((sum, { tokens }) => sum + tokens, 0);
}
