import type { ChatRequest } from '../../wire/chat.ts';
import { isObject } from '../translate/content.ts';
import { cachePointOf } from './blocks.ts';
import type { Traits } from './models.ts';
import type { ConverseRequest, ToolEntry } from './wire.ts';

/** The tool through which a model without schemas is made to answer by one. */
export const ANSWER_TOOL = 'json_answer';

type ToolConfig = NonNullable<ConverseRequest['toolConfig']>;

/**
 * The tools and which of them must be called. Tools that a conversation has used must be declared, even when none may be
 * called any more. `schema` adds the tool that takes the answer; `forces` is false where a choice is refused.
 */
export function toToolConfig(
  request: ChatRequest,
  traits: Traits,
  schema: unknown,
  forces: boolean,
): ToolConfig | undefined {
  const declared = request.tool_choice === 'none' && !hasCalls(request) ? [] : entriesOf(request, traits);
  const names = new Set(declared.flatMap((entry) => ('toolSpec' in entry ? [entry.toolSpec.name] : [])));
  const used = usedNames(request).filter((name) => !names.has(name));
  const tools = [...declared, ...used.map((name) => entry(name, undefined, undefined))];
  if (schema)
    tools.push(entry(ANSWER_TOOL, 'Takes the answer. Call it once, with the whole answer.', schema));
  if (tools.length === 0) return undefined;
  const choice = schema ? answerChoice(declared.length > 0) : choiceOf(request.tool_choice);
  return { tools, toolChoice: forces || choice?.auto ? choice : undefined };
}

function entriesOf({ tools = [] }: ChatRequest, { isClaude, generation }: Traits): ToolEntry[] {
  return tools.flatMap((tool) => {
    const { function: declared } = tool;
    if (!declared) return [];
    const { toolSpec } = entry(declared.name, declared.description, declared.parameters);
    const strict = declared.strict === true && isClaude && generation >= 45 && generation < 47;
    const point = isClaude ? cachePointOf(tool) : undefined;
    return [{ toolSpec: strict ? { ...toolSpec, strict } : toolSpec }, ...(point ? [point] : [])];
  });
}

function entry(name: string, description: string | undefined, schema: unknown) {
  const json = isObject(schema) ? { type: 'object', ...schema } : { type: 'object', properties: {} };
  return { toolSpec: { name, ...(description ? { description } : {}), inputSchema: { json } } };
}

function answerChoice(hasOthers: boolean): Record<string, unknown> {
  return hasOthers ? { any: {} } : { tool: { name: ANSWER_TOOL } };
}

function choiceOf(choice: ChatRequest['tool_choice']): Record<string, unknown> | undefined {
  if (choice === undefined || choice === 'none') return undefined;
  if (typeof choice === 'string') return choice === 'required' ? { any: {} } : { auto: {} };
  const { function: named } = choice as { function?: unknown };
  return isObject(named) && typeof named.name === 'string' ? { tool: { name: named.name } } : undefined;
}

function hasCalls({ messages }: ChatRequest): boolean {
  return messages.some(({ role, tool_calls }) => role === 'tool' || (tool_calls?.length ?? 0) > 0);
}

function usedNames({ messages }: ChatRequest): string[] {
  const names = messages.flatMap(({ tool_calls }) =>
    (tool_calls ?? []).flatMap(({ function: called }) => called?.name ?? []),
  );
  return [...new Set(names)];
}
