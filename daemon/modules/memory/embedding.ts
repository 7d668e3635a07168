import { fail } from '../../../src/errors/app-error.ts';
import type { Caller } from '../../http/route.ts';
import type { Embed } from '../gateway/index.ts';
import type { CollectionRow } from './tables.ts';

const TEXTS_A_CALL = 64;
const CHARACTERS_A_CALL = 100_000;
const CALLS_AT_ONCE = 4;

/** What of a collection says how texts become vectors. */
export type Embedding = Pick<CollectionRow, 'embeddingModel' | 'dimension' | 'asksDimension'>;

/** Makes vectors of texts through the gateway, many texts in a call and a few calls at once. */
export class Embedder {
  constructor(private readonly embed: Embed) {}

  /**
   * The vectors of texts, in their order; nothing when one of them fails. Errors: those of the gateway; upstream_failed when the
   * model answers with vectors of another length than the collection has.
   */
  async vectorsOf(
    caller: Caller,
    { embeddingModel: model, dimension, asksDimension }: Embedding,
    texts: readonly string[],
    signal: AbortSignal,
  ): Promise<Float32Array[]> {
    const failed = new AbortController();
    const either = AbortSignal.any([signal, failed.signal]);
    const batches = inBatches(texts);
    const vectors: Float32Array[] = [];
    const work = async () => {
      for (let batch = batches.shift(); batch; batch = batches.shift()) {
        const { from, texts } = batch;
        const dimensions = asksDimension ? dimension : undefined;
        const made = await this.embed(caller, { model, texts, dimensions, signal: either });
        for (const [i, vector] of made.entries()) vectors[from + i] = this.checked(model, dimension, vector);
      }
    };
    try {
      await Promise.all(Array.from({ length: CALLS_AT_ONCE }, work));
    } catch (error) {
      failed.abort();
      throw error;
    }
    return vectors;
  }

  /** The length of a model's vectors. Asked for `wanted`, a model may give that. Errors: those of the gateway. */
  async probe(
    caller: Caller,
    model: string,
    wanted: number,
    signal: AbortSignal,
  ): Promise<Pick<Embedding, 'dimension' | 'asksDimension'>> {
    const lengthOf = async (dimensions?: number) =>
      (await this.embed(caller, { model, texts: ['dimension'], dimensions, signal }))[0]?.length ?? 0;
    const usual = await lengthOf();
    if (wanted === 0 || wanted === usual) return { dimension: usual, asksDimension: false };
    const asked = await lengthOf(wanted).catch(() => usual);
    return { dimension: asked, asksDimension: asked !== usual };
  }

  private checked(model: string, dimension: number, vector: Float32Array): Float32Array {
    if (vector.length === dimension) return vector;
    throw fail('upstream_failed', {
      message: `The model ${model} answered with vectors of ${vector.length} numbers; this collection has ${dimension}.`,
    });
  }
}

function inBatches(texts: readonly string[]): Array<{ from: number; texts: string[] }> {
  const batches: Array<{ from: number; texts: string[] }> = [];
  let size = Number.POSITIVE_INFINITY;
  for (const [from, text] of texts.entries()) {
    const last = batches.at(-1);
    if (!last || last.texts.length === TEXTS_A_CALL || size + text.length > CHARACTERS_A_CALL) {
      batches.push({ from, texts: [text] });
      size = text.length;
    } else {
      last.texts.push(text);
      size += text.length;
    }
  }
  return batches;
}
