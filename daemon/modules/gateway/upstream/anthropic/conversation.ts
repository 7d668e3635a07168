import { parseNested } from '../../../../../src/kit/nesting.ts';
import type { ChatMessage, ChatToolCall } from '../../wire/chat.ts';
import type { MessagesBlock, MessagesTurn } from '../../wire/messages.ts';
import { textOf } from '../translate/content.ts';
import type { ModelTraits } from './model.ts';
import { blocksOf, withCache } from './parts.ts';
import { type OwnItem, ownItems } from './provider-content.ts';

/** The turns of a conversation, and what stands before them. */
export interface Conversation {
  readonly system: readonly MessagesBlock[];
  readonly messages: readonly MessagesTurn[];
}

type Role = MessagesTurn['role'];
/** A turn that is being put together. */
type Turn = { readonly role: Role; readonly content: MessagesBlock[] };

/**
 * A conversation in this dialect. Neighbours of the same role become one turn, and the results of tools stand before the text of
 * theirs. Instructions go to the front, in order; where the model takes them between the turns they stay, right after a turn of the user.
 * Errors: UpstreamError naming the part that cannot be said.
 */
export function conversationOf(messages: readonly ChatMessage[], traits: ModelTraits): Conversation {
  const system: MessagesBlock[] = [];
  const turns: Turn[] = [];
  messages.forEach((message, i) => {
    const role = roleOf(message);
    const blocks = blocksOfMessage(message, `messages.${i}.content`);
    if (blocks.length === 0) return;
    if (role === 'system' && !staysInPlace(messages, i, turns, traits)) system.push(...blocks);
    else add(turns, role, blocks);
  });
  trimEnd(turns.at(-1));
  return { system, messages: turns };
}

function roleOf({ role }: ChatMessage): Role {
  if (role === 'system' || role === 'developer') return 'system';
  return role === 'assistant' ? 'assistant' : 'user';
}

/** A change of the instructions at the front would cost the cache of everything behind it. */
function staysInPlace(
  messages: readonly ChatMessage[],
  at: number,
  turns: readonly Turn[],
  { midSystem }: ModelTraits,
): boolean {
  const before = turns.at(-1)?.role;
  if (!midSystem || before === undefined || before === 'assistant') return false;
  const next = messages.slice(at + 1).find((message) => roleOf(message) !== 'system');
  return next === undefined || roleOf(next) === 'assistant';
}

function add(turns: Turn[], role: Role, blocks: readonly MessagesBlock[]): void {
  const last = turns.at(-1);
  if (last?.role !== role) {
    turns.push({ role, content: [...blocks] });
    return;
  }
  for (const block of blocks) {
    if (block.type !== 'tool_result') last.content.push(block);
    else last.content.splice(last.content.findLastIndex(({ type }) => type === 'tool_result') + 1, 0, block);
  }
}

/** An answer that is to be gone on with must not end with white space. */
function trimEnd(turn: Turn | undefined): void {
  const block = turn?.role === 'assistant' ? turn.content.at(-1) : undefined;
  if (turn && block?.type === 'text') turn.content.splice(-1, 1, { ...block, text: block.text?.trimEnd() });
}

function blocksOfMessage(message: ChatMessage, field: string): MessagesBlock[] {
  if (message.role === 'tool' || message.role === 'function') return [toolResult(message, field)];
  if (message.role === 'assistant') return assistantBlocks(message);
  return marked(blocksOf(message.content, field), message);
}

/** A mark on the whole message stands on its last block. */
function marked(blocks: MessagesBlock[], message: ChatMessage): MessagesBlock[] {
  const last = blocks.at(-1);
  return last ? [...blocks.slice(0, -1), withCache(last, message)] : blocks;
}

function toolResult(message: ChatMessage, field: string): MessagesBlock {
  const { content, tool_call_id: id, is_error } = message as ChatMessage & { is_error?: unknown };
  const blocks = typeof content === 'string' ? content : blocksOf(content, field);
  return withCache(
    {
      type: 'tool_result',
      tool_use_id: toolUseId(id ?? message.name ?? ''),
      ...(blocks.length > 0 ? { content: blocks } : {}),
      ...(is_error === true ? { is_error } : {}),
    },
    message,
  );
}

/** What the assistant said, each part at the place that `provider_content` gives it; what it does not place follows: text, then calls. */
function assistantBlocks(message: ChatMessage): MessagesBlock[] {
  const items = ownItems(message);
  const calls = (message.tool_calls ?? []).flatMap((call) => (call.function ? [toolUse(call)] : []));
  if (items.length === 0) return marked([...textBlocks(message), ...calls], message);
  return marked(placed(items, textOf(message.content), calls), message);
}

/** Parts keep their marks where nothing has to be cut. */
function textBlocks({ content, refusal }: ChatMessage): MessagesBlock[] {
  if (typeof content === 'string') return text(content);
  const blocks = (content ?? []).flatMap((part) =>
    text(part.text ?? part.refusal ?? '').map((one) => withCache(one, part)),
  );
  return blocks.length > 0 ? blocks : text(refusal ?? '');
}

function placed(items: readonly OwnItem[], said: string, calls: MessagesBlock[]): MessagesBlock[] {
  const blocks: MessagesBlock[] = [];
  let at = 0;
  const rest = [...calls];
  for (const item of items) {
    if ('block' in item) blocks.push(item.block);
    else if ('text' in item) {
      blocks.push(...text(said.slice(at, at + item.text)));
      at += item.text;
    } else {
      const i = rest.findIndex(({ id }) => id === toolUseId(item.call));
      if (i !== -1) blocks.push(...rest.splice(i, 1));
    }
  }
  return [...blocks, ...text(said.slice(at)), ...rest];
}

function text(value: string): MessagesBlock[] {
  return value.trim() === '' ? [] : [{ type: 'text', text: value }];
}

function toolUse(call: ChatToolCall): MessagesBlock {
  const { name = '', arguments: given = '' } = call.function ?? {};
  return withCache({ type: 'tool_use', id: toolUseId(call.id), name, input: readInput(given) }, call);
}

/** The arguments as the object that they must be here; what a model has written wrong is kept as text. */
function readInput(given: string): unknown {
  if (given.trim() === '') return {};
  try {
    const value: unknown = parseNested(given);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : { value };
  } catch {
    return { text: given };
  }
}

/** Ids of other providers have characters that this one refuses. */
function toolUseId(id: string): string {
  return id.replace(/[^\w-]/g, '_');
}
