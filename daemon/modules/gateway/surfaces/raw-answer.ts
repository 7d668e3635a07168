import { fail } from '../../../../src/errors/app-error.ts';
import { keepAnswer } from '../pipeline/after-answer.ts';
import type { ModelCall } from '../pipeline/call.ts';
import type { Pipeline, SurfaceWork } from '../pipeline/pipeline.ts';
import type { Settlement } from '../pipeline/settlement.ts';
import type { RawAnswer, RelayRequest } from '../upstream/adapter.ts';
import { failedCall } from '../upstream/open.ts';
import { SSE_HEADERS } from '../wire/event-stream.ts';
import { passBytes } from '../wire/pass-bytes.ts';
import { type RelayEnds, relay } from '../wire/relay.ts';
import { streamOf } from '../wire/stream-of.ts';
import { Tail } from '../wire/tail.ts';
import type { Usage } from '../wire/usage.ts';
import { broken, failureEvent } from './broken-stream.ts';
import { respond } from './respond.ts';
import { relayEnds } from './stream-books.ts';

/** Looks at the lines of a stream of events as they pass. */
export interface Passage {
  passing(lines: Uint8Array): Uint8Array | undefined;
  /** What it took, so far. */
  usage(): Usage | undefined;
  /** Whether its end has come; a stream that stops before has failed. */
  isComplete(): boolean;
}

/** What a surface knows of answers that pass as bytes. */
export interface RawReading<R extends RelayRequest> {
  /** What an answer took: from its whole text, or from the last 16 KiB of a stream; undefined when it does not say. */
  took(text: string, request: R): Usage | undefined;
  /** How its events are read; without, by their end alone. */
  passage?(request: R): Passage;
  /** The words in a whole answer or in its events, for guardrails; absent when there are none. */
  said?(text: string): string;
}

/** The most of a stream that is held back for a look of the guardrails. */
const MOST_HELD_BYTES = 4 * 1024 * 1024;

/**
 * Takes a request through the pipeline and answers with what the upstream answers: a text, bytes or a stream, its usage read
 * on the way and its books closed once. A caller that leaves stops the upstream. `over` is called once, when nothing of the
 * request is needed any more. Errors: as Pipeline.run.
 */
export async function answerRaw<R extends RelayRequest>(
  pipeline: Pipeline,
  call: ModelCall<R>,
  work: SurfaceWork<R, RawAnswer>,
  reading: RawReading<R>,
  over: () => void = () => undefined,
): Promise<Response> {
  let isPassing = false;
  try {
    const served = await pipeline.run(call, work);
    const { settlement, request } = served;
    if (served.kind === 'kept') {
      settlement.finish('completed');
      return respond(served.kept.body, { 'content-type': served.kept.contentType }, settlement);
    }
    const one: Passing<R> = { pipeline, call, request, settlement, reading, over };
    const guarded =
      reading.said !== undefined && pipeline.stages.guardrails.active(call.caller.tenant).output;
    const answer = guarded ? await held(one, served.answer) : served.answer;
    isPassing = answer.body instanceof ReadableStream;
    return answer.body instanceof ReadableStream
      ? streamed(one, answer, answer.body)
      : whole(one, answer, answer.body);
  } finally {
    if (!isPassing) over();
  }
}

/** One answer on its way. */
interface Passing<R extends RelayRequest> {
  readonly pipeline: Pipeline;
  readonly call: ModelCall<R>;
  /** As the guardrails have left it. */
  readonly request: R;
  readonly settlement: Settlement;
  readonly reading: RawReading<R>;
  readonly over: () => void;
}

function whole<R extends RelayRequest>(
  { pipeline, call, request, settlement, reading }: Passing<R>,
  answer: RawAnswer,
  body: string | Uint8Array<ArrayBuffer>,
): Response {
  const usage = answer.usage ?? reading.took(typeof body === 'string' ? body : '', request);
  if (usage) settlement.used(usage);
  if (typeof body === 'string') {
    const contentType = answer.headers.get('content-type') ?? 'application/json';
    keepAnswer(pipeline.stages.cache, { ...call, request }, { contentType, body, usage }, settlement);
  }
  settlement.finish('completed');
  return respond(body, answer.headers, settlement);
}

function streamed<R extends RelayRequest>(
  one: Passing<R>,
  answer: RawAnswer,
  body: ReadableStream<Uint8Array>,
): Response {
  const isEvents = answer.headers.get('content-type')?.startsWith('text/event-stream');
  if (!isEvents)
    return respond(passBytes(body.getReader(), endsOf(one, answer)), answer.headers, one.settlement);
  const headers = new Headers(answer.headers);
  for (const [name, value] of Object.entries(SSE_HEADERS)) headers.set(name, value);
  return respond(relay(body.getReader(), endsOf(one, answer)), headers, one.settlement);
}

function endsOf<R extends RelayRequest>(
  { call, request, settlement, reading, over }: Passing<R>,
  answer: RawAnswer,
): RelayEnds {
  const named = reading.passage?.(request);
  const passage = named ?? byItsEnd(reading, request);
  const books = relayEnds(call, settlement, {
    usage: () => passage.usage() ?? answer.usage,
    isComplete: () => passage.isComplete(),
    endsBySilence: named === undefined,
    failure: failureEvent,
    over,
  });
  return { passing: (lines) => passage.passing(lines), ...books };
}

function byItsEnd<R extends RelayRequest>(reading: RawReading<R>, request: R): Passage {
  const tail = new Tail();
  return {
    passing(lines) {
      tail.push(lines);
      return lines;
    },
    usage: () => reading.took(tail.text(), request),
    isComplete: () => false,
  };
}

/** The answer, held back until the guardrails have looked at its words. Errors: guardrail_blocked, in the books. */
async function held<R extends RelayRequest>(one: Passing<R>, answer: RawAnswer): Promise<RawAnswer> {
  const { pipeline, call, request, settlement, reading } = one;
  try {
    const { body } = answer;
    const text = body instanceof ReadableStream ? await readAll(one, body) : body;
    if (typeof text !== 'string' || !reading.said) return answer;
    const usage = answer.usage ?? reading.took(text, request);
    if (usage) settlement.used(usage);
    settlement.flagged(await pipeline.stages.guardrails.checkOutput(call, reading.said(text)));
    return { ...answer, body: body instanceof ReadableStream ? streamOf(onePiece(text)) : text };
  } catch (error) {
    throw settlement.failed(error);
  }
}

async function* onePiece(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

async function readAll(
  { call, settlement }: Pick<Passing<RelayRequest>, 'call' | 'settlement'>,
  body: ReadableStream<Uint8Array>,
): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  try {
    for await (const piece of body) {
      text += decoder.decode(piece, { stream: true });
      if (text.length > MOST_HELD_BYTES)
        throw fail('resource_exhausted', {
          message: 'The answer is too long to be looked at by guardrails.',
        });
    }
  } catch (error) {
    const provider = settlement.model?.slice(0, settlement.model.indexOf('/')) ?? '';
    throw call.signal.aborted ? failedCall(error, provider, call.signal) : broken(error, settlement);
  }
  return text + decoder.decode();
}
