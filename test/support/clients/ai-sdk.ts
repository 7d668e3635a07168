import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { APICallError, embedMany, generateText, jsonSchema, Output, streamText, tool } from 'ai';
import type { TestDaemon } from '../daemon.ts';
import { type Asked, type Failure, gather, type StockClient, TOOL_SCHEMA, type ToolCall } from './client.ts';

/** npm `ai` with `@ai-sdk/openai-compatible`: chat completions and embeddings. */
export function aiSdkClient({ url, apiKey }: TestDaemon): StockClient {
  const providerWith = (key: string) =>
    createOpenAICompatible({
      name: 'svc',
      baseURL: `${url}/compat/v1`,
      apiKey: key,
      includeUsage: true,
      supportsStructuredOutputs: true,
    });
  const provider = providerWith(apiKey);
  const settingsOf = (asked: Asked) => ({
    model: (asked.apiKey ? providerWith(asked.apiKey) : provider).chatModel(asked.model),
    prompt: asked.words,
    maxRetries: 0,
    abortSignal: asked.signal,
    ...(asked.tools && { tools: toolsOf(asked.tools), toolChoice: 'required' as const }),
  });
  return {
    name: 'ai + @ai-sdk/openai-compatible',
    async whole(asked) {
      const { text, usage, toolCalls } = await generateText(settingsOf(asked));
      return { text, outputTokens: usage.outputTokens ?? 0, calls: callsOf(toolCalls) };
    },
    stream: (asked, onPiece) =>
      gather(failureOf, async (heard) => {
        const { fullStream } = streamText({ ...settingsOf(asked), onError: () => {} });
        for await (const part of fullStream) {
          if (part.type === 'error') throw part.error;
          if (part.type === 'abort') throw new DOMException('left', 'AbortError');
          if (part.type === 'tool-call') heard.calls.push(...callsOf([part]));
          if (part.type !== 'text-delta') continue;
          heard.text += part.text;
          heard.pieces++;
          onPiece?.();
        }
      }),
    async object(asked, schema) {
      const { output } = await generateText({
        ...settingsOf(asked),
        output: Output.object({ schema: jsonSchema(schema) }),
      });
      return output;
    },
    async embed(model, texts) {
      const { embeddings } = await embedMany({
        model: provider.embeddingModel(model),
        values: [...texts],
        maxRetries: 0,
      });
      return embeddings;
    },
    failureOf,
  };
}

function toolsOf(names: readonly string[]) {
  return Object.fromEntries(names.map((name) => [name, tool({ inputSchema: jsonSchema(TOOL_SCHEMA) })]));
}

function callsOf(calls: ReadonlyArray<{ toolName: string; input: unknown }>): ToolCall[] {
  return calls.map(({ toolName, input }) => [toolName, input]);
}

function failureOf(error: unknown): Failure {
  if (APICallError.isInstance(error)) return { status: error.statusCode, message: error.message };
  // What comes as an event in a stream is handed on as it came.
  const said = error instanceof Error ? error.message : JSON.stringify(error);
  return { status: undefined, message: said };
}
