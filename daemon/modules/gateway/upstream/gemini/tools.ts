import type { ChatRequest, ChatTool } from '../../wire/chat.ts';
import { isObject } from '../translate/content.ts';
import { toGeminiSchema } from './schema.ts';
import type { GeminiRequest } from './wire.ts';

/** Tools that the provider runs itself, by the types that callers give them. */
const BUILT_IN: Readonly<Record<string, string>> = {
  google_search: 'googleSearch',
  web_search: 'googleSearch',
  web_search_preview: 'googleSearch',
  url_context: 'urlContext',
  code_execution: 'codeExecution',
  code_interpreter: 'codeExecution',
};

/** The tools and which of them may be called. */
export function toTools(request: ChatRequest): Pick<GeminiRequest, 'tools' | 'toolConfig'> {
  const { tools = [], tool_choice } = request;
  const functionDeclarations = tools.flatMap(({ function: declared }) =>
    declared ? [declarationOf(declared)] : [],
  );
  const builtIn = new Set(tools.flatMap(({ type }) => BUILT_IN[type] ?? []));
  if ('web_search_options' in request && request.web_search_options) builtIn.add('googleSearch');
  const all = [
    ...(functionDeclarations.length > 0 ? [{ functionDeclarations }] : []),
    ...[...builtIn].map((name) => ({ [name]: {} })),
  ];
  if (all.length === 0) return {};
  const config = functionDeclarations.length > 0 ? choiceOf(tool_choice) : undefined;
  return { tools: all, toolConfig: config && { functionCallingConfig: config } };
}

function declarationOf({ name, description, parameters }: NonNullable<ChatTool['function']>) {
  return { name, description, parametersJsonSchema: parameters && toGeminiSchema(parameters) };
}

type Choice = NonNullable<GeminiRequest['toolConfig']>['functionCallingConfig'];

function choiceOf(choice: ChatRequest['tool_choice']): Choice | undefined {
  if (choice === undefined) return undefined;
  if (typeof choice === 'string') return { mode: MODES[choice] ?? 'AUTO' };
  const wish = choice as Record<string, unknown>;
  if (choice.type === 'allowed_tools' && isObject(wish.allowed_tools)) {
    const { mode, tools } = wish.allowed_tools;
    const names = Array.isArray(tools) ? tools.flatMap(nameIn) : [];
    return { mode: mode === 'required' ? 'ANY' : 'VALIDATED', allowedFunctionNames: names };
  }
  const [name] = nameIn(choice);
  return name === undefined ? undefined : { mode: 'ANY', allowedFunctionNames: [name] };
}

const MODES: Readonly<Record<string, string>> = { auto: 'AUTO', none: 'NONE', required: 'ANY' };

function nameIn(value: unknown): string[] {
  const named = isObject(value) && isObject(value.function) ? value.function.name : undefined;
  return typeof named === 'string' ? [named] : [];
}
