import { checkAnswer, keepAnswer } from '../../pipeline/after-answer.ts';
import type { ModelCall } from '../../pipeline/call.ts';
import type { Pipeline, Served, SurfaceWork } from '../../pipeline/pipeline.ts';
import type { Settlement } from '../../pipeline/settlement.ts';
import type { StreamedChat, WholeChat } from '../../upstream/adapter.ts';
import { UpstreamError } from '../../upstream/error.ts';
import type { ChatChunk, ChatRequest } from '../../wire/chat.ts';
import { usageOf } from '../../wire/chat-usage.ts';
import { eventBytes, eventStream, SSE_HEADERS } from '../../wire/event-stream.ts';
import { relay } from '../../wire/relay.ts';
import { UsageFilter } from '../../wire/usage-filter.ts';
import { failureEvent } from '../broken-stream.ts';
import { respond } from '../respond.ts';
import { relayEnds, type StreamReading, writtenEnds } from '../stream-books.ts';
import { checkedChunks, textOf } from './guarded.ts';
import { guessUsage } from './guess.ts';

/** A chat completion that was answered, for callers inside the daemon as well. */
export type ServedChat = Served<ChatRequest, WholeChat | StreamedChat>;

const work: SurfaceWork<ChatRequest, WholeChat | StreamedChat> = {
  can: ({ adapter }) => adapter.chat !== undefined,
  async send(request, adapter, upstream) {
    if (!adapter.chat) throw new UpstreamError('request', 'This provider has no chat completions.');
    return adapter.chat(request, upstream);
  },
};

/** Chat completions: the wire format of stock clients, over every provider. */
export class ChatSurface {
  constructor(private readonly pipeline: Pipeline) {}

  /** A completion as objects, for callers inside the daemon, who settle it themselves. Errors: as Pipeline.run. */
  serve(call: ModelCall<ChatRequest>): Promise<ServedChat> {
    return this.pipeline.run(call, work);
  }

  /** What looks at the text of an answer before anybody sees it, where the tenant wants that. Errors of it: guardrail_blocked. */
  outputCheck(
    call: ModelCall<ChatRequest>,
    settlement: Settlement,
  ): ((text: string) => Promise<void>) | undefined {
    const isGuarded = this.pipeline.stages.guardrails.active(call.caller.tenant).output;
    return isGuarded ? (text) => this.check(call, text, settlement) : undefined;
  }

  /** Answers a request with what goes over the wire. Errors: as Pipeline.run. */
  async complete(asked: ModelCall<ChatRequest>): Promise<Response> {
    const served = await this.serve(asked);
    const { settlement, request } = served;
    const call = { ...asked, request };
    if (served.kind === 'kept') {
      settlement.finish('completed');
      return respond(served.kept.body, { 'content-type': served.kept.contentType }, settlement);
    }
    const guarded = this.pipeline.stages.guardrails.active(call.caller.tenant).output;
    try {
      return served.answer.kind === 'whole'
        ? await this.whole(call, served.answer, settlement, guarded)
        : this.stream(call, served.answer, settlement, guarded);
    } catch (error) {
      throw settlement.failed(error);
    }
  }

  private async whole(
    call: ModelCall<ChatRequest>,
    { completion, raw, headers }: WholeChat,
    settlement: Settlement,
    guarded: boolean,
  ): Promise<Response> {
    const usage = usageOf(completion) ?? guessUsage(call.request, textOf(completion).length / 4);
    settlement.used(usage);
    if (guarded) await this.check(call, textOf(completion), settlement);
    const body = raw ?? JSON.stringify(completion);
    const contentType = headers.get('content-type') ?? 'application/json';
    keepAnswer(this.pipeline.stages.cache, call, { contentType, body, usage }, settlement);
    settlement.finish('completed');
    return respond(body, headers, settlement);
  }

  private stream(
    call: ModelCall<ChatRequest>,
    answer: StreamedChat,
    settlement: Settlement,
    guarded: boolean,
  ): Response {
    const shows = call.request.stream_options?.include_usage === true;
    const body =
      answer.raw && !guarded
        ? relayed(call, answer.raw, shows, settlement)
        : told(
            call,
            guarded
              ? checkedChunks(answer.chunks, (text) => this.check(call, text, settlement))
              : answer.chunks,
            shows,
            settlement,
          );
    const headers = new Headers(answer.headers);
    for (const [name, value] of Object.entries(SSE_HEADERS)) headers.set(name, value);
    return respond(body, headers, settlement);
  }

  private check(call: ModelCall, text: string, settlement: Settlement): Promise<void> {
    return checkAnswer(this.pipeline.stages.guardrails, call, text, settlement);
  }
}

/** The bytes of an upstream of this dialect, with its usage read on the way. */
function relayed(
  call: ModelCall<ChatRequest>,
  source: NonNullable<StreamedChat['raw']>,
  shows: boolean,
  settlement: Settlement,
): ReadableStream<Uint8Array> {
  const filter = new UsageFilter(shows);
  const reading: StreamReading = {
    usage: () => filter.usage ?? guessUsage(call.request, filter.events),
    isComplete: () => filter.isComplete,
    failure: failureEvent,
  };
  const passing = (lines: Uint8Array) => filter.passing(lines);
  return relay(source, { passing, ...relayEnds(call, settlement, reading) });
}

/** The events of an upstream of another dialect. */
function told(
  call: ModelCall<ChatRequest>,
  chunks: AsyncIterable<ChatChunk>,
  shows: boolean,
  settlement: Settlement,
): ReadableStream<Uint8Array> {
  const state = { events: 0, usage: undefined as ReturnType<typeof usageOf> };
  async function* events() {
    for await (const chunk of chunks) {
      state.events++;
      state.usage = usageOf(chunk) ?? state.usage;
      if (chunk.choices.length > 0 || shows) yield eventBytes(JSON.stringify(shownChunk(chunk, shows)));
    }
    yield eventBytes('[DONE]');
  }
  const usage = () => state.usage ?? guessUsage(call.request, state.events);
  return eventStream(events(), writtenEnds(call, settlement, { usage, failure: failureEvent }));
}

/** Callers that asked for usage get `usage: null` in every other event, as from the first of this family. */
function shownChunk(chunk: ChatChunk, shows: boolean): ChatChunk {
  if (shows) return chunk.usage === undefined ? { ...chunk, usage: null } : chunk;
  if (chunk.usage === undefined) return chunk;
  const { usage: _, ...rest } = chunk;
  return rest;
}
