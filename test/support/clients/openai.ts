import OpenAI, { APIError } from 'openai';
import type { TestDaemon } from '../daemon.ts';
import { type Asked, type Failure, gather, type StockClient, TOOL_SCHEMA, type ToolCall } from './client.ts';

/** npm `openai`: chat completions and embeddings. */
export function openaiClient({ url, apiKey }: TestDaemon): StockClient {
  const client = new OpenAI({ baseURL: `${url}/compat/v1`, apiKey, maxRetries: 0 });
  const chat = (asked: Asked) =>
    (asked.apiKey ? client.withOptions({ apiKey: asked.apiKey }) : client).chat.completions;
  return {
    name: 'openai',
    async whole(asked) {
      const completion = await chat(asked).create(bodyOf(asked), { signal: asked.signal });
      const message = completion.choices[0]?.message;
      return {
        text: message?.content ?? '',
        outputTokens: completion.usage?.completion_tokens ?? 0,
        calls: callsOf(message?.tool_calls),
      };
    },
    stream: (asked, onPiece) =>
      gather(failureOf, async (heard) => {
        const stream = chat(asked).stream(bodyOf(asked), { signal: asked.signal });
        stream.on('content', (piece) => {
          heard.text += piece;
          heard.pieces++;
          onPiece?.();
        });
        const final = await stream.finalChatCompletion();
        heard.calls.push(...callsOf(final.choices[0]?.message.tool_calls));
      }),
    async object(asked, schema) {
      const completion = await chat(asked).parse({
        ...bodyOf(asked),
        response_format: {
          type: 'json_schema',
          json_schema: { name: 'page', strict: true, schema: { ...schema } },
        },
      });
      return completion.choices[0]?.message.parsed;
    },
    async embed(model, texts) {
      const { data } = await client.embeddings.create({ model, input: [...texts] });
      return data.map(({ embedding }) => embedding);
    },
    failureOf,
  };
}

function bodyOf({ model, words, tools }: Asked) {
  return {
    model,
    messages: [{ role: 'user' as const, content: words }],
    ...(tools && {
      tool_choice: 'required' as const,
      tools: tools.map((name) => ({
        type: 'function' as const,
        function: { name, parameters: TOOL_SCHEMA },
      })),
    }),
  };
}

function callsOf(calls: readonly OpenAI.ChatCompletionMessageToolCall[] = []): ToolCall[] {
  return calls.flatMap((call) =>
    call.type === 'function' ? [[call.function.name, JSON.parse(call.function.arguments)] as const] : [],
  );
}

function failureOf(error: unknown): Failure {
  if (!(error instanceof APIError)) throw error;
  return { status: error.status, message: error.message };
}
