import { type ChatCompletionRequest, type CompletionUsage, chat } from '../../../src/api/gateway/chat.ts';
import { usage as usageApi } from '../../../src/api/gateway/usage.ts';
import type { Value } from '../../../src/api/schema.ts';
import type { Client } from '../../../src/client/client.ts';
import { RemoteError } from '../../../src/client/remote-error.ts';
import { readSse } from '../../../src/client/sse.ts';
import { connectionError } from '../../../src/client/unreachable.ts';
import { fail } from '../../../src/errors/app-error.ts';
import type { Message } from './conversation.ts';

/** How a model is asked. */
export interface Asking {
  readonly model: string;
  readonly messages: readonly Message[];
  /** 0 to 2. */
  readonly temperature?: number;
  /** Of the answer. */
  readonly maxTokens?: number;
  /** Ends the call, at the provider too. */
  readonly signal: AbortSignal;
}

/** What has come when an answer is over. Times are milliseconds. */
export interface Answer {
  readonly text: string;
  readonly reasoning: string;
  /** `provider/model` that has answered. */
  readonly answeredBy: string;
  readonly requestId: string;
  /** Why the model has stopped; absent when the answer was stopped here. */
  readonly finishReason?: string;
  readonly usage?: Value<typeof CompletionUsage>;
  /** Until the first words. */
  readonly firstMs?: number;
  readonly totalMs: number;
  /** The caller did not wait for its end. */
  readonly isStopped: boolean;
}

/** Hears the pieces of an answer as they come. */
export interface Listener {
  reasoning(piece: string): void;
  text(piece: string): void | Promise<void>;
}

interface Delta {
  readonly content?: string | null;
  readonly refusal?: string | null;
  readonly reasoning_content?: string | null;
  readonly reasoning?: string | null;
}

interface Chunk {
  readonly choices?: ReadonlyArray<{ readonly delta?: Delta; readonly finish_reason?: string | null }>;
  readonly usage?: Value<typeof CompletionUsage> | null;
  readonly error?: { readonly message?: string; readonly code?: string | null };
}

/**
 * Asks and reads the answer as it comes. One that is stopped by the signal after its first words is an answer too.
 * Errors: RemoteError of the daemon, or of a stream that broke; cancelled.
 */
export async function answerOf(client: Client, asking: Asking, listener: Listener): Promise<Answer> {
  const start = performance.now();
  const { signal } = asking;
  const response = await client.open(chat.ChatCompletion, { body: bodyOf(asking) }, { signal });
  const read = new Reading(listener, start);
  try {
    for await (const { data } of readSse(response.body ?? new ReadableStream())) {
      if (data === '[DONE]') break;
      await read.take(JSON.parse(data) as Chunk);
    }
  } catch (error) {
    if (!signal.aborted)
      throw error instanceof RemoteError ? error : connectionError(client.url, error, signal);
  }
  if (signal.aborted && !read.hasWords) throw fail('cancelled');
  return read.over(response, signal.aborted);
}

/** What a request has cost, in US dollars, from the request log; undefined when that is not known. */
export async function costOf(client: Client, requestId: string): Promise<number | undefined> {
  try {
    const record = await client.call(usageApi.GetRequest, { params: { requestId } });
    return record.costUsd;
  } catch {
    return undefined;
  }
}

class Reading {
  private text = '';
  private reasoning = '';
  private finishReason: string | undefined;
  private usage: Answer['usage'];
  private firstMs: number | undefined;

  constructor(
    private readonly listener: Listener,
    private readonly start: number,
  ) {}

  get hasWords(): boolean {
    return this.text !== '' || this.reasoning !== '';
  }

  async take({ choices = [], usage, error }: Chunk): Promise<void> {
    if (error) throw brokenStream(error);
    this.usage = usage ?? this.usage;
    const [choice] = choices;
    this.finishReason = choice?.finish_reason ?? this.finishReason;
    const { content, refusal, reasoning_content, reasoning } = choice?.delta ?? {};
    const thought = reasoning_content ?? reasoning ?? '';
    const words = content || refusal || '';
    if (thought !== '' || words !== '') this.firstMs ??= performance.now() - this.start;
    if (thought !== '') this.listener.reasoning(thought);
    if (words !== '') await this.listener.text(words);
    this.reasoning += thought;
    this.text += words;
  }

  over({ headers }: Response, isStopped: boolean): Answer {
    const { text, reasoning, finishReason, usage, firstMs } = this;
    const answeredBy = [headers.get('x-svc-provider'), headers.get('x-svc-model')].filter(Boolean).join('/');
    const requestId = headers.get('x-request-id') ?? '';
    const totalMs = performance.now() - this.start;
    return { text, reasoning, answeredBy, requestId, finishReason, usage, firstMs, totalMs, isStopped };
  }
}

function bodyOf({ model, messages, temperature, maxTokens }: Asking): Value<typeof ChatCompletionRequest> {
  return {
    model,
    messages: [...messages],
    temperature,
    ...(maxTokens === undefined ? {} : { [limitField(model)]: maxTokens }),
    stream: true,
    stream_options: { include_usage: true },
  };
}

/** Newer models of two providers refuse the older name, and servers of others know no other. */
function limitField(model: string): 'max_completion_tokens' | 'max_tokens' {
  return /^(openai|azure)\/|^(gpt-|o\d)/.test(model) ? 'max_completion_tokens' : 'max_tokens';
}

function brokenStream({ message, code }: NonNullable<Chunk['error']>): RemoteError {
  const details = [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: code ?? '' }];
  return new RemoteError(502, { message: message ?? 'The answer broke off.', details });
}
