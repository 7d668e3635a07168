import { agentReviews } from '../../../src/api/agents/reviews.ts';
import { integer, word } from '../../args.ts';
import { showJson, showList } from '../../ui/show.ts';
import { relativeTime } from '../../ui/time.ts';
import { verb } from '../../verb.ts';
import { callsText, riskText, statusText } from './shown.ts';

const STATUS = {
  pending: 'APPROVAL_REVIEW_STATUS_PENDING',
  approved: 'APPROVAL_REVIEW_STATUS_APPROVED',
  denied: 'APPROVAL_REVIEW_STATUS_DENIED',
  expired: 'APPROVAL_REVIEW_STATUS_EXPIRED',
  cancelled: 'APPROVAL_REVIEW_STATUS_CANCELLED',
  all: undefined,
} as const;

interface Options {
  readonly session?: string;
  readonly status: keyof typeof STATUS;
  readonly limit?: number;
  readonly offset?: number;
  readonly json?: true;
}

/** `svc review list`. */
export const list = verb<[], Options>({
  configure: (command) =>
    command
      .option('--session <id>', 'Only those of this session')
      .option(
        '--status <status>',
        'pending, approved, denied, expired, cancelled or all',
        word('pending', 'approved', 'denied', 'expired', 'cancelled', 'all'),
        'pending',
      )
      .option('--limit <count>', 'How many at most', integer(1))
      .option('--offset <count>', 'How many to leave out', integer(0))
      .option('--json', 'Print JSON'),
  about: 'What waits stands first, soonest to expire at the head; the rest is newest first.',
  examples: [
    'svc review list',
    'svc review list --status all --session ses_01jd...',
    'svc review list | cut -f1',
  ],
  async run(cli, _, { session, status, limit, offset, json }) {
    const client = await cli.client();
    const query = { sessionId: session, status: STATUS[status], limit, offset };
    const { reviews: rows = [], total } = await client.call(agentReviews.ListReviews, { query });
    if (json) {
      showJson(cli, rows);
      return undefined;
    }
    showList(cli, {
      rows,
      none: status === 'pending' ? 'Nothing waits for a decision.' : 'There are no such reviews.',
      page: { offset, total },
      columns: [
        { title: 'ID', text: ({ id }) => id },
        { title: 'STATUS', text: statusText },
        { title: 'SESSION', text: ({ sessionId }) => sessionId },
        { title: 'RISK', text: riskText },
        {
          title: 'EXPIRES',
          text: (review) => (statusText(review) === 'pending' ? relativeTime(review.expiresAt) : ''),
          raw: ({ expiresAt }) => expiresAt,
        },
        { title: 'CALLS', text: callsText },
      ],
    });
    return undefined;
  },
});
