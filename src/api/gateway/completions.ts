import { endpoint, type Group } from '../endpoint.ts';
import { nullable, open, struct, t } from '../schema.ts';
import { CompletionUsage, StopSequences, StreamOptions } from './chat.ts';

/** A text completion, as stock clients ask for it. */
export const CompletionRequest = open(
  'CreateCompletionRequest',
  {
    model: t.String({ minLength: 1 }),
    prompt: nullable(
      t.Union([t.String(), t.Array(t.String()), t.Array(t.Integer()), t.Array(t.Array(t.Integer()))]),
    ),
  },
  {
    best_of: nullable(t.Integer({ minimum: 1 })),
    echo: nullable(t.Boolean()),
    frequency_penalty: nullable(t.Number()),
    logit_bias: nullable(t.Record(t.String(), t.Number())),
    logprobs: nullable(t.Integer()),
    max_tokens: nullable(t.Integer()),
    n: nullable(t.Integer({ minimum: 1 })),
    presence_penalty: nullable(t.Number()),
    seed: nullable(t.Integer()),
    stop: nullable(StopSequences),
    stream: nullable(t.Boolean()),
    stream_options: nullable(StreamOptions),
    suffix: nullable(t.String()),
    temperature: nullable(t.Number({ minimum: 0, maximum: 2 })),
    top_p: nullable(t.Number({ minimum: 0, maximum: 1 })),
    user: t.String(),
  },
);

/** The answer to a text completion; when streamed, each event has this shape too. */
export const Completion = open(
  'Completion',
  {
    id: t.String(),
    object: t.Literal('text_completion'),
    created: t.Integer(),
    model: t.String(),
    choices: t.Array(
      open(
        'CompletionChoice',
        { index: t.Integer(), text: t.String(), finish_reason: nullable(t.String()) },
        { logprobs: nullable(struct()) },
      ),
    ),
  },
  { usage: nullable(CompletionUsage), system_fingerprint: nullable(t.String()) },
);

/** Text completions, in the wire format of stock clients. */
export const completions = {
  CreateCompletion: endpoint({
    spec: 'extra',
    tag: 'Chat',
    id: 'CreateCompletion',
    method: 'POST',
    path: '/compat/v1/completions',
    summary: 'Complete a text',
    body: CompletionRequest,
    response: Completion,
    chunk: Completion,
    access: 'member',
  }),
} satisfies Group;
