import { ChatOpenAI, OpenAIEmbeddings } from '@langchain/openai';
import type { TestDaemon } from '../daemon.ts';
import { type Asked, type Failure, gather, type StockClient, TOOL_SCHEMA } from './client.ts';

/** npm `@langchain/openai`: chat completions and embeddings. */
export function langchainClient(daemon: TestDaemon): StockClient {
  const configuration = { baseURL: `${daemon.url}/compat/v1` };
  const chat = ({ model, apiKey = daemon.apiKey }: Asked) =>
    new ChatOpenAI({ model, apiKey, configuration, maxRetries: 0 });
  const runnable = (asked: Asked) =>
    asked.tools ? chat(asked).bindTools(asked.tools.map(toolOf), { tool_choice: 'required' }) : chat(asked);
  return {
    name: '@langchain/openai',
    async whole(asked) {
      const {
        text,
        tool_calls = [],
        usage_metadata,
      } = await runnable(asked).invoke(asked.words, {
        signal: asked.signal,
      });
      return {
        text,
        outputTokens: usage_metadata?.output_tokens ?? 0,
        calls: tool_calls.map(({ name, args }) => [name, args]),
      };
    },
    stream: (asked, onPiece) =>
      gather(failureOf, async (heard) => {
        const stream = await runnable(asked).stream(asked.words, { signal: asked.signal });
        let all: Awaited<ReturnType<typeof stream.next>>['value'];
        for await (const piece of stream) {
          all = all?.concat(piece) ?? piece;
          heard.text += piece.text;
          if (piece.text === '') continue;
          heard.pieces++;
          onPiece?.();
        }
        for (const { name, args } of all?.tool_calls ?? []) heard.calls.push([name, args]);
      }),
    object: (asked, schema) =>
      chat(asked)
        .withStructuredOutput(
          { title: 'page', ...schema },
          { name: 'page', method: 'jsonSchema', strict: true },
        )
        .invoke(asked.words),
    embed: (model, texts) =>
      new OpenAIEmbeddings({
        model,
        apiKey: daemon.apiKey,
        configuration,
        maxRetries: 0,
      }).embedDocuments([...texts]),
    failureOf,
  };
}

function toolOf(name: string) {
  return { type: 'function' as const, function: { name, parameters: TOOL_SCHEMA } };
}

function failureOf(error: unknown): Failure {
  if (!(error instanceof Error)) throw error;
  const { status } = error as { status?: number };
  return { status, message: error.message };
}
