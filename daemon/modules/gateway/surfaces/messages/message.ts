import { parseNested } from '../../../../../src/kit/nesting.ts';
import type { ChatCompletion, ChatMessage } from '../../wire/chat.ts';
import { usageOf } from '../../wire/chat-usage.ts';
import type { MessagesBlock, MessagesMessage, MessagesUsage } from '../../wire/messages.ts';
import type { Usage } from '../../wire/usage.ts';
import { carry } from './carried.ts';

/** Why a message ended, in the words of this dialect. */
const STOP_REASONS: Readonly<Record<string, string>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  function_call: 'tool_use',
  content_filter: 'refusal',
};

/** A chat completion as a message: its first choice. */
export function toMessage(completion: ChatCompletion): MessagesMessage {
  const [choice] = completion.choices;
  const content = choice ? blocksOf(choice.message) : [];
  return {
    id: completion.id,
    type: 'message',
    role: 'assistant',
    model: completion.model,
    content,
    stop_reason: stopReason(choice?.finish_reason, content.some(isCall)),
    stop_sequence: null,
    usage: toMessagesUsage(usageOf(completion)),
  };
}

/** Some providers end with `stop` after calls. */
export function stopReason(finish: string | null | undefined, hasCalls: boolean): string {
  if (hasCalls && (!finish || finish === 'stop')) return 'tool_use';
  return STOP_REASONS[finish ?? 'stop'] ?? 'end_turn';
}

/** Counts in the words of this dialect, whose input leaves out what caches gave and took. */
export function toMessagesUsage(usage: Usage = { input: 0, output: 0 }): MessagesUsage {
  const { input, output, cachedInput = 0, cacheWrite = 0, reasoning } = usage;
  return {
    input_tokens: Math.max(0, input - cachedInput - cacheWrite),
    cache_creation_input_tokens: cacheWrite,
    cache_read_input_tokens: cachedInput,
    output_tokens: output,
    ...(reasoning === undefined ? {} : { output_tokens_details: { thinking_tokens: reasoning } }),
  };
}

/** The thinking that a message or a delta of one shows, under either of its names. */
export function thoughtIn(said: object): string {
  const { reasoning_content, reasoning } = said as { reasoning_content?: unknown; reasoning?: unknown };
  const text = reasoning_content ?? reasoning;
  return typeof text === 'string' ? text : '';
}

/** The input of a call: an object always, since callers read its fields. */
export function inputOf(given: string): unknown {
  try {
    const value: unknown = parseNested(given || '{}');
    return typeof value === 'object' && value !== null ? value : { value };
  } catch {
    return { text: given };
  }
}

function blocksOf(message: ChatMessage): MessagesBlock[] {
  const { content, refusal, tool_calls = [], provider_content: kept = [] } = message;
  const said = textOf(content) + (refusal ?? '');
  return [
    ...thoughts(thoughtIn(message), kept),
    ...(said === '' ? [] : [{ type: 'text', text: said }]),
    ...tool_calls.map(({ id, function: called }) => ({
      type: 'tool_use',
      id,
      name: called?.name ?? '',
      input: inputOf(called?.arguments ?? ''),
    })),
  ];
}

function thoughts(thinking: string, kept: readonly unknown[]): MessagesBlock[] {
  const signature = kept.length > 0 ? carry(kept) : '';
  if (thinking !== '') return [{ type: 'thinking', thinking, signature }];
  return signature === '' ? [] : [{ type: 'redacted_thinking', data: signature }];
}

function textOf(content: ChatMessage['content']): string {
  return typeof content === 'string' ? content : (content ?? []).map(({ text }) => text ?? '').join('');
}

function isCall({ type }: MessagesBlock): boolean {
  return type === 'tool_use';
}
