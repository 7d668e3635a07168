import { type IdPrefix, newId } from '../../../../../src/kit/id.ts';
import { kindOf } from './chat/conversation.ts';
import type { Item, ResponseRequest } from './wire.ts';

/** An input as items: a text is a message of the user. */
export function itemsOf(input: ResponseRequest['input']): Item[] {
  return typeof input === 'string' ? [{ type: 'message', role: 'user', content: input }] : [...(input ?? [])];
}

const PREFIXES: Readonly<Record<string, IdPrefix | undefined>> = {
  message: 'msg',
  reasoning: 'rs',
  function_call: 'fc',
  function_call_output: 'fco',
};

/** An item as it is kept: with an id, a status, and content in parts, as the dialect lists it. */
export function keptItem(item: Item, now: number): Item {
  const type = kindOf(item);
  const id = item.id || newId(PREFIXES[type] ?? 'item', now);
  const { status, ...rest } = item;
  const named = { ...rest, id, type };
  if (type === 'reasoning') return named;
  const state = { status: status ?? 'completed' };
  if (type !== 'message') return { ...named, ...state };
  const kind = item.role === 'assistant' ? 'output_text' : 'input_text';
  const more = item.role === 'assistant' ? { annotations: [] } : {};
  const content =
    typeof item.content === 'string' ? [{ type: kind, text: item.content, ...more }] : (item.content ?? []);
  return { role: 'user', ...named, ...state, content };
}
