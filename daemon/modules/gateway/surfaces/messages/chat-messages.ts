import { ownBlock } from '../../upstream/anthropic/provider-content.ts';
import { refused } from '../../upstream/refused.ts';
import type { ChatContentPart, ChatMessage, ChatToolCall } from '../../wire/chat.ts';
import type { MessagesBlock, MessagesRequest, MessagesTurn } from '../../wire/messages.ts';
import { carried } from './carried.ts';
import { partOf } from './chat-parts.ts';
import type { Taste } from './taste.ts';

/** The conversation of a request as chat messages, its instructions first. Errors: UpstreamError naming the block that cannot be said. */
export function chatMessages({ system, messages }: MessagesRequest, taste: Taste): ChatMessage[] {
  const first =
    system === undefined || system.length === 0 ? [] : [{ role: 'system' as const, content: system }];
  return [
    ...first.flatMap((turn) => plain(turn, 'system', taste)),
    ...messages.flatMap((turn, i) => turnOf(turn, `messages.${i}.content`, taste)),
  ];
}

function turnOf(turn: MessagesTurn, field: string, taste: Taste): ChatMessage[] {
  if (turn.role === 'assistant') return assistant(turn, field, taste);
  return turn.role === 'user' ? user(turn, field, taste) : plain(turn, field, taste);
}

function plain({ role, content }: MessagesTurn, field: string, taste: Taste): ChatMessage[] {
  if (typeof content === 'string') return [{ role, content }];
  return content.length === 0 ? [] : [{ role, content: joined(partsOf(content, field, taste)) }];
}

/** Results of tools are messages of their own, and go before what else the turn says. */
function user(turn: MessagesTurn, field: string, taste: Taste): ChatMessage[] {
  const { content } = turn;
  if (typeof content === 'string') return [{ role: 'user', content }];
  const results: ChatMessage[] = [];
  const rest: ChatContentPart[] = [];
  content.forEach((block, i) => {
    if (block.type !== 'tool_result') rest.push(partOf(block, `${field}.${i}`, taste));
    else results.push(toolMessage(block, `${field}.${i}`, taste, rest));
  });
  return rest.length > 0 ? [...results, { role: 'user', content: joined(rest) }] : results;
}

/** Messages of tools hold text alone: what else a result has goes to the user's, which follows them. */
function toolMessage(
  block: MessagesBlock,
  field: string,
  taste: Taste,
  rest: ChatContentPart[],
): ChatMessage {
  const { tool_use_id = '', content, is_error, cache_control } = block;
  const parts = Array.isArray(content) ? partsOf(content as MessagesBlock[], `${field}.content`, taste) : [];
  const others = parts.filter(({ type }) => type !== 'text');
  if (others.length > 0)
    rest.push({ type: 'text', text: `The result of ${tool_use_id} also has:` }, ...others);
  const said = typeof content === 'string' ? content : parts.flatMap(({ text }) => text ?? []).join('\n');
  return {
    role: 'tool',
    tool_call_id: tool_use_id,
    content: is_error ? `Error: ${said}` : said,
    ...(taste.marks && cache_control ? { cache_control } : {}),
  };
}

function assistant({ content }: MessagesTurn, field: string, { thoughts }: Taste): ChatMessage[] {
  if (typeof content === 'string') return [{ role: 'assistant', content }];
  const texts: string[] = [];
  const thinking: string[] = [];
  const kept: unknown[] = [];
  const calls: ChatToolCall[] = [];
  content.forEach((block, i) => {
    if (block.type === 'text') texts.push(block.text ?? '');
    else if (block.type === 'tool_use') calls.push(callOf(block));
    else if (block.type === 'tool_result')
      throw refused(`${field}.${i}`, 'a tool_result belongs to the user');
    else kept.push(...keptOf(block, thinking));
  });
  if (texts.length === 0 && calls.length === 0 && thinking.length === 0) return [];
  return [
    {
      role: 'assistant',
      content: texts.length > 0 ? texts.join('') : null,
      ...(calls.length > 0 ? { tool_calls: calls } : {}),
      ...(thoughts && thinking.length > 0 ? { reasoning_content: thinking.join('') } : {}),
      ...(thoughts && kept.length > 0 ? { provider_content: kept } : {}),
    },
  ];
}

/** What goes back unchanged: what a signature carries, or a block of the dialect's own provider. */
function keptOf(block: MessagesBlock, thinking: string[]): unknown[] {
  if (block.type === 'thinking' && block.thinking) thinking.push(block.thinking);
  const { signature = block.data } = block;
  return carried(signature) ?? (block.type === 'thinking' && !signature ? [] : [ownBlock(block)]);
}

function callOf({ id = '', name = '', input }: MessagesBlock): ChatToolCall {
  return { id, type: 'function', function: { name, arguments: JSON.stringify(input ?? {}) } };
}

function partsOf(blocks: readonly MessagesBlock[], field: string, taste: Taste): ChatContentPart[] {
  return blocks.map((block, i) => partOf(block, `${field}.${i}`, taste));
}

/** One text without a mark is a string, which every upstream takes. */
function joined(parts: ChatContentPart[]): string | ChatContentPart[] {
  const [only] = parts;
  const isPlain = parts.length === 1 && only?.type === 'text' && !('cache_control' in only);
  return isPlain ? (only.text ?? '') : parts;
}
