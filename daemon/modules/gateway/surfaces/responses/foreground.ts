import { parseNested } from '../../../../../src/kit/nesting.ts';
import type { Clock } from '../../../../../src/kit/time.ts';
import type { ModelCall } from '../../pipeline/call.ts';
import type { Pipeline } from '../../pipeline/pipeline.ts';
import type { Settlement } from '../../pipeline/settlement.ts';
import type { CachedAnswer } from '../../pipeline/stages.ts';
import type { Answering, Over } from './answering.ts';
import { type Conversation, conversationOf } from './conversation.ts';
import { bytesOf, type Sent, type Step } from './making.ts';
import { asOurs } from './native/own-fields.ts';
import type { Sending } from './sending.ts';
import type { ResponseStore } from './store.ts';
import { endOf, LIFECYCLE, type ResponseObject, type ResponseRequest } from './wire.ts';

/** A request whose answer is there, or has begun. */
export interface ServedResponse {
  readonly call: ModelCall<ResponseRequest>;
  readonly answer: Sent;
  readonly settlement: Settlement;
}

/** Puts requests for responses to models. */
export class Foreground {
  constructor(
    private readonly pipeline: Pipeline,
    private readonly sending: Sending,
    private readonly answering: Answering,
    private readonly store: ResponseStore,
    private readonly clock: Clock,
  ) {}

  /** Errors: as conversationOf and Pipeline.run. */
  conversation({ caller: { tenant }, request }: ModelCall<ResponseRequest>): Conversation {
    return conversationOf(this.store, tenant, request, this.clock.now());
  }

  /** Takes a request to its answer. `base` is the response as it begins. Errors: as Pipeline.run. */
  async serve(
    call: ModelCall<ResponseRequest>,
    base: ResponseObject,
    { items, madeBy }: Conversation,
  ): Promise<ServedResponse> {
    const request = { ...call.request, input: [...items] };
    const served = await this.pipeline.run({ ...call, request }, this.sending.work({ base, madeBy }));
    const answer = served.kind === 'kept' ? fromCache(served.kept, base) : served.answer;
    return { call: { ...call, request: served.request }, answer, settlement: served.settlement };
  }

  /** The same to its end, as a stream whatever was asked for. Errors: as `conversation` and `serve`, before the first step. */
  async *steps(
    call: ModelCall<ResponseRequest>,
    base: ResponseObject,
    over: Over,
  ): AsyncGenerator<Step, void> {
    const streamed = { ...call, request: { ...call.request, stream: true } };
    const served = await this.serve(streamed, base, this.conversation(call));
    const { answer, settlement } = served;
    if (answer.kind === 'stream')
      return yield* this.answering.stream(served.call, answer.making, settlement, over);
    const { response } = answer.made;
    const begun = { type: LIFECYCLE.inProgress, sequence_number: 0, response: base };
    const bytes = bytesOf([begun, endOf(response, 0)]);
    await this.answering.whole(served.call, answer.made, settlement, (end, provider) =>
      over(end, provider, bytes),
    );
    yield { bytes, end: response };
  }
}

function fromCache({ body, contentType, usage }: CachedAnswer, base: ResponseObject): Sent {
  const response = asOurs(parseNested(body) as ResponseObject, base);
  return { kind: 'whole', made: { headers: new Headers({ 'content-type': contentType }), response, usage } };
}
