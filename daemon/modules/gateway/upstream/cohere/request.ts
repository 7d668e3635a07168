import type { ChatContentPart, ChatMessage, ChatRequest, ChatTool } from '../../wire/chat.ts';
import { refused } from '../refused.ts';
import { isObject, stopList, textOf } from '../translate/content.ts';
import type { CohereMessage, CoherePart } from './wire.ts';

/** What `provider_content` carries of an answer: the thoughts and the plan before its calls, which are to come back. */
export type KeptThought =
  | { readonly type: 'cohere.thinking'; readonly thinking: string }
  | { readonly type: 'cohere.tool_plan'; readonly tool_plan: string };

/** Tokens of thought for an effort. */
const BUDGETS: Readonly<Record<string, number>> = {
  minimal: 512,
  low: 1024,
  medium: 4096,
  high: 16_384,
  xhigh: 31_000,
  max: 31_000,
};

/** Fields of Cohere's own that pass as they are. */
const OWN_FIELDS = ['documents', 'citation_options', 'safety_mode', 'k', 'thinking', 'priority'];

/** A chat completion in the words of Chat v2. Errors: UpstreamError of kind request. */
export function toCohere(request: ChatRequest): Record<string, unknown> {
  const {
    temperature,
    tools = [],
    response_format: format,
    top_k,
  } = request as ChatRequest & { top_k?: number };
  const given = Object.entries(request).filter(([name]) => OWN_FIELDS.includes(name));
  return {
    model: request.model,
    messages: request.messages.map(toMessage),
    stream: request.stream === true,
    max_tokens: request.max_completion_tokens ?? request.max_tokens ?? undefined,
    temperature: temperature === null || temperature === undefined ? undefined : Math.min(temperature, 1),
    p: request.top_p ?? undefined,
    k: top_k,
    seed: request.seed ?? undefined,
    stop_sequences: stopList(request.stop),
    frequency_penalty: penalty(request.frequency_penalty),
    presence_penalty: penalty(request.presence_penalty),
    ...toTools(tools, request.tool_choice),
    response_format: toFormat(format),
    thinking: thinkingOf(request.reasoning_effort),
    ...Object.fromEntries(given),
  };
}

/** Penalties go from 0 to 1 here. */
function penalty(value: number | null | undefined): number | undefined {
  return value === null || value === undefined ? undefined : Math.min(Math.max(value, 0), 1);
}

function thinkingOf(effort: string | null | undefined): Record<string, unknown> | undefined {
  if (!effort) return undefined;
  return effort === 'none' ? { type: 'disabled' } : { type: 'enabled', token_budget: BUDGETS[effort] };
}

function toFormat(format: ChatRequest['response_format']): Record<string, unknown> | undefined {
  if (format?.type === 'json_object') return { type: 'json_object' };
  if (format?.type !== 'json_schema') return undefined;
  return { type: 'json_object', json_schema: format.json_schema?.schema };
}

/** A choice of one tool is a duty to call that leaves no other. */
function toTools(tools: readonly ChatTool[], choice: ChatRequest['tool_choice']): Record<string, unknown> {
  const { function: wanted } = (isObject(choice) ? choice : {}) as { function?: unknown };
  const named = isObject(wanted) ? wanted.name : undefined;
  const offered = tools.flatMap(({ function: declared }) =>
    declared && (!named || declared.name === named) ? [declared] : [],
  );
  if (offered.length === 0) return {};
  const tool_choice = named || choice === 'required' ? 'REQUIRED' : choice === 'none' ? 'NONE' : undefined;
  const strict_tools = offered.some(({ strict }) => strict) || undefined;
  return {
    tools: offered.map(({ strict: _, ...declared }) => ({
      type: 'function',
      function: withSchema(declared),
    })),
    tool_choice,
    strict_tools,
  };
}

function withSchema(declared: Record<string, unknown>): Record<string, unknown> {
  return { ...declared, parameters: declared.parameters ?? { type: 'object', properties: {} } };
}

function toMessage(message: ChatMessage): CohereMessage {
  const { role, content, tool_call_id, name } = message;
  if (role === 'system' || role === 'developer') return { role: 'system', content: textOf(content) };
  if (role === 'tool' || role === 'function')
    return { role: 'tool', tool_call_id: tool_call_id ?? name, content: textOf(content) };
  if (role === 'assistant') return answered(message);
  return { role: 'user', content: typeof content === 'string' ? content : (content ?? []).map(partOf) };
}

function answered(message: ChatMessage): CohereMessage {
  const kept = keptThoughts(message);
  const thoughts = kept.flatMap((entry): CoherePart[] =>
    entry.type === 'cohere.thinking' ? [{ type: 'thinking', thinking: entry.thinking }] : [],
  );
  const text = textOf(message.content);
  const calls = (message.tool_calls ?? []).flatMap(({ id, function: called }) =>
    called
      ? [{ id, type: 'function' as const, function: { name: called.name, arguments: called.arguments } }]
      : [],
  );
  const plan = kept.find((entry) => entry.type === 'cohere.tool_plan');
  const content: CoherePart[] = [...thoughts, ...(text === '' ? [] : [{ type: 'text' as const, text }])];
  return {
    role: 'assistant',
    ...(content.length > 0 ? { content } : {}),
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
    ...(plan ? { tool_plan: plan.tool_plan } : {}),
  };
}

function keptThoughts({ provider_content }: ChatMessage): KeptThought[] {
  return (provider_content ?? []).filter((entry): entry is KeptThought => {
    if (!isObject(entry)) return false;
    if (entry.type === 'cohere.thinking') return typeof entry.thinking === 'string';
    return entry.type === 'cohere.tool_plan' && typeof entry.tool_plan === 'string';
  });
}

function partOf({ type, text, image_url }: ChatContentPart): CoherePart {
  if (type === 'text') return { type, text: text ?? '' };
  if (type === 'image_url' && image_url)
    return { type, image_url: { url: image_url.url, detail: image_url.detail } };
  throw refused('messages', `has a part of type ${JSON.stringify(type)}, which has no place here`);
}
