import { newId } from '../../../src/kit/id.ts';
import { type Clock, SECOND_MS } from '../../../src/kit/time.ts';
import type { ModelCall, ModelRequest } from './pipeline/call.ts';
import type { Pipeline } from './pipeline/pipeline.ts';
import { relayWork } from './surfaces/relay-work.ts';
import type { JsonSurface, RawAnswer, RelayRequest } from './upstream/adapter.ts';
import { UpstreamError } from './upstream/error.ts';
import { usageIn } from './wire/usage-object.ts';

/** How long a request waits for a vector, and for a judgement. */
const EMBED_MS = 2 * SECOND_MS;
const MODERATE_MS = 15 * SECOND_MS;

/** What one text was found to be, from 0 to 1, by category. */
export type Scores = Readonly<Record<string, number>>;

/**
 * Calls of models that the gateway makes for a request of somebody: with the caller's providers, on the caller's budget, in the request log
 * under an id of their own. They pass no limits, guardrails or cache, which is where they come from.
 */
export class OwnCalls {
  constructor(
    private readonly pipeline: Pipeline,
    private readonly clock: Clock,
  ) {}

  /** The vector of a text. Errors: as Pipeline.run. */
  async embed(call: ModelCall, model: string, text: string): Promise<readonly number[]> {
    const request = { model, input: text, encoding_format: 'float' };
    const { data } = (await this.ask(call, 'embeddings', request, EMBED_MS)) as {
      data?: [{ embedding?: unknown }];
    };
    const vector = data?.[0]?.embedding;
    if (Array.isArray(vector) && vector.every((value) => typeof value === 'number')) return vector;
    throw new UpstreamError('server', `The model ${model} answered with no vector.`);
  }

  /** What texts were found to be, each for itself. Errors: as Pipeline.run. */
  async moderate(call: ModelCall, model: string, texts: readonly string[]): Promise<readonly Scores[]> {
    const { results } = (await this.ask(call, 'moderations', { model, input: texts }, MODERATE_MS)) as {
      results?: ReadonlyArray<{ category_scores?: Scores }>;
    };
    const scores = results?.flatMap(({ category_scores }) => (category_scores ? [category_scores] : []));
    if (scores?.length === texts.length) return scores;
    throw new UpstreamError('server', `The model ${model} answered with no moderation results.`);
  }

  private async ask(
    call: ModelCall,
    surface: JsonSurface,
    request: RelayRequest,
    ms: number,
  ): Promise<object> {
    const own: ModelCall<ModelRequest & RelayRequest> = {
      ...call,
      surface,
      request,
      requestId: newId('req', this.clock.now()),
      headers: new Headers(),
      signal: AbortSignal.any([call.signal, AbortSignal.timeout(ms)]),
    };
    const served = await this.pipeline.run(own, relayWork(surface));
    const { settlement } = served;
    if (served.kind === 'kept')
      throw new UpstreamError('server', 'An own call is never answered from a cache.');
    try {
      const text = await textOf(served.answer);
      const usage = served.answer.usage ?? usageIn(text);
      if (usage) settlement.used(usage);
      const value: unknown = JSON.parse(text);
      settlement.finish('completed');
      return typeof value === 'object' && value !== null ? value : {};
    } catch (error) {
      settlement.finish('failed', error);
      throw error;
    }
  }
}

/** A body that streams here is a whole answer all the same. */
async function textOf({ body }: RawAnswer): Promise<string> {
  return typeof body === 'string' ? body : await new Response(body).text();
}
