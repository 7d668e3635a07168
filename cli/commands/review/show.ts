import { agentReviews } from '../../../src/api/agents/reviews.ts';
import { showJson } from '../../ui/show.ts';
import { verb } from '../../verb.ts';
import { showReview, statusText } from './shown.ts';

/** `svc review show`: what a decision would be about. */
export const show = verb<[id: string], { json?: true }>({
  configure: (command) => command.argument('<id>', 'Id of a review').option('--json', 'Print JSON'),
  about: 'The badges are guessed from words in the call, for the eye; look at the arguments.',
  examples: [
    'svc review show rev_01jd...',
    "svc review show rev_01jd... --json | jq -r '.toolCalls[].toolArgs'",
  ],
  async run(cli, [reviewId], { json }) {
    const client = await cli.client();
    const { review = {} } = await client.call(agentReviews.GetReview, { params: { reviewId }, query: {} });
    if (json) showJson(cli, review);
    else showReview(cli, review);
    if (cli.terminal.err.isTty && !json && statusText(review) === 'pending')
      cli.terminal.note(
        `Decide it: svc review approve ${reviewId}, or svc review deny ${reviewId} --note WHY`,
      );
    return undefined;
  },
});
