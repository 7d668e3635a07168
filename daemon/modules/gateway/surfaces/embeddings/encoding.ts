import { parseNested } from '../../../../../src/kit/nesting.ts';
import { UpstreamError } from '../../upstream/error.ts';

/** How a vector travels: a list of numbers, or Base64 of little-endian 32-bit floats. */
export type Encoding = 'float' | 'base64';

interface Embeddings {
  readonly data: readonly { readonly embedding: readonly number[] | string }[];
}

/**
 * The text of an answer with its vectors in the encoding that was asked for. One that has them so already is not parsed.
 * Errors: UpstreamError of kind server when there are no vectors in it.
 */
export function inEncoding(text: string, wanted: Encoding, provider: string): string {
  const first = /"embedding"\s*:\s*(["[])/.exec(text)?.[1];
  if (first === undefined)
    throw new UpstreamError('server', `The provider ${provider} answered with no vectors.`);
  if ((first === '"') === (wanted === 'base64')) return text;
  const body = readEmbeddings(text, provider);
  const convert = wanted === 'base64' ? toBase64 : toFloats;
  return JSON.stringify({
    ...body,
    data: body.data.map((item) => ({ ...item, embedding: convert(item.embedding) })),
  });
}

function readEmbeddings(text: string, provider: string): Embeddings {
  try {
    const body = parseNested(text) as Embeddings;
    if (Array.isArray(body.data)) return body;
  } catch {
    // Told below, with what has no list.
  }
  throw new UpstreamError('server', `The provider ${provider} answered with no vectors.`);
}

function toBase64(vector: readonly number[] | string): string {
  if (typeof vector === 'string') return vector;
  const bytes = Buffer.alloc(vector.length * 4);
  for (const [index, value] of vector.entries()) bytes.writeFloatLE(value, index * 4);
  return bytes.toString('base64');
}

function toFloats(vector: readonly number[] | string): readonly number[] {
  if (typeof vector !== 'string') return vector;
  const bytes = Buffer.from(vector, 'base64');
  return Array.from({ length: Math.floor(bytes.length / 4) }, (_, index) => bytes.readFloatLE(index * 4));
}
