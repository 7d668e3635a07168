import Anthropic, { APIError } from '@anthropic-ai/sdk';
import type { TestDaemon } from '../daemon.ts';
import { type Asked, type Failure, gather, type StockClient, TOOL_SCHEMA, type ToolCall } from './client.ts';

/** npm `@anthropic-ai/sdk`: messages. Its dialect has no embeddings. */
export function anthropicClient({ url, apiKey }: TestDaemon): StockClient {
  const client = new Anthropic({ baseURL: `${url}/compat/anthropic`, apiKey, maxRetries: 0 });
  const messages = (asked: Asked) =>
    (asked.apiKey ? client.withOptions({ apiKey: asked.apiKey }) : client).messages;
  return {
    name: '@anthropic-ai/sdk',
    async whole(asked) {
      const message = await messages(asked).create(bodyOf(asked), { signal: asked.signal });
      return { text: textOf(message), outputTokens: message.usage.output_tokens, calls: callsOf(message) };
    },
    stream: (asked, onPiece) =>
      gather(failureOf, async (heard) => {
        const stream = messages(asked).stream(bodyOf(asked), { signal: asked.signal });
        stream.on('text', (piece) => {
          heard.text += piece;
          heard.pieces++;
          onPiece?.();
        });
        heard.calls.push(...callsOf(await stream.finalMessage()));
      }),
    async object(asked, schema) {
      const format = { type: 'json_schema' as const, schema: { ...schema } };
      const message = await messages(asked).create({ ...bodyOf(asked), output_config: { format } });
      return JSON.parse(textOf(message));
    },
    failureOf,
  };
}

function bodyOf({ model, words, tools }: Asked) {
  return {
    model,
    max_tokens: 500,
    messages: [{ role: 'user' as const, content: words }],
    ...(tools && {
      tool_choice: { type: 'any' as const },
      tools: tools.map((name) => ({ name, input_schema: TOOL_SCHEMA })),
    }),
  };
}

function textOf({ content }: Anthropic.Message): string {
  return content.map((block) => (block.type === 'text' ? block.text : '')).join('');
}

function callsOf({ content }: Anthropic.Message): ToolCall[] {
  return content.flatMap((block) => (block.type === 'tool_use' ? [[block.name, block.input] as const] : []));
}

function failureOf(error: unknown): Failure {
  if (!(error instanceof APIError)) throw error;
  return { status: error.status, message: error.message };
}
