import { UpstreamError } from '../../../upstream/error.ts';
import { isObject } from '../../../upstream/translate/content.ts';
import type { ChatRequest, ChatTool } from '../../../wire/chat.ts';
import type { ResponseRequest } from '../wire.ts';

type Tool = NonNullable<ResponseRequest['tools']>[number];

/** The error of a request that a provider of chat completions has no word for. `field` is its path. */
export function refused(field: string, description: string): UpstreamError {
  const details = { status: 400, param: field, type: 'invalid_request_error', code: 'unsupported_value' };
  return new UpstreamError('request', `${field}: ${description}`, details);
}

/** The part of a chat request that is about tools. Errors: UpstreamError for tools that only their vendor runs. */
export function toolsOf(
  request: ResponseRequest,
): Pick<ChatRequest, 'tools' | 'tool_choice' | 'parallel_tool_calls'> {
  const { tools = [], tool_choice: choice, parallel_tool_calls: parallel } = request;
  const allowed = allowedNames(choice);
  const chat = tools.map(toolOf).filter(({ function: tool }) => !allowed || allowed.has(tool?.name));
  if (chat.length === 0) return {};
  const chatChoice = choice == null ? undefined : choiceOf(choice);
  return {
    tools: chat,
    ...(chatChoice === undefined ? {} : { tool_choice: chatChoice }),
    ...(typeof parallel === 'boolean' ? { parallel_tool_calls: parallel } : {}),
  };
}

function toolOf({ type, name, description, parameters, strict }: Tool, i: number): ChatTool {
  if (type !== 'function')
    throw refused(
      `tools.${i}.type`,
      `the provider of this model runs no tools of its own, so ${JSON.stringify(type)} is not to be had; use functions, or a provider with Responses`,
    );
  if (!name) throw refused(`tools.${i}.name`, 'is required');
  return {
    type,
    function: {
      name,
      ...(description ? { description } : {}),
      ...(parameters ? { parameters } : {}),
      ...(typeof strict === 'boolean' ? { strict } : {}),
    },
  };
}

function choiceOf(choice: NonNullable<ResponseRequest['tool_choice']>): ChatRequest['tool_choice'] {
  if (typeof choice === 'string') return choice;
  const { type, name, mode } = choice as { type: string; name?: unknown; mode?: unknown };
  if (type === 'function' && typeof name === 'string') {
    const named = { type, function: { name } };
    return named;
  }
  if (type === 'allowed_tools') return mode === 'required' ? 'required' : 'auto';
  throw refused(
    'tool_choice.type',
    `${JSON.stringify(type)} is not to be had from the provider of this model`,
  );
}

/** The names that `allowed_tools` leaves; undefined when all are left. */
function allowedNames(choice: ResponseRequest['tool_choice'] | null): Set<unknown> | undefined {
  if (typeof choice !== 'object' || choice === null || choice.type !== 'allowed_tools') return undefined;
  const { tools } = choice as { tools?: unknown };
  return new Set(Array.isArray(tools) ? tools.map((tool) => (isObject(tool) ? tool.name : undefined)) : []);
}
