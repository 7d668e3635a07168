import type { ChatRequest } from '../../wire/chat.ts';
import type { MessagesRequest, MessagesTool } from '../../wire/messages.ts';
import type { ModelTraits } from './model.ts';
import { asOutputSchema } from './output-schema.ts';

/** The tool by whose input a model answers in JSON, where it can be held to a schema in no other way. */
export const OUTPUT_TOOL = 'answer_in_json';

/** How an answer is held to JSON: by the provider, by a tool that must be called, or by being told to. At most one of them. */
export interface Output {
  readonly format?: NonNullable<MessagesRequest['output_config']>['format'];
  readonly tool?: MessagesTool;
  readonly instruction?: string;
}

/** How the answer to a request is held to its `response_format`. */
export function outputOf({ response_format: wanted, tools = [] }: ChatRequest, traits: ModelTraits): Output {
  if (wanted?.type !== 'json_schema' && wanted?.type !== 'json_object') return {};
  const schema = wanted.type === 'json_schema' ? schemaIn(wanted.json_schema) : undefined;
  const closed = schema && traits.structured ? asOutputSchema(schema) : undefined;
  if (closed) return { format: { type: 'json_schema', schema: closed } };
  if (traits.forcible && tools.length === 0) return { tool: outputTool(schema) };
  const like = schema ? ` that matches this JSON Schema: ${JSON.stringify(schema)}` : '';
  return { instruction: `Answer with one JSON object and nothing around it${like}` };
}

function schemaIn(given: Readonly<Record<string, unknown>> | undefined): Record<string, unknown> {
  const { schema } = given ?? {};
  return typeof schema === 'object' && schema !== null ? { ...schema } : { type: 'object' };
}

function outputTool(schema: Record<string, unknown> | undefined): MessagesTool {
  return {
    name: OUTPUT_TOOL,
    description: 'Gives the answer. Its input is the whole answer.',
    input_schema: { type: 'object', ...schema },
  };
}
