import type { EmbeddingsRequest } from '../../../../../src/api/gateway/embeddings.ts';
import type { Value } from '../../../../../src/api/schema.ts';
import { invalid } from '../../../../../src/errors/app-error.ts';
import type { ModelCall } from '../../pipeline/call.ts';
import type { Pipeline, SurfaceWork } from '../../pipeline/pipeline.ts';
import type { RawAnswer } from '../../upstream/adapter.ts';
import { UpstreamError } from '../../upstream/error.ts';
import { usageIn } from '../../wire/usage-object.ts';
import { answerRaw, type RawReading } from '../raw-answer.ts';
import { relayWork } from '../relay-work.ts';
import { inEncoding } from './encoding.ts';

type Request = Value<typeof EmbeddingsRequest>;

const CHARS_PER_TOKEN = 4;

const relaying = relayWork<Request>('embeddings');

const work: SurfaceWork<Request, RawAnswer> = {
  can: relaying.can,
  async send(request, adapter, upstream) {
    const wanted = request.encoding_format ?? 'float';
    const answer = await relaying.send(request, adapter, upstream).catch((error: unknown) => {
      if (wanted !== 'base64' || !refusesEncoding(error)) throw error;
      return relaying.send({ ...request, encoding_format: 'float' }, adapter, upstream);
    });
    const text = typeof answer.body === 'string' ? answer.body : await new Response(answer.body).text();
    return { ...answer, body: inEncoding(text, wanted, upstream.account.name) };
  },
};

const reading: RawReading<Request> = {
  took: (text, { input }) => usageIn(text) ?? { input: guessTokens(input), output: 0, estimated: true },
};

/** Vectors of texts: in the wire format of stock clients, in the encoding that was asked for whatever the provider gives. */
export class EmbeddingsSurface {
  constructor(private readonly pipeline: Pipeline) {}

  /** Answers a request. Errors: invalid_argument without inputs; as Pipeline.run. */
  async create(call: ModelCall<Request>): Promise<Response> {
    if (call.request.input.length === 0) throw invalid({ field: 'input', description: 'must not be empty' });
    return answerRaw(this.pipeline, call, work, reading);
  }
}

/** Stock clients ask for Base64 unless they are told otherwise, and not every provider has it. */
function refusesEncoding(error: unknown): boolean {
  if (!(error instanceof UpstreamError) || error.kind !== 'request') return false;
  return error.details.param === 'encoding_format' || error.message.includes('encoding_format');
}

function guessTokens(input: Request['input']): number {
  if (typeof input === 'string') return Math.ceil(input.length / CHARS_PER_TOKEN);
  return input.reduce<number>((sum, item) => {
    if (typeof item === 'number') return sum + 1;
    return sum + (typeof item === 'string' ? Math.ceil(item.length / CHARS_PER_TOKEN) : item.length);
  }, 0);
}
