import type { ChatRequest, ChatTool } from '../../wire/chat.ts';
import type { MessagesRequest, MessagesTool, MessagesToolChoice } from '../../wire/messages.ts';
import { refused } from '../refused.ts';
import type { ModelTraits } from './model.ts';
import { asOutputSchema } from './output-schema.ts';

/** The part of a request that is about tools. */
export type Tools = Pick<MessagesRequest, 'tools' | 'tool_choice'>;

const NO_ARGUMENTS = { type: 'object', properties: {} };

/** The tools of a request and how they may be used. Errors: UpstreamError naming what cannot be said. */
export function toolsOf(request: ChatRequest, traits: ModelTraits): Tools {
  const search = webSearch(request);
  const tools = [...(request.tools ?? []).map((tool, i) => toolOf(tool, `tools.${i}`, traits)), ...search];
  if (tools.length === 0) return {};
  const choice = choiceOf(request);
  return { tools, ...(choice ? { tool_choice: choice } : {}) };
}

function toolOf(tool: ChatTool, field: string, { structured }: ModelTraits): MessagesTool {
  const { type, function: declared, cache_control } = tool as ChatTool & Pick<MessagesTool, 'cache_control'>;
  if (type !== 'function') return providerTool(tool, field);
  if (!declared) throw refused(`${field}.function`, 'is required');
  const { name, description, parameters, strict } = declared;
  const schema = strict && structured ? asOutputSchema(parameters ?? NO_ARGUMENTS) : undefined;
  const mark = cache_control ?? (declared as Pick<MessagesTool, 'cache_control'>).cache_control;
  return {
    name,
    ...(description ? { description } : {}),
    input_schema: schema ?? inputSchema(parameters),
    ...(schema ? { strict: true } : {}),
    ...(mark ? { cache_control: mark } : {}),
  };
}

/** A tool that runs at the provider, in its own words: `{type: 'web_search_20250305', name: 'web_search'}`. */
function providerTool(tool: ChatTool, field: string): MessagesTool {
  const { name } = tool as { name?: unknown };
  if (typeof name === 'string') return tool as ChatTool & { name: string };
  throw refused(field, `a tool of the type ${JSON.stringify(tool.type)} is not understood`);
}

/** The root of a tool's schema must be an object here. */
function inputSchema(parameters: Readonly<Record<string, unknown>> | undefined): Record<string, unknown> {
  return !parameters || Object.keys(parameters).length === 0
    ? NO_ARGUMENTS
    : { type: 'object', ...parameters };
}

function choiceOf({
  tool_choice: choice,
  parallel_tool_calls: parallel,
}: ChatRequest): MessagesToolChoice | undefined {
  const single = parallel === false ? { disable_parallel_tool_use: true } : {};
  if (choice === undefined || choice === null || choice === 'auto')
    return parallel === false ? { type: 'auto', ...single } : undefined;
  if (choice === 'none') return { type: 'none' };
  if (choice === 'required') return { type: 'any', ...single };
  const name =
    typeof choice === 'object' ? (choice as { function?: { name?: unknown } }).function?.name : undefined;
  if (typeof name === 'string') return { type: 'tool', name, ...single };
  throw refused('tool_choice', 'is auto, none, required or the name of a function');
}

/** `web_search_options`, as the provider's own search. */
function webSearch({
  web_search_options: options,
}: ChatRequest & { web_search_options?: unknown }): MessagesTool[] {
  if (typeof options !== 'object' || options === null) return [];
  const { approximate } =
    (options as { user_location?: { approximate?: object } | null }).user_location ?? {};
  const location = approximate ? { user_location: { type: 'approximate', ...approximate } } : {};
  return [{ type: 'web_search_20250305', name: 'web_search', ...location }];
}
