import type OpenAI from 'openai';
import { APIError } from 'openai';

/** A message of an assistant, as the stock client has it, with calls of functions only. */
export type Said = Omit<OpenAI.ChatCompletionAssistantMessageParam, 'tool_calls'> & {
  tool_calls?: OpenAI.ChatCompletionMessageFunctionToolCall[];
};

/** A picture of one pixel: 70 bytes of PNG. */
export const PIXEL =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** One message of a user. */
export function say(content: string): OpenAI.ChatCompletionMessageParam[] {
  return [{ role: 'user', content }];
}

/** Two tools that take a text. */
export const READ_AND_WRITE: OpenAI.ChatCompletionTool[] = ['read', 'write'].map((name) => ({
  type: 'function',
  function: { name, parameters: { type: 'object', properties: { text: { type: 'string' } } } },
}));

/** What a stream says in all, in how many events, and its usage. */
export async function streamedText(
  client: OpenAI,
  request: Omit<OpenAI.ChatCompletionCreateParams, 'stream'>,
) {
  let text = '';
  let events = 0;
  let usage: OpenAI.CompletionUsage | undefined;
  for await (const chunk of await client.chat.completions.create({ ...request, stream: true })) {
    events++;
    text += chunk.choices[0]?.delta.content ?? '';
    usage = chunk.usage ?? usage;
  }
  return { text, events, usage };
}

/** The error that the stock client raises. */
export async function failureOf(work: Promise<unknown>): Promise<APIError> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error instanceof APIError) return error;
  throw new Error(`no error of the API but ${String(error)}`);
}
