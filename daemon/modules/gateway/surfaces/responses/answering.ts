import { AppError, fail } from '../../../../../src/errors/app-error.ts';
import { keepAnswer } from '../../pipeline/after-answer.ts';
import type { ModelCall } from '../../pipeline/call.ts';
import type { Pipeline } from '../../pipeline/pipeline.ts';
import type { Settlement } from '../../pipeline/settlement.ts';
import { UpstreamError } from '../../upstream/error.ts';
import type { Usage } from '../../wire/usage.ts';
import { errorOf } from './failure.ts';
import { bytesOf, type Made, type Making, type Step } from './making.ts';
import { guessUsage } from './usage.ts';
import { endOf, LIFECYCLE, type ResponseObject, type ResponseRequest } from './wire.ts';

/** The most of a stream that is held back for a look at its end. */
const MOST_HELD_BYTES = 16 * 1024 * 1024;

/** The most of a response that is gathered while it streams: what it has said is kept, and stands in its last event. */
const MOST_BYTES = 32 * 1024 * 1024;

/** What a response that is over goes through before its end is told; `bytes` are the events of that end, when it streams. */
export type Over = (response: ResponseObject, provider: string, bytes?: Uint8Array) => Promise<void>;

/** Takes answers to their end: looks at them where guardrails want to, books what they took, and has them kept. */
export class Answering {
  constructor(private readonly pipeline: Pipeline) {}

  /** An answer that came whole. Errors: guardrail_blocked. */
  async whole(
    call: ModelCall<ResponseRequest>,
    { response, usage }: Made,
    settlement: Settlement,
    over: Over,
  ): Promise<void> {
    book(call, settlement, response, usage);
    if (this.isGuarded(call)) await this.check(call, response, settlement);
    if (!settlement.isKept) this.keep(call, response, usage, settlement);
    await over(response, providerOf(settlement));
    settlement.finish(endingOf(response));
  }

  /** The pieces of an answer that streams, up to its end, whatever that is. `signal` ends it early. Never fails. */
  async *stream(
    call: ModelCall<ResponseRequest>,
    making: Making,
    settlement: Settlement,
    over: Over,
  ): AsyncGenerator<Step, void> {
    let isOver = false;
    let bytes = 0;
    const close: Close = async ({ end, bytes }) => {
      isOver = true;
      book(call, settlement, end, making.usage);
      await over(end, providerOf(settlement), bytes);
    };
    try {
      const steps = this.isGuarded(call) ? this.checked(call, making, settlement) : making.steps();
      for await (const step of steps) {
        bytes += step.bytes.byteLength;
        if (isLast(step)) {
          await close(step);
          settlement.finish(endingOf(step.end));
        } else if (bytes > MOST_BYTES) throw tooLong(settlement);
        yield step;
      }
    } catch (error) {
      yield await this.cut(call, making, settlement, error, close);
    } finally {
      if (!isOver) {
        await close(making.cut({ status: 'cancelled' }));
        settlement.finish('stopped');
      }
    }
  }

  private async cut(
    call: ModelCall<ResponseRequest>,
    making: Making,
    settlement: Settlement,
    error: unknown,
    close: Close,
  ): Promise<Step> {
    const isLeft = call.signal.aborted;
    const cut = making.cut(isLeft ? { status: 'cancelled' } : { status: 'failed', error: errorOf(error) });
    const step = isBlocked(error) ? withheld(cut.end) : cut;
    await close(step);
    settlement.finish(isLeft ? 'stopped' : 'failed', isLeft ? undefined : error);
    return step;
  }

  private keep(
    call: ModelCall<ResponseRequest>,
    response: ResponseObject,
    usage: Usage | undefined,
    settlement: Settlement,
  ): void {
    const { cache } = this.pipeline.stages;
    if (cache.modeOf(call) === 'off') return;
    const answer = { contentType: 'application/json', body: JSON.stringify(response), usage };
    keepAnswer(cache, call, answer, settlement);
  }

  private isGuarded({ caller: { tenant } }: ModelCall): boolean {
    return this.pipeline.stages.guardrails.active(tenant).output;
  }

  /** The same steps, held back until the text of all of them was looked at. */
  private async *checked(
    call: ModelCall<ResponseRequest>,
    making: Making,
    settlement: Settlement,
  ): AsyncGenerator<Step, void> {
    const held: Step[] = [];
    let bytes = 0;
    for await (const step of making.steps()) {
      held.push(step);
      bytes += step.bytes.byteLength;
      if (bytes > MOST_HELD_BYTES)
        throw fail('resource_exhausted', {
          message: 'The answer is too long to be looked at by guardrails.',
        });
      if (step.end) await this.check(call, step.end, settlement);
    }
    yield* held;
  }

  private async check(
    call: ModelCall<ResponseRequest>,
    response: ResponseObject,
    settlement: Settlement,
  ): Promise<void> {
    try {
      settlement.flagged(await this.pipeline.stages.guardrails.checkOutput(call, textOf(response)));
    } catch (error) {
      throw settlement.failed(error);
    }
  }
}

type LastStep = Step & { readonly end: ResponseObject };
type Close = (step: LastStep) => Promise<void>;

function isLast(step: Step): step is LastStep {
  return step.end !== undefined;
}

function endingOf({ status }: ResponseObject): 'completed' | 'failed' {
  return status === 'failed' ? 'failed' : 'completed';
}

function isBlocked(error: unknown): boolean {
  return (
    error instanceof AppError && (error.code === 'guardrail_blocked' || error.code === 'resource_exhausted')
  );
}

/** A response of which nobody may see what it says. None of its events has gone out. */
function withheld(response: ResponseObject): LastStep {
  const end = { ...response, output: [] };
  const begun = { ...end, status: 'in_progress' as const, error: null, usage: null };
  const created = { type: LIFECYCLE.created, sequence_number: 0, response: begun };
  return { bytes: bytesOf([created, endOf(end, 1)]), end };
}

function book(
  call: ModelCall<ResponseRequest>,
  settlement: Settlement,
  response: ResponseObject,
  usage: Usage | undefined,
) {
  settlement.used(usage ?? guessUsage(call.request.input, response));
}

function tooLong(settlement: Settlement): UpstreamError {
  return new UpstreamError('server', `The provider ${providerOf(settlement)} does not come to an end.`);
}

function providerOf({ model }: Settlement): string {
  return model?.slice(0, model.indexOf('/')) ?? '';
}

/** The text of an answer: what it says, and the arguments of its calls. */
function textOf({ output }: ResponseObject): string {
  return output
    .flatMap(({ content, arguments: given }) => [
      ...(Array.isArray(content) ? content.map(({ text = '' }) => text) : []),
      given ?? '',
    ])
    .join('\n');
}
