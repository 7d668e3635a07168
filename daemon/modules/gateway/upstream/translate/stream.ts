import type { ChatChunk } from '../../wire/chat.ts';
import type { StreamedChat, Upstream, WholeChat } from '../adapter.ts';
import { UpstreamError } from '../error.ts';
import { failedCall } from '../open.ts';
import { notThisDialect } from '../openai/answer.ts';
import { failureWithoutSecrets } from '../secrets.ts';
import { answerHeaders } from './answer.ts';
import { completionOf, type Delta } from './chunks.ts';
import { parsed } from './content.ts';
import { EventData } from './sse.ts';

/**
 * Makes chunks of an answer's bytes, and adds them to a list: those before a failure are there when it throws. Both methods
 * throw UpstreamError for what the upstream refuses in the middle.
 */
export interface ChunkSource {
  /** The chunks that are complete with these bytes, which may be cut anywhere. */
  take(bytes: Uint8Array, into: ChatChunk[]): void;
  /** The chunks of the end. Errors: UpstreamError of kind network when the answer is not complete. */
  end(into: ChatChunk[]): void;
}

/** The same over server-sent events with JSON in them. */
export interface EventReader {
  read(event: unknown): ChatChunk[];
  end(): ChatChunk[];
}

/** Reads server-sent events into chunks. A `[DONE]` says nothing. */
export function overEvents(reader: EventReader, parse: (text: string) => unknown): ChunkSource {
  const events = new EventData();
  const read = (texts: readonly string[], into: ChatChunk[]) => {
    for (const text of texts) if (text !== '[DONE]') into.push(...reader.read(parse(text)));
  };
  return {
    take: (bytes, into) => read(events.take(bytes), into),
    end(into) {
      read(events.end().filter(isJson), into);
      into.push(...reader.end());
    },
  };
}

/** An event that was cut off is none. */
function isJson(text: string): boolean {
  return parsed(text) !== undefined;
}

/**
 * The answer that streams, once its first content has come: what fails before that throws here, so that another
 * upstream may be tried. Errors: UpstreamError; cancelled.
 */
export async function streamedChat(
  response: Response,
  upstream: Upstream,
  source: ChunkSource,
): Promise<StreamedChat> {
  const type = response.headers.get('content-type') ?? '';
  const chunks = new ChunkStream(response, upstream, source);
  if (type.startsWith('text/html')) {
    await chunks.return();
    throw notThisDialect(upstream, type);
  }
  await chunks.untilContent();
  return {
    kind: 'stream',
    headers: answerHeaders(response.headers, 'text/event-stream; charset=utf-8'),
    chunks,
  };
}

/** The answer that does not stream, put together from its chunks. */
export function wholeChat(response: Response, chunks: readonly ChatChunk[]): WholeChat {
  return {
    kind: 'whole',
    headers: answerHeaders(response.headers, 'application/json'),
    completion: completionOf(chunks),
  };
}

/** Chunks without content at the beginning of an answer; whoever sends more will send them without end. */
const MOST_SILENT = 10_000;

/** Chunks as they are read: one loop over the body and no more, because it runs for every event. */
class ChunkStream implements AsyncIterableIterator<ChatChunk> {
  private readonly reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  private ready: ChatChunk[] = [];
  private at = 0;
  private ended = false;
  /** What the answer broke off with, told after the chunks that came before it. */
  private failure: Error | undefined;

  constructor(
    response: Response,
    private readonly upstream: Upstream,
    private readonly source: ChunkSource,
  ) {
    this.reader = response.body?.getReader();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<ChatChunk, undefined>> {
    while (this.at === this.ready.length) {
      if (this.ended) return this.over();
      this.at = 0;
      this.ready = await this.more();
    }
    const value = this.ready[this.at++];
    return value ? { value, done: false } : { value: undefined, done: true };
  }

  async return(): Promise<IteratorResult<ChatChunk, undefined>> {
    this.ended = true;
    this.failure = undefined;
    this.ready = [];
    this.at = 0;
    await this.reader?.cancel().catch(() => undefined);
    return { value: undefined, done: true };
  }

  /** Reads until a chunk has content or says the end of a choice, and keeps what came before it. */
  async untilContent(): Promise<void> {
    const held: ChatChunk[] = [];
    let isBegun = false;
    while (!this.ended && !isBegun && held.length < MOST_SILENT) {
      const chunks = await this.more();
      isBegun = chunks.some(hasContent);
      held.push(...chunks);
    }
    if (!isBegun) {
      const failure = this.failure ?? silent(this.upstream.account.name);
      await this.return();
      throw failure;
    }
    this.ready = held;
  }

  private over(): IteratorResult<ChatChunk, undefined> {
    const { failure } = this;
    this.failure = undefined;
    if (failure) throw failure;
    return { value: undefined, done: true };
  }

  private async more(): Promise<ChatChunk[]> {
    const chunks: ChatChunk[] = [];
    try {
      const piece = await this.reader?.read();
      if (piece?.value) this.source.take(piece.value, chunks);
      else {
        this.ended = true;
        this.source.end(chunks);
      }
    } catch (error) {
      this.ended = true;
      this.failure = this.failureOf(error);
      void this.reader?.cancel().catch(() => undefined);
    }
    return chunks;
  }

  private failureOf(error: unknown): Error {
    const { account, key, signal } = this.upstream;
    const failure = failedCall(error, account.name, signal);
    return failure instanceof UpstreamError ? failureWithoutSecrets(failure, key) : failure;
  }
}

function silent(provider: string): UpstreamError {
  return new UpstreamError('server', `The provider ${provider} ended its answer without saying anything.`);
}

function hasContent({ choices }: ChatChunk): boolean {
  return choices.some(({ delta, finish_reason }) => !!finish_reason || saysSomething(delta));
}

function saysSomething({ content, reasoning_content, refusal, tool_calls, images }: Delta): boolean {
  return !!content || !!reasoning_content || !!refusal || !!tool_calls?.length || !!images?.length;
}

/** The error of an answer that stopped before its end. */
export function brokenOff(provider: string): UpstreamError {
  return new UpstreamError(
    'network',
    `The provider ${provider} closed the connection before its answer was complete.`,
  );
}
