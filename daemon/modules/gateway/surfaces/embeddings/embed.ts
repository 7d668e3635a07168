import { fail } from '../../../../../src/errors/app-error.ts';
import { newId } from '../../../../../src/kit/id.ts';
import type { Caller } from '../../../../http/route.ts';
import type { EmbeddingsSurface } from './surface.ts';

/** Texts that another module wants vectors of. */
export interface EmbeddingWish {
  /** As callers of the gateway name it: a route, `provider/model`, or a name that is listed. */
  readonly model: string;
  readonly texts: readonly string[];
  /** The length of the vectors, of models that can be asked for one. */
  readonly dimensions?: number;
  readonly signal: AbortSignal;
}

/**
 * The vectors of texts, in their order, as finite numbers of one length. The call passes the whole way of a request: limits, guardrails, cache,
 * routing, budget, and it stands in the request log as the caller's. Errors: as Pipeline.run; upstream_failed when the answer
 * does not fit the texts.
 */
export type Embed = (caller: Caller, wish: EmbeddingWish) => Promise<Float32Array[]>;

interface Answer {
  readonly data?: ReadonlyArray<{ readonly index?: number; readonly embedding?: unknown }>;
}

/** Makes vectors for other modules, in this process. */
export function embedThrough(surface: EmbeddingsSurface): Embed {
  return async (caller, { model, texts, dimensions, signal }) => {
    const response = await surface.create({
      surface: 'embeddings',
      caller,
      requestId: newId('req'),
      peer: () => '',
      signal,
      headers: new Headers(),
      request: {
        model,
        input: [...texts],
        encoding_format: 'base64',
        ...(dimensions === undefined ? {} : { dimensions }),
      },
    });
    return vectorsIn((await response.json()) as Answer, model, texts.length);
  };
}

function vectorsIn({ data = [] }: Answer, model: string, count: number): Float32Array[] {
  const vectors: Float32Array[] = [];
  for (const [i, { index = i, embedding }] of data.entries()) vectors[index] = floats(embedding, model);
  const [first] = vectors;
  const fits = vectors.length === count && Array.from(vectors).every((one) => one?.length === first?.length);
  if (!fits || !first?.length)
    throw fail('upstream_failed', {
      message: `The model ${model} did not answer with a vector for each text.`,
    });
  return vectors;
}

function floats(embedding: unknown, model: string): Float32Array {
  const bytes = Buffer.from(typeof embedding === 'string' ? embedding : '', 'base64');
  const vector = Float32Array.from({ length: bytes.length >> 2 }, (_, i) => bytes.readFloatLE(i * 4));
  if (vector.every(Number.isFinite)) return vector;
  throw fail('upstream_failed', {
    message: `The model ${model} answered with a vector that has no number in a place.`,
  });
}
