import type { Clock } from '../../../../../src/kit/time.ts';
import type { SurfaceWork } from '../../pipeline/pipeline.ts';
import type { Adapter, Upstream } from '../../upstream/adapter.ts';
import { UpstreamError } from '../../upstream/error.ts';
import { failedCall } from '../../upstream/open.ts';
import type { ChatRequest } from '../../wire/chat.ts';
import { ChatMaking, madeOf } from './chat/making.ts';
import { chatRequestOf } from './chat/request.ts';
import { isTooLong, laterHalf } from './chat/shorten.ts';
import { itemsOf } from './items.ts';
import type { Sent } from './making.ts';
import { NativeMaking, untilAnswer } from './native/making.ts';
import { nativeRequestOf } from './native/request.ts';
import { isNoSuchPlace, NOT_THIS_DIALECT, type WhoSpeaksIt } from './native/who-speaks-it.ts';
import { wholeOf } from './native/whole.ts';
import type { ResponseObject, ResponseRequest } from './wire.ts';

/** What one request brings to every attempt for it. */
export interface Asked {
  /** The response as it begins. */
  readonly base: ResponseObject;
  /** Which provider has made the items of earlier responses, by their ids. */
  readonly madeBy: ReadonlyMap<string, string>;
}

type Relay = NonNullable<NonNullable<Adapter['relay']>['responses']>;

/** How requests for responses are put to providers: in this dialect where they speak it, as chat completions where not. */
export class Sending {
  constructor(
    private readonly speakers: WhoSpeaksIt,
    private readonly clock: Clock,
  ) {}

  /** The way of one request. */
  work(asked: Asked): SurfaceWork<ResponseRequest, Sent> {
    return {
      can: ({ adapter }) => adapter.chat !== undefined || adapter.relay?.responses !== undefined,
      send: (request, adapter, upstream) => this.send(withLimit(request), adapter, upstream, asked),
    };
  }

  private async send(
    request: ResponseRequest,
    adapter: Adapter,
    upstream: Upstream,
    asked: Asked,
  ): Promise<Sent> {
    const relay = adapter.relay?.responses;
    if (!relay || (adapter.chat && !this.speakers.maySpeak(upstream.account, request.model)))
      return this.translated(request, adapter, upstream, asked);
    try {
      return await native(request, relay, upstream, asked);
    } catch (error) {
      if (!adapter.chat || !isNoSuchPlace(error)) throw error;
      const sent = await this.translated(request, adapter, upstream, asked);
      this.speakers.doesNot(upstream.account, request.model);
      return sent;
    }
  }

  private async translated(
    request: ResponseRequest,
    adapter: Adapter,
    upstream: Upstream,
    { base, madeBy }: Asked,
  ): Promise<Sent> {
    const chat = chatRequestOf(request, itemsOf(request.input), upstream.account, madeBy);
    const answer = await complete(chat, adapter, upstream, request.truncation === 'auto');
    const now = () => this.clock.now();
    return answer.kind === 'whole'
      ? { kind: 'whole', made: madeOf(answer, base, now) }
      : { kind: 'stream', making: new ChatMaking(answer, base, now) };
  }
}

/** With `truncation: auto` a conversation that is too long is asked again without its beginning. */
async function complete(request: ChatRequest, adapter: Adapter, upstream: Upstream, shortens: boolean) {
  if (!adapter.chat)
    throw new UpstreamError('request', 'This provider has neither responses nor chat completions.');
  for (let messages = request.messages; ; ) {
    try {
      return await adapter.chat({ ...request, messages }, upstream);
    } catch (error) {
      const shorter = shortens && isTooLong(error) ? laterHalf(messages) : undefined;
      if (!shorter) throw error;
      messages = shorter;
    }
  }
}

async function native(
  request: ResponseRequest,
  relay: Relay,
  upstream: Upstream,
  { base, madeBy }: Asked,
): Promise<Sent> {
  const answer = await relay(
    nativeRequestOf(request, itemsOf(request.input), upstream.account, madeBy),
    upstream,
  );
  const type = answer.headers.get('content-type') ?? '';
  if (typeof answer.body === 'string') return { kind: 'whole', made: wholeOf(answer, upstream, base) };
  if (!(answer.body instanceof ReadableStream) || !type.startsWith('text/event-stream')) {
    if (answer.body instanceof ReadableStream) await answer.body.cancel();
    throw new UpstreamError(
      'server',
      `The provider ${upstream.account.name} answered with ${type || 'no content type'}.`,
      {
        code: NOT_THIS_DIALECT,
      },
    );
  }
  const source = await untilAnswer(answer.body.getReader(), upstream).catch((error: unknown) => {
    throw failedCall(error, upstream.account.name, upstream.signal);
  });
  return { kind: 'stream', making: new NativeMaking(answer.headers, source, upstream, base) };
}

/** A route's parameters are in the words of chat completions. */
function withLimit(request: ResponseRequest): ResponseRequest {
  const { max_tokens, max_completion_tokens, ...rest } = request;
  const most = max_completion_tokens ?? max_tokens;
  return typeof most === 'number' ? { ...rest, max_output_tokens: most } : request;
}
