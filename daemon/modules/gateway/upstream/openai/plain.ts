import type { ProviderAccount } from '../../../providers/index.ts';
import type { ChatMessage, ChatRequest } from '../../wire/chat.ts';

/** Fields of the family's wider circle, which its first members refuse. */
const FOREIGN = ['provider_content', 'reasoning_content', 'cache_control'] as const;
/** Providers that take thoughts back. */
const TAKE_THOUGHTS = ['openrouter', 'deepseek', 'moonshot', 'vllm'];

/**
 * The request without what this upstream does not know: a conversation that began with a provider of another dialect
 * carries its thoughts, their signatures and marks of its cache. Requests without such fields pass as they are.
 */
export function plainRequest(
  request: ChatRequest,
  { name, dialect }: Pick<ProviderAccount, 'name' | 'dialect'>,
): ChatRequest {
  const refused = refusedBy(name, dialect);
  if (refused.length === 0 || !request.messages.some((message) => hasAny(message, refused))) return request;
  return { ...request, messages: request.messages.map((message) => without(message, refused)) };
}

function refusedBy(name: string, dialect: string): readonly string[] {
  if (name === 'openai' || dialect === 'azure') return FOREIGN;
  return TAKE_THOUGHTS.includes(name) ? [] : ['provider_content'];
}

function hasAny(message: ChatMessage, fields: readonly string[]): boolean {
  if (fields.some((field) => field in message)) return true;
  return (
    Array.isArray(message.content) && message.content.some((part) => fields.some((field) => field in part))
  );
}

function without(message: ChatMessage, fields: readonly string[]): ChatMessage {
  const { content } = message;
  const shorter = omit(message, fields);
  return Array.isArray(content)
    ? { ...shorter, content: content.map((part) => omit(part, fields)) }
    : shorter;
}

function omit<T extends object>(value: T, fields: readonly string[]): T {
  return Object.fromEntries(Object.entries(value).filter(([name]) => !fields.includes(name))) as T;
}
