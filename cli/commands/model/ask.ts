import { chat } from '../../../src/api/gateway/chat.ts';
import { embeddings } from '../../../src/api/gateway/embeddings.ts';
import { rerank } from '../../../src/api/gateway/rerank.ts';
import type { Client } from '../../../src/client/client.ts';
import { readSse } from '../../../src/client/sse.ts';

/** What a model is asked for. */
export const KINDS = ['chat', 'embeddings', 'rerank'] as const;

/** One of them. */
export type Kind = (typeof KINDS)[number];

/** How a model has answered. Times are milliseconds. */
export interface Measured {
  /** `provider/model` that has answered. */
  readonly answeredBy: string;
  readonly totalMs: number;
  /** Until the first words; of a stream only. */
  readonly firstMs?: number;
  /** Of the answer; absent when the provider does not say. */
  readonly tokens?: number;
  /** The words, numbers or places that came. */
  readonly said: string;
}

/** What a model is for, by its name. */
export function kindOf(model: string): Kind {
  if (/rerank|bm25/i.test(model)) return 'rerank';
  return /embed|^voyage\/|clip/i.test(model) ? 'embeddings' : 'chat';
}

/** Asks once for something small. The question is never the same twice, so that no cache answers it. Errors: RemoteError. */
export function ask(client: Client, model: string, kind: Kind): Promise<Measured> {
  return { chat: askChat, embeddings: askVectors, rerank: askOrder }[kind](
    client,
    model,
    crypto.randomUUID().slice(0, 8),
  );
}

async function askChat(client: Client, model: string, mark: string): Promise<Measured> {
  const content = `Count from one to twenty in words, and say nothing else. (${mark})`;
  const start = performance.now();
  const response = await client.open(chat.ChatCompletion, {
    body: {
      model,
      messages: [{ role: 'user', content }],
      stream: true,
      stream_options: { include_usage: true },
    },
  });
  let said = '';
  let firstMs: number | undefined;
  let tokens: number | undefined;
  for await (const { data } of readSse(response.body ?? new ReadableStream())) {
    if (data === '[DONE]') break;
    const { choices = [], usage, error } = JSON.parse(data) as ChatEvent;
    if (error) throw new Error(error.message);
    if (choices[0]?.delta) firstMs ??= performance.now() - start;
    said += choices[0]?.delta?.content ?? '';
    tokens = usage?.completion_tokens ?? tokens;
  }
  return { answeredBy: answeredBy(response), totalMs: performance.now() - start, firstMs, tokens, said };
}

interface ChatEvent {
  readonly choices?: ReadonlyArray<{ readonly delta?: { readonly content?: string | null } }>;
  readonly usage?: { readonly completion_tokens?: number } | null;
  readonly error?: { readonly message: string };
}

async function askVectors(client: Client, model: string, mark: string): Promise<Measured> {
  const start = performance.now();
  const body = { model, input: `a few words ${mark}`, encoding_format: 'float' as const };
  const response = await client.open(embeddings.Embeddings, { body });
  const { data = [] } = (await response.json()) as {
    data?: ReadonlyArray<{ readonly embedding?: readonly number[] }>;
  };
  const said = `a vector of ${data[0]?.embedding?.length ?? 0} numbers`;
  return { answeredBy: answeredBy(response), totalMs: performance.now() - start, said };
}

async function askOrder(client: Client, model: string, mark: string): Promise<Measured> {
  const start = performance.now();
  const documents = ['a boat on a lake', `the words ${mark}`];
  const response = await client.open(rerank.Rerank, { body: { model, query: mark, documents } });
  const { results = [] } = (await response.json()) as {
    results?: ReadonlyArray<{ readonly index?: number }>;
  };
  const said = results[0]?.index === 1 ? 'the right document first' : 'the wrong document first';
  return { answeredBy: answeredBy(response), totalMs: performance.now() - start, said };
}

function answeredBy({ headers }: Response): string {
  return [headers.get('x-svc-provider'), headers.get('x-svc-model')].filter(Boolean).join('/');
}
