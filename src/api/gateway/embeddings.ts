import { endpoint, type Group } from '../endpoint.ts';
import { object, oneOf, open, t } from '../schema.ts';

const MB = 1024 * 1024;

/** A wish for embeddings, as stock clients send it. */
export const EmbeddingsRequest = open(
  'CreateEmbeddingRequest',
  {
    model: t.String({ minLength: 1 }),
    input: t.Union([t.String(), t.Array(t.String()), t.Array(t.Integer()), t.Array(t.Array(t.Integer()))]),
  },
  {
    dimensions: t.Integer({ minimum: 1 }),
    encoding_format: oneOf('float', 'base64'),
    user: t.String(),
  },
);

/** The vectors of the inputs, in their order. */
export const EmbeddingList = open('CreateEmbeddingResponse', {
  object: t.Literal('list'),
  data: t.Array(
    open('Embedding', {
      object: t.Literal('embedding'),
      index: t.Integer(),
      embedding: t.Union([t.Array(t.Number()), t.String({ description: 'Base64 of 32-bit floats.' })]),
    }),
  ),
  model: t.String(),
  usage: object('EmbeddingUsage', { prompt_tokens: t.Integer(), total_tokens: t.Integer() }),
});

/** Embeddings, in the wire format of stock clients. */
export const embeddings = {
  Embeddings: endpoint({
    spec: 'gateway',
    tag: 'Embeddings',
    id: 'Embeddings',
    method: 'POST',
    path: '/compat/v1/embeddings',
    summary: 'Turn texts into vectors',
    body: EmbeddingsRequest,
    response: EmbeddingList,
    bodyLimit: 16 * MB,
    access: 'member',
  }),
} satisfies Group;
