import { fail, invalid } from '../../../../../src/errors/app-error.ts';
import { newId } from '../../../../../src/kit/id.ts';
import type { Clock } from '../../../../../src/kit/time.ts';
import type { ModelCall } from '../../pipeline/call.ts';
import { isObject, parsed } from '../../upstream/translate/content.ts';
import type { Answering, Over } from './answering.ts';
import type { Background } from './background.ts';
import type { Conversation } from './conversation.ts';
import type { Foreground } from './foreground.ts';
import type { Keeping } from './keeping.ts';
import type { Made, Step } from './making.ts';
import { newResponse } from './new-response.ts';
import { runOf } from './run.ts';
import type { Page, Paged, ResponseStore } from './store.ts';
import {
  endOf,
  type Item,
  LIFECYCLE,
  type ResponseEvent,
  type ResponseObject,
  type ResponseRequest,
  type Status,
} from './wire.ts';

/** What the service works with. */
export interface ResponseParts {
  readonly store: ResponseStore;
  readonly keeping: Keeping;
  readonly foreground: Foreground;
  readonly answering: Answering;
  readonly background: Background;
  readonly clock: Clock;
}

/** A response that was asked for: there, on its way over this connection, or made apart from it. */
export type Created =
  | { readonly kind: 'whole'; readonly made: Made; readonly headers: Readonly<Record<string, string>> }
  | {
      readonly kind: 'stream';
      readonly steps: AsyncGenerator<Step, void>;
      readonly headers: Headers;
      readonly more: Readonly<Record<string, string>>;
    }
  | { readonly kind: 'queued'; readonly response: ResponseObject }
  | { readonly kind: 'followed'; readonly events: AsyncGenerator<ResponseEvent, void> };

/** Responses: made, kept, gone on from. */
export class ResponseService {
  /** Responses that are made over open connections, as they began. */
  private readonly open = new Map<string, ResponseObject>();

  constructor(private readonly parts: ResponseParts) {}

  /** Errors: invalid_argument naming the field, previous_response_not_found, failed_precondition, and as Pipeline.run. */
  async create(call: ModelCall<ResponseRequest>): Promise<Created> {
    checkRequest(call.request);
    const { clock, foreground } = this.parts;
    const now = clock.now();
    const id = newId('resp', now);
    const conversation = foreground.conversation(call);
    if (call.request.background)
      return this.begin(call, newResponse(id, now, call.request, 'queued'), conversation);
    const base = newResponse(id, now, call.request, 'in_progress');
    const { answer, settlement, call: asked } = await foreground.serve(call, base, conversation);
    const over = this.keeper(call, base, conversation, now);
    if (answer.kind === 'stream') {
      const steps = this.parts.answering.stream(asked, answer.making, settlement, over);
      const { headers } = answer.making;
      return { kind: 'stream', steps: this.opened(call, base, steps), headers, more: settlement.headers() };
    }
    await this.parts.answering.whole(asked, answer.made, settlement, over);
    return { kind: 'whole', made: answer.made, headers: settlement.headers() };
  }

  /** A response as it is now. Errors: response_not_found. */
  get(tenant: string, id: string): ResponseObject {
    const now = this.parts.background.find(tenant, id)?.response ?? this.open.get(keyOf(tenant, id));
    return now ?? this.kept(tenant, id).response;
  }

  /**
   * The events of a response in the background after one of them, as they come. Errors: response_not_found; failed_precondition for one that was
   * made over a connection.
   */
  follow(
    tenant: string,
    id: string,
    after: number,
    signal: AbortSignal,
  ): AsyncGenerator<ResponseEvent, void> {
    const run = this.parts.background.find(tenant, id);
    if (run) return run.follow(after, signal);
    const response = this.get(tenant, id);
    if (!response.background)
      throw fail('failed_precondition', {
        message: `Only responses that are made in the background keep their events; ${id} is not one.`,
      });
    return replay(this.parts.store.events(tenant, id), response, after);
  }

  /** Forgets a response; one in the background is ended first. Errors: response_not_found; failed_precondition while it is made over a connection. */
  async remove(tenant: string, id: string): Promise<void> {
    if (this.open.has(keyOf(tenant, id)))
      throw fail('failed_precondition', {
        message: `${id} is made over a connection. Delete it when it is over, or close its connection first.`,
      });
    const run = this.parts.background.find(tenant, id);
    if (run) await this.parts.background.cancel(run);
    if (!this.parts.store.remove(tenant, id)) throw fail('response_not_found', { id });
  }

  /** Ends a response in the background; one that is over stays as it is. Errors: response_not_found; failed_precondition for others. */
  async cancel(tenant: string, id: string): Promise<ResponseObject> {
    const run = this.parts.background.find(tenant, id);
    if (run) await this.parts.background.cancel(run);
    const response = this.get(tenant, id);
    if (response.background) return response;
    throw fail('failed_precondition', {
      message: `${id} is not made in the background. Close its connection to end it.`,
    });
  }

  /** Errors: response_not_found; invalid_argument for a cursor that is not in it. */
  input(tenant: string, id: string, page: Pick<Page, 'limit' | 'order' | 'after'>): Paged<Item> {
    this.kept(tenant, id);
    const { after, ...rest } = page;
    const place = after === undefined ? undefined : this.parts.store.placeOf(tenant, id, after);
    if (after !== undefined && place === undefined)
      throw invalid({ field: 'after', description: 'there is no such item in this input' });
    return this.parts.store.input(tenant, id, { ...rest, after: place });
  }

  list(tenant: string, statuses: readonly Status[] | undefined, page: Page): Paged<ResponseObject> {
    return this.parts.store.list(tenant, statuses, page);
  }

  private kept(tenant: string, id: string) {
    const found = this.parts.store.find(tenant, id);
    if (!found) throw fail('response_not_found', { id });
    return found;
  }

  private begin(
    call: ModelCall<ResponseRequest>,
    response: ResponseObject,
    conversation: Conversation,
  ): Created {
    const run = this.parts.background.begin(call.caller.tenant, runOf(call), response, conversation);
    if (!call.request.stream) return { kind: 'queued', response };
    return { kind: 'followed', events: run.follow(-1, call.signal) };
  }

  /** Has a response kept when it is over, unless its caller does not want that. */
  private keeper(
    { caller: { tenant }, request }: ModelCall<ResponseRequest>,
    base: ResponseObject,
    conversation: Conversation,
    createdAt: number,
  ): Over {
    if (request.store === false) return async () => {};
    const { keeping, clock } = this.parts;
    const { own: input, chain } = conversation;
    return async (response, provider) => {
      const { id, status } = response;
      const usedAt = clock.now();
      const previousId = base.previous_response_id ?? null;
      const row = {
        tenant,
        id,
        status,
        background: false,
        previousId,
        provider,
        run: null,
        events: null,
        createdAt,
        usedAt,
      };
      await keeping.keep({ row, response, input, chain });
    };
  }

  /** While it is made, others may ask how it stands. */
  private async *opened(
    { caller: { tenant }, request }: ModelCall<ResponseRequest>,
    base: ResponseObject,
    steps: AsyncGenerator<Step, void>,
  ) {
    const key = keyOf(tenant, base.id);
    if (request.store !== false) this.open.set(key, base);
    try {
      yield* steps;
    } finally {
      this.open.delete(key);
    }
  }
}

function checkRequest({ input, prompt, conversation, background, store }: ResponseRequest): void {
  if (conversation != null)
    throw invalid({
      field: 'conversation',
      description: 'conversations of a vendor are not to be had here; use previous_response_id',
    });
  if (input === undefined && prompt == null) throw invalid({ field: 'input', description: 'is required' });
  if (background && store === false)
    throw invalid({
      field: 'store',
      description: 'must not be false: a response in the background is kept until it is fetched',
    });
}

/** The events that were kept; of a response that has none, how it began and ended. */
async function* replay(
  log: Buffer | undefined,
  response: ResponseObject,
  after: number,
): AsyncGenerator<ResponseEvent, void> {
  const lines = log ? (await Bun.zstdDecompress(log)).toString().split('\n') : [];
  const events = lines.map(parsed).filter(isObject) as unknown as ResponseEvent[];
  const created = { type: LIFECYCLE.created, sequence_number: 0, response };
  const all = events.length > 0 ? events : [created, endOf(response, Math.max(1, after + 1))];
  yield* all.filter(({ sequence_number }) => sequence_number > after);
}

function keyOf(tenant: string, id: string): string {
  return `${tenant} ${id}`;
}
