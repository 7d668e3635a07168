import { hashOf } from '../../reviews/decision.ts';
import type { CallDecision, Review, ReviewedCall } from '../../reviews/face.ts';
import type { CallRow } from '../tables.ts';

/** A call as a review holds it. */
export function reviewedCall({ id, name, args }: CallRow): ReviewedCall {
  return { toolCallId: id, toolName: name, toolArgs: args, argsHash: hashOf(name, args) };
}

/** What a review that is over says about a call. A decision about other bytes is none; so is none at all. */
export function decisionOf(review: Review | undefined, { id, name, args }: CallRow): CallDecision {
  const argsHash = hashOf(name, args);
  const decision = review?.decisions.find((one) => one.toolCallId === id && one.argsHash === argsHash);
  return decision ?? { toolCallId: id, argsHash, action: 'deny', reason: 'nobody has decided about it' };
}
