import { refused } from '../../upstream/refused.ts';
import type { ChatRequest, ChatTool } from '../../wire/chat.ts';
import type { MessagesRequest, MessagesTool } from '../../wire/messages.ts';
import { chatMessages } from './chat-messages.ts';
import type { Taste } from './taste.ts';

const LEAST_MEDIUM = 4096;
const LEAST_HIGH = 16_384;

/**
 * A request of the Messages dialect as a chat completion. Left out is what has no word there: container, inference_geo, mostly top_k.
 * Errors: UpstreamError naming what would change the answer if it were left out.
 */
export function toChatRequest(request: MessagesRequest, taste: Taste): ChatRequest {
  const { model, stream, stop_sequences, temperature, top_p, metadata } = request;
  const effort = effortOf(request);
  const tier = tierOf(request.service_tier);
  return {
    model,
    messages: chatMessages(request, taste),
    [taste.limit]: request.max_tokens,
    ...(stream ? { stream } : {}),
    ...(typeof temperature === 'number' ? { temperature } : {}),
    ...(typeof top_p === 'number' ? { top_p } : {}),
    ...(stop_sequences?.length ? { stop: stop_sequences } : {}),
    ...toolsOf(request, taste),
    ...responseFormat(request),
    ...(effort ? { reasoning_effort: effort } : {}),
    ...(metadata?.user_id ? { user: metadata.user_id } : {}),
    ...(tier ? { service_tier: tier } : {}),
    ...(taste.ownWords ? ownWords(request) : {}),
  };
}

/** What adapters of other dialects read as it stands here, and more exactly than in the family's words. */
function ownWords({ thinking, top_k }: MessagesRequest): object {
  return { ...(thinking ? { thinking } : {}), ...(typeof top_k === 'number' ? { top_k } : {}) };
}

function toolsOf({ tools = [], tool_choice: choice }: MessagesRequest, taste: Taste): Partial<ChatRequest> {
  if (tools.length === 0) return {};
  return {
    tools: tools.map((tool, i) => toolOf(tool, `tools.${i}`, taste)),
    ...(choice ? { tool_choice: choiceOf(choice) } : {}),
    ...(choice?.disable_parallel_tool_use ? { parallel_tool_calls: false } : {}),
  };
}

function toolOf(tool: MessagesTool, field: string, { marks }: Taste): ChatTool {
  const { type, name, description, input_schema: parameters, strict, cache_control } = tool;
  if ((type && type !== 'custom') || !name)
    throw refused(field, `${type ?? 'this'} is a tool of another provider than this model has`);
  return {
    type: 'function',
    function: {
      name,
      ...(description ? { description } : {}),
      ...(parameters ? { parameters } : {}),
      ...(strict ? { strict } : {}),
    },
    ...(marks && cache_control ? { cache_control } : {}),
  };
}

function choiceOf({ type, name }: NonNullable<MessagesRequest['tool_choice']>): ChatRequest['tool_choice'] {
  const named = { type: 'function', function: { name } };
  if (type === 'tool') return named;
  if (type === 'any') return 'required';
  if (type === 'auto' || type === 'none') return type;
  throw refused('tool_choice.type', 'is auto, any, tool or none');
}

function responseFormat({ output_config }: MessagesRequest): Pick<ChatRequest, 'response_format'> {
  const schema = output_config?.format?.schema;
  return schema
    ? { response_format: { type: 'json_schema', json_schema: { name: 'answer', strict: true, schema } } }
    : {};
}

/** Efforts above `high` are `high` here, since few models know more. */
function effortOf({ thinking, output_config }: MessagesRequest): string | undefined {
  const { effort } = output_config ?? {};
  if (effort) return effort === 'low' || effort === 'medium' ? effort : 'high';
  const { type, budget_tokens: budget = 0 } = thinking ?? {};
  if (type !== 'enabled') return undefined;
  return budget >= LEAST_HIGH ? 'high' : budget >= LEAST_MEDIUM ? 'medium' : 'low';
}

function tierOf(tier: string | undefined): string | undefined {
  return tier === 'standard_only' ? 'default' : tier;
}
