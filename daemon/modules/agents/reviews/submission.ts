import type { ApprovalAction, agentReviews, ToolCallDecision } from '../../../../src/api/agents/reviews.ts';
import type { Input } from '../../../../src/api/endpoint.ts';
import type { Value } from '../../../../src/api/schema.ts';
import { invalid } from '../../../../src/errors/app-error.ts';
import { statusOf } from './decision.ts';
import type { CallDecision, ReviewedCall } from './face.ts';

/** What somebody sends who decides a review. */
export type Submission = Input<typeof agentReviews.SubmitReview>['body'];

/** A submission that fits its review. */
export interface Verdict {
  readonly status: 'approved' | 'denied';
  /** One for each call of the review, in their order. */
  readonly decisions: readonly CallDecision[];
  readonly reason: string;
  /** The name that came with it: to be shown, never to be believed. */
  readonly reviewer: string;
}

const MOST_REASON = 2_000;
const MOST_REVIEWER = 200;

/**
 * Reads a submission: `action` decides every call that `decisions` does not name. Errors: invalid_argument naming the field: no
 * decision for a call, a call that is not of the review or is named twice, a hash of other arguments, too long a text.
 */
export function readSubmission(calls: readonly ReviewedCall[], submission: Submission): Verdict {
  const { decisions: single = [], reason = '', resolvedBy: reviewer = '' } = submission;
  checkLength('reason', reason, MOST_REASON);
  checkLength('resolvedBy', reviewer, MOST_REVIEWER);
  const action = wordOf(submission.action);
  const singly = readSingly(calls, single, reason);
  const decisions = calls.map(({ toolCallId, argsHash }): CallDecision => {
    const own = singly.get(toolCallId);
    if (own) return own;
    if (!action)
      throw invalid({ field: 'action', description: `is required: nothing is said about ${toolCallId}` });
    return { toolCallId, argsHash, action, reason };
  });
  return { status: statusOf(decisions), decisions, reason, reviewer };
}

function readSingly(
  calls: readonly ReviewedCall[],
  single: readonly Value<typeof ToolCallDecision>[],
  reason: string,
): Map<string, CallDecision> {
  const known = new Map(calls.map((call) => [call.toolCallId, call]));
  const read = new Map<string, CallDecision>();
  for (const [index, one] of single.entries()) {
    const at = (field: string) => `decisions.${index}.${field}`;
    const call = known.get(one.toolCallId ?? '');
    if (!call)
      throw invalid({ field: at('toolCallId'), description: 'must be the id of a call of this review' });
    if (read.has(call.toolCallId))
      throw invalid({ field: at('toolCallId'), description: `${call.toolCallId} is decided twice` });
    const action = wordOf(one.action);
    if (!action) throw invalid({ field: at('action'), description: 'must be approve or deny' });
    if (one.argsHash && one.argsHash !== call.argsHash)
      throw invalid({ field: at('argsHash'), description: `is not the hash of ${call.toolCallId}` });
    checkLength(at('reason'), one.reason ?? '', MOST_REASON);
    const { toolCallId, argsHash } = call;
    read.set(toolCallId, { toolCallId, argsHash, action, reason: one.reason || reason });
  }
  return read;
}

function wordOf(action: Value<typeof ApprovalAction> | undefined): CallDecision['action'] | undefined {
  if (action === 'APPROVAL_ACTION_APPROVE') return 'approve';
  return action === 'APPROVAL_ACTION_DENY' ? 'deny' : undefined;
}

function checkLength(field: string, text: string, most: number): void {
  if (text.length > most) throw invalid({ field, description: `has at most ${most} characters` });
}
