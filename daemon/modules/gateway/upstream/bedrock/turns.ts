import type { ChatMessage, ChatRequest } from '../../wire/chat.ts';
import { argumentsOf, isObject, textOf } from '../translate/content.ts';
import { Blocks, isBlank } from './blocks.ts';
import type { Traits } from './models.ts';
import type { Block, CachePoint, ConverseRequest, Reasoning, Turn } from './wire.ts';

/** What `provider_content` carries of an answer: thoughts that must come back before what follows from them. */
export interface KeptReasoning {
  readonly type: 'bedrock.reasoning';
  readonly reasoning: Reasoning;
}

/** A conversation begins with the user and says something in every turn. */
const FIRST_WORDS = '.';
const LONGEST_ID = 64;
const MISTRAL_ID = /^[a-zA-Z0-9]{9}$/;

/** The conversation: turns of one role are joined, and instructions go to `system` wherever they stand. */
export function toTurns(
  { messages }: ChatRequest,
  { hasCache, isMistral }: Pick<Traits, 'hasCache' | 'isMistral'>,
): Pick<ConverseRequest, 'messages' | 'system'> {
  const blocks = new Blocks(hasCache);
  const turns: Turn[] = [];
  const idOf = isMistral ? mistralId : toolUseId;
  const system: ({ text: string } | CachePoint)[] = [];
  for (const message of messages) {
    const { role } = message;
    if (role === 'system' || role === 'developer') system.push(...instructions(message, blocks));
    else if (role === 'assistant')
      append(turns, 'assistant', [...answered(message, blocks, idOf), ...blocks.cached(message)]);
    else if (role === 'tool' || role === 'function')
      append(turns, 'user', [...result(message, blocks, idOf), ...blocks.cached(message)]);
    else append(turns, 'user', [...blocks.of(message.content), ...blocks.cached(message)]);
  }
  if (turns.length === 0 && system.length > 0) return { messages: [{ role: 'user', content: system }] };
  if (turns[0]?.role === 'assistant') turns.unshift({ role: 'user', content: [{ text: FIRST_WORDS }] });
  trimPrefill(turns);
  return { messages: turns, system: system.length > 0 ? system : undefined };
}

function instructions(message: ChatMessage, blocks: Blocks): ({ text: string } | CachePoint)[] {
  const { content } = message;
  const parts = typeof content === 'string' || !content ? [{ type: 'text', text: textOf(content) }] : content;
  const texts = parts.flatMap((part) =>
    part.text && !isBlank(part.text) ? [{ text: part.text }, ...blocks.cached(part)] : [],
  );
  return [...texts, ...blocks.cached(message)];
}

function append(turns: Turn[], role: Turn['role'], content: Block[]): void {
  const last = turns.at(-1);
  if (content.length === 0) return;
  if (last?.role === role) last.content.push(...content);
  else turns.push({ role, content });
}

type IdOf = (id: string) => string;

function answered(message: ChatMessage, blocks: Blocks, idOf: IdOf): Block[] {
  const calls = (message.tool_calls ?? []).flatMap(({ id, function: called }): Block[] =>
    called
      ? [{ toolUse: { toolUseId: idOf(id), name: called.name, input: argumentsOf(called.arguments) } }]
      : [],
  );
  const reasoning = keptReasoning(message).map((reasoningContent): Block => ({ reasoningContent }));
  return [...reasoning, ...blocks.of(message.content), ...calls];
}

/** The thoughts of an answer of this dialect. */
export function keptReasoning({ provider_content }: ChatMessage): Reasoning[] {
  return (provider_content ?? []).flatMap((entry) =>
    isObject(entry) && entry.type === 'bedrock.reasoning' && isObject(entry.reasoning)
      ? [entry.reasoning as Reasoning]
      : [],
  );
}

function result(message: ChatMessage, blocks: Blocks, idOf: IdOf): Block[] {
  const { tool_call_id, name, content, is_error } = message as ChatMessage & { is_error?: unknown };
  const inside = blocks.of(content);
  const cached = inside.filter((block) => 'cachePoint' in block);
  const said = inside.filter((block) => !('cachePoint' in block));
  const words = said.length > 0 ? said : [{ text: '(empty)' }];
  const status = is_error === true ? { status: 'error' as const } : {};
  return [
    { toolResult: { toolUseId: idOf(tool_call_id ?? name ?? ''), content: words, ...status } },
    ...cached,
  ];
}

/** Ids of other providers may be longer or have other characters; a call and its result are changed alike. */
export function toolUseId(id: string): string {
  const plain = id.replace(/[^a-zA-Z0-9_-]/g, '_');
  if (plain === id && id.length <= LONGEST_ID && id !== '') return id;
  return `${plain.slice(0, LONGEST_ID - 17)}_${Bun.hash(id).toString(16).padStart(16, '0')}`;
}

function mistralId(id: string): string {
  return MISTRAL_ID.test(id) ? id : Bun.hash(id).toString(36).padStart(9, '0').slice(-9);
}

/** An answer that is to be continued may not end with white space. */
function trimPrefill(turns: Turn[]): void {
  const last = turns.at(-1);
  const block = last?.role === 'assistant' ? last.content.at(-1) : undefined;
  if (block && 'text' in block) block.text = block.text.trimEnd();
}
