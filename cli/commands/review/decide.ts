import { agentReviews } from '../../../src/api/agents/reviews.ts';
import type { Output } from '../../../src/api/endpoint.ts';
import type { Client } from '../../../src/client/client.ts';
import { invalid } from '../../../src/errors/app-error.ts';

/** A decision about the calls of a review. */
export interface Decision {
  readonly action: 'approve' | 'deny';
  /** Calls that are decided the other way. */
  readonly except?: readonly string[];
  /** What the agent is told, and the record keeps. */
  readonly note?: string;
}

/** What came of it. */
export type Decided = Output<typeof agentReviews.SubmitReview>;

const ACTION = { approve: 'APPROVAL_ACTION_APPROVE', deny: 'APPROVAL_ACTION_DENY' } as const;
const OTHER = { approve: 'deny', deny: 'approve' } as const;

/** Decides a review. Errors: those of SubmitReview, such as review_settled. */
export function decide(
  client: Client,
  reviewId: string,
  { action, except = [], note }: Decision,
): Promise<Decided> {
  const decisions = except.map((toolCallId) => ({ toolCallId, action: ACTION[OTHER[action]] }));
  return client.call(agentReviews.SubmitReview, {
    params: { reviewId },
    body: {
      action: ACTION[action],
      ...(decisions.length > 0 ? { decisions } : {}),
      ...(note === undefined ? {} : { reason: note }),
    },
  });
}

/** The ids of the reviews that a session waits for. */
export async function pendingReviews(client: Client, sessionId: string): Promise<string[]> {
  const query = { sessionId, status: 'APPROVAL_REVIEW_STATUS_PENDING' } as const;
  const { reviews = [] } = await client.call(agentReviews.ListReviews, { query });
  return reviews.flatMap(({ id }) => (id ? [id] : []));
}

/** Refuses calls that are named for several reviews: ids of calls are of one. Errors: invalid_argument naming the option. */
export function checkExceptions(
  option: string,
  reviewIds: readonly string[],
  except: readonly string[],
): void {
  if (except.length > 0 && reviewIds.length > 1)
    throw invalid({ field: option, description: 'goes with one review only' });
}
