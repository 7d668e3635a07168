import { isObject } from '../../../upstream/translate/content.ts';
import type { ChatMessage, ChatToolCall } from '../../../wire/chat.ts';
import type { Item } from '../wire.ts';
import { contentOf, saidIn } from './parts.ts';
import { openContent } from './sealed.ts';
import { refused } from './tools.ts';

/** What the assistant said in one turn, while its items are being put together. */
type Turn = { -readonly [K in keyof ChatMessage]: ChatMessage[K] } & { reasoning_content?: string };

/**
 * The items of a conversation as messages of chat completions. What the assistant thought, said and called without anybody in between is
 * one message there. Errors: UpstreamError naming the part that cannot be said.
 */
export function messagesOf(instructions: string | null | undefined, items: readonly Item[]): ChatMessage[] {
  const messages: ChatMessage[] = instructions ? [{ role: 'system', content: instructions }] : [];
  let turn: Turn | undefined;
  const inTurn = (): Turn => {
    if (!turn) {
      turn = { role: 'assistant', content: null };
      messages.push(turn);
    }
    return turn;
  };
  for (const [i, item] of items.entries()) {
    const field = `input.${i}`;
    if (isOfAssistant(item)) addTo(inTurn, item, field);
    else {
      turn = undefined;
      messages.push(messageOf(item, field));
    }
  }
  return messages.filter(saysSomething);
}

/** The kind of an item; a message may leave its type out. */
export function kindOf({ type, role }: Item): string {
  return type ?? (role ? 'message' : '');
}

const BY_ASSISTANT: ReadonlySet<string> = new Set(['function_call', 'reasoning', 'image_generation_call']);

function isOfAssistant(item: Item): boolean {
  const kind = kindOf(item);
  return BY_ASSISTANT.has(kind) || isHosted(kind) || (kind === 'message' && item.role === 'assistant');
}

/** Calls of a vendor's own tools, in a conversation that goes on with another provider: their results are in what was said after them. */
function isHosted(kind: string): boolean {
  return /^(web_search|file_search|computer|code_interpreter|mcp|local_shell|shell|apply_patch)\w*$/.test(
    kind,
  );
}

function addTo(inTurn: () => Turn, item: Item, field: string): void {
  const kind = kindOf(item);
  if (kind === 'message') addSaid(inTurn(), item);
  else if (kind === 'function_call') addCall(inTurn(), item, field);
  else if (kind === 'reasoning') addThought(inTurn(), item);
}

function addSaid(turn: Turn, { content }: Item): void {
  const { content: text, refusal } = saidIn(content);
  if (typeof text === 'string') turn.content = `${turn.content ?? ''}${text}`;
  if (refusal) turn.refusal = `${turn.refusal ?? ''}${refusal}`;
}

function addCall(turn: Turn, { call_id: id, name, arguments: given }: Item, field: string): void {
  if (!id) throw refused(`${field}.call_id`, 'is required');
  if (!name) throw refused(`${field}.name`, 'is required');
  const call: ChatToolCall = { id, type: 'function', function: { name, arguments: given ?? '' } };
  turn.tool_calls = [...(turn.tool_calls ?? []), call];
}

function addThought(turn: Turn, { summary, content, encrypted_content: sealed }: Item): void {
  const parts: readonly unknown[] = [...(summary ?? []), ...(Array.isArray(content) ? content : [])];
  const text = parts
    .map((part) => (isObject(part) && typeof part.text === 'string' ? part.text : ''))
    .join('\n');
  if (text !== '') turn.reasoning_content = (turn.reasoning_content ?? '') + text;
  const kept = openContent(sealed);
  if (kept) turn.provider_content = [...(turn.provider_content ?? []), ...kept];
}

function messageOf(item: Item, field: string): ChatMessage {
  switch (kindOf(item)) {
    case 'message':
      return { role: roleOf(item), content: contentOf(item.content, `${field}.content`) };
    case 'function_call_output':
      if (!item.call_id) throw refused(`${field}.call_id`, 'is required');
      return { role: 'tool', tool_call_id: item.call_id, content: contentOf(item.output, `${field}.output`) };
    default:
      throw refused(
        `${field}.type`,
        `an item of the type ${JSON.stringify(item.type)} is not understood by this provider`,
      );
  }
}

/** Not everybody knows developers; systems are the same thing. */
function roleOf({ role = 'user' }: Item): NonNullable<Item['role']> {
  return role === 'developer' ? 'system' : role;
}

/** A turn of nothing but lost thoughts is no message. */
function saysSomething({ role, content, tool_calls, refusal, provider_content }: ChatMessage): boolean {
  if (role !== 'assistant') return true;
  return !!content?.length || !!tool_calls?.length || !!refusal || !!provider_content?.length;
}
