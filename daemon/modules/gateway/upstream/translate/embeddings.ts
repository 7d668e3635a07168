import type { Usage } from '../../wire/usage.ts';
import type { RawAnswer, RelayRequest } from '../adapter.ts';
import { UpstreamError } from '../error.ts';
import { refused } from '../refused.ts';
import { answerHeaders } from './answer.ts';

const CHARS_A_TOKEN = 4;
const AT_ONCE = 8;

/** What an embeddings request of this family asks for. */
export interface EmbeddingWish {
  readonly model: string;
  readonly texts: readonly string[];
  readonly dimensions: number | undefined;
  readonly base64: boolean;
}

/** Vectors in the order of their texts. */
export interface Vectors {
  readonly vectors: readonly (readonly number[])[];
  /** Tokens that were read; undefined when the upstream does not say. */
  readonly tokens: number | undefined;
}

/** Reads the request. Errors: UpstreamError of kind request for token numbers, which mean something to one provider only. */
export function embeddingWish(request: RelayRequest): EmbeddingWish {
  const { model, input, dimensions, encoding_format } = request;
  const texts = typeof input === 'string' ? [input] : input;
  if (!Array.isArray(texts) || !texts.every((text): text is string => typeof text === 'string'))
    throw refused('input', `must be texts: token numbers mean nothing to ${model}`);
  const wished = typeof dimensions === 'number' ? dimensions : undefined;
  return { model, texts, dimensions: wished, base64: encoding_format === 'base64' };
}

/** Asks for texts in groups, some of them at once, and puts the answers together in order. */
export async function inGroups(
  texts: readonly string[],
  size: number,
  ask: (texts: readonly string[]) => Promise<Vectors>,
): Promise<Vectors> {
  const groups = Array.from({ length: Math.ceil(texts.length / size) }, (_, i) =>
    texts.slice(i * size, (i + 1) * size),
  );
  const answers: Vectors[] = [];
  for (let i = 0; i < groups.length; i += AT_ONCE)
    answers.push(...(await Promise.all(groups.slice(i, i + AT_ONCE).map(ask))));
  const counted = answers.every(({ tokens }) => tokens !== undefined);
  return {
    vectors: answers.flatMap(({ vectors }) => vectors),
    tokens: counted ? answers.reduce((sum, { tokens }) => sum + (tokens ?? 0), 0) : undefined,
  };
}

/** The answer in the shape of this family. Errors: UpstreamError of kind server when vectors are missing. */
export function embeddingAnswer(
  wish: EmbeddingWish,
  { vectors, tokens }: Vectors,
  provider: string,
): RawAnswer {
  if (vectors.length !== wish.texts.length || vectors.some((vector) => !Array.isArray(vector)))
    throw new UpstreamError(
      'server',
      `The provider ${provider} answered with ${vectors.length} vectors for ${wish.texts.length} texts.`,
    );
  const usage = usageOf(wish, tokens);
  const data = vectors.map((vector, index) => ({
    object: 'embedding' as const,
    index,
    embedding: wish.base64 ? toBase64(vector) : vector,
  }));
  const body = {
    object: 'list',
    data,
    model: wish.model,
    usage: { prompt_tokens: usage.input, total_tokens: usage.input },
  };
  return { headers: answerHeaders(new Headers(), 'application/json'), body: JSON.stringify(body), usage };
}

function usageOf({ texts }: EmbeddingWish, tokens: number | undefined): Usage {
  if (tokens !== undefined) return { input: tokens, output: 0 };
  const chars = texts.reduce((sum, text) => sum + text.length, 0);
  return { input: Math.ceil(chars / CHARS_A_TOKEN), output: 0, estimated: true };
}

/** 32-bit floats as stock clients unpack them: little-endian, as every machine that this runs on has them. */
function toBase64(vector: readonly number[]): string {
  return Buffer.from(Float32Array.from(vector).buffer).toString('base64');
}
