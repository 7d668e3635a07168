import { endpoint, type Group } from '../endpoint.ts';
import { open, t } from '../schema.ts';

const MB = 1024 * 1024;

/** What to look at: texts, or texts and images. */
export const ModerationRequest = open(
  'CreateModerationRequest',
  {
    input: t.Union([
      t.String(),
      t.Array(t.String()),
      t.Array(
        open(
          'ModerationInput',
          { type: t.String() },
          { text: t.String(), image_url: open('ModerationImageUrl', { url: t.String() }) },
        ),
      ),
    ]),
  },
  { model: t.String() },
);

/** What was found in each input, by category. */
export const ModerationResult = open('CreateModerationResponse', {
  id: t.String(),
  model: t.String(),
  results: t.Array(
    open(
      'Moderation',
      {
        flagged: t.Boolean(),
        categories: t.Record(t.String(), t.Boolean()),
        category_scores: t.Record(t.String(), t.Number()),
      },
      { category_applied_input_types: t.Record(t.String(), t.Array(t.String())) },
    ),
  ),
});

/** Moderation, in the wire format of stock clients. */
export const moderations = {
  Moderation: endpoint({
    spec: 'gateway',
    tag: 'Moderation',
    id: 'Moderation',
    method: 'POST',
    path: '/compat/v1/moderations',
    summary: 'Tell whether texts and images offend a policy',
    body: ModerationRequest,
    response: ModerationResult,
    bodyLimit: 16 * MB,
    access: 'member',
  }),
} satisfies Group;
