import { createHash } from 'node:crypto';
import { note, serveFake } from './fake-provider.ts';

/** The key that this upstream wants. */
export const EMBEDDINGS_KEY = 'sk-test-embeddings-0123456789';

const USUAL_DIMENSION = 96;

interface Request {
  readonly model: string;
  readonly input: string | readonly string[];
  readonly dimensions?: number;
  readonly encoding_format?: string;
}

/**
 * A fake provider of embeddings, in a process of its own: texts with the same words have vectors that are near each other. `words`
 * takes `dimensions`, `fixed` refuses it and Base64 with it; a text with the word "poison" is an error of the server.
 */
async function answer(model: string, request: Request): Promise<Response> {
  const inputs = typeof request.input === 'string' ? [request.input] : request.input;
  const { dimensions = USUAL_DIMENSION, encoding_format: encoding = 'float' } = request;
  if (model === 'fixed' && request.dimensions !== undefined)
    return refusal(400, 'dimensions is not supported', 'dimensions');
  if (model === 'fixed' && encoding === 'base64')
    return refusal(400, 'encoding_format is not supported', 'encoding_format');
  if (inputs.some((text) => text.includes('poison'))) return refusal(500, 'cannot digest this');
  const data = inputs.map((text, index) => {
    const vector = vectorOf(text, dimensions);
    const bytes = Buffer.from(Float32Array.from(vector).buffer);
    return {
      object: 'embedding',
      index,
      embedding: encoding === 'base64' ? bytes.toString('base64') : vector,
    };
  });
  const tokens = inputs.reduce((sum, text) => sum + text.split(/\s+/).length, 0);
  return Response.json({
    object: 'list',
    model,
    data,
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  });
}

function vectorOf(text: string, dimension: number): number[] {
  const vector = new Array<number>(dimension).fill(0);
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []) {
    const hash = createHash('sha1').update(word).digest();
    const at = hash.readUInt32LE(0) % dimension;
    vector[at] = (vector[at] ?? 0) + ((hash[4] ?? 0) & 1 ? 1 : -1);
  }
  return vector;
}

function refusal(status: number, message: string, param: string | null = null): Response {
  return Response.json({ error: { message, type: 'invalid_request_error', param, code: null } }, { status });
}

if (import.meta.main)
  serveFake(async (call) => {
    if (call.headers.get('authorization') !== `Bearer ${EMBEDDINGS_KEY}`) return refusal(401, 'no key');
    if (call.url.pathname === '/v1/models')
      return Response.json({ object: 'list', data: ['words', 'fixed'].map((id) => ({ id, created: 1 })) });
    if (call.url.pathname !== '/v1/embeddings') return refusal(404, 'no such place');
    note(call);
    const request = JSON.parse(call.text) as Request;
    return answer(request.model, request);
  });
