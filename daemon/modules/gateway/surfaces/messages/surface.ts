import { checkAnswer, keepAnswer } from '../../pipeline/after-answer.ts';
import type { ModelCall } from '../../pipeline/call.ts';
import type { Pipeline } from '../../pipeline/pipeline.ts';
import type { Settlement } from '../../pipeline/settlement.ts';
import type { PassedHeaders } from '../../upstream/adapter.ts';
import { UpstreamError } from '../../upstream/error.ts';
import { parseJson } from '../../upstream/translate/answer.ts';
import { SSE_HEADERS } from '../../wire/event-stream.ts';
import { type MessagesCountRequest, type MessagesRequest, usageOfMessage } from '../../wire/messages.ts';
import { checkedChunks } from '../chat/guarded.ts';
import { guessUsage } from '../chat/guess.ts';
import { respond } from '../respond.ts';
import { CheckedSource, textOf } from './guarded.ts';
import { canAnswer, type MessagesAnswer, send } from './send.ts';
import { relayedBody, writtenBody } from './stream-body.ts';

type Whole = Extract<MessagesAnswer, { kind: 'whole' }>;
type Streamed = Exclude<MessagesAnswer, Whole>;

/** How many tokens a conversation has, and the headers that say how that was found. */
export interface TokenCount {
  readonly tokens: number;
  readonly headers: Readonly<Record<string, string>>;
}

/** Headers of callers that belong to the dialect. */
const PASSED = ['anthropic-version', 'anthropic-beta'];

/** Messages: the wire format of stock clients of that family, over every provider. */
export class MessagesSurface {
  constructor(private readonly pipeline: Pipeline) {}

  /** Answers a request with what goes over the wire. Errors: as Pipeline.run. */
  async create(asked: ModelCall<MessagesRequest>): Promise<Response> {
    const passed = passedHeaders(asked.headers);
    const served = await this.pipeline.run<MessagesRequest, MessagesAnswer>(asked, {
      can: ({ adapter }) => canAnswer(adapter),
      send: (request, adapter, upstream) => send(request, adapter, upstream, passed),
    });
    const { settlement, request } = served;
    const call = { ...asked, request };
    if (served.kind === 'kept') {
      settlement.finish('completed');
      return this.respond(
        served.kept.body,
        new Headers({ 'content-type': served.kept.contentType }),
        call,
        settlement,
      );
    }
    try {
      return served.answer.kind === 'whole'
        ? await this.whole(call, served.answer, settlement)
        : this.stream(call, served.answer, settlement);
    } catch (error) {
      throw settlement.failed(error);
    }
  }

  /** Counts the tokens of a conversation, as its provider counts them. Errors: as Pipeline.run; not_offered. */
  async count(call: ModelCall<MessagesCountRequest>): Promise<TokenCount> {
    const passed = passedHeaders(call.headers);
    const served = await this.pipeline.run(call, {
      can: ({ adapter }) => adapter.relay?.count_tokens !== undefined,
      async send(request, adapter, upstream) {
        const answer = await adapter.relay?.count_tokens?.(request, upstream, passed);
        return readCount(answer?.body, upstream.account.name);
      },
    });
    const { settlement } = served;
    settlement.finish('completed');
    const tokens = served.kind === 'answered' ? served.answer : readCount(served.kept.body, '');
    return { tokens, headers: { ...settlement.headers(), 'request-id': call.requestId } };
  }

  private async whole(
    call: ModelCall<MessagesRequest>,
    { headers, body, message }: Whole,
    settlement: Settlement,
  ): Promise<Response> {
    const usage = usageOfMessage(message.usage) ?? guessUsage(call.request, body.length / 4);
    settlement.used(usage);
    if (this.guards(call)) await this.check(call, textOf(message), settlement);
    const contentType = headers.get('content-type') ?? 'application/json';
    keepAnswer(this.pipeline.stages.cache, call, { contentType, body, usage }, settlement);
    settlement.finish('completed');
    return this.respond(body, headers, call, settlement);
  }

  private stream(call: ModelCall<MessagesRequest>, answer: Streamed, settlement: Settlement): Response {
    const check = this.guards(call) ? (text: string) => this.check(call, text, settlement) : undefined;
    const body =
      answer.kind === 'relayed'
        ? relayedBody(call, check ? new CheckedSource(answer.source, check) : answer.source, settlement)
        : writtenBody(call, check ? checkedChunks(answer.chunks, check) : answer.chunks, settlement);
    const headers = new Headers(answer.headers);
    for (const [name, value] of Object.entries(SSE_HEADERS)) headers.set(name, value);
    return this.respond(body, headers, call, settlement);
  }

  private guards({ caller }: ModelCall): boolean {
    return this.pipeline.stages.guardrails.active(caller.tenant).output;
  }

  private check(call: ModelCall, text: string, settlement: Settlement): Promise<void> {
    return checkAnswer(this.pipeline.stages.guardrails, call, text, settlement);
  }

  /** Clients of this family look for the request's id under a name of their own. */
  private respond(
    body: string | ReadableStream<Uint8Array>,
    headers: Headers,
    { requestId }: ModelCall,
    settlement: Settlement,
  ): Response {
    headers.set('request-id', requestId);
    return respond(body, headers, settlement);
  }
}

function readCount(body: unknown, provider: string): number {
  const answer = typeof body === 'string' ? parseJson(body, provider) : undefined;
  const count = (answer as { input_tokens?: unknown } | null | undefined)?.input_tokens;
  if (Number.isInteger(count)) return Number(count);
  throw new UpstreamError('server', `The provider ${provider} answered without a count.`);
}

function passedHeaders(headers: Headers): PassedHeaders {
  const passed: Record<string, string> = {};
  for (const name of PASSED) {
    const value = headers.get(name);
    if (value) passed[name] = value;
  }
  return passed;
}
