import type { ApprovalReview, ApprovalReviewStatus } from '../../../../src/api/agents/reviews.ts';
import type { Value } from '../../../../src/api/schema.ts';
import { rfc3339 } from '../../../../src/kit/time.ts';
import type { Submitted } from './service.ts';
import type { ReviewRow } from './tables.ts';

const STATUS = {
  pending: 'APPROVAL_REVIEW_STATUS_PENDING',
  approved: 'APPROVAL_REVIEW_STATUS_APPROVED',
  denied: 'APPROVAL_REVIEW_STATUS_DENIED',
  expired: 'APPROVAL_REVIEW_STATUS_EXPIRED',
  cancelled: 'APPROVAL_REVIEW_STATUS_CANCELLED',
} as const satisfies Record<ReviewRow['status'], string>;

const ACTION = { approve: 'APPROVAL_ACTION_APPROVE', deny: 'APPROVAL_ACTION_DENY' } as const;

/** The status that a caller means; undefined for any. */
export function statusMeant(
  wire: Value<typeof ApprovalReviewStatus> | undefined,
): ReviewRow['status'] | undefined {
  const names = Object.keys(STATUS) as ReviewRow['status'][];
  return names.find((name) => STATUS[name] === wire);
}

/** A review as the API shows it. */
export function reviewToWire(row: ReviewRow): Value<typeof ApprovalReview> {
  const { id, sessionId, tenant: tenantId, agentId, turnNumber, iteration } = row;
  return {
    ...{ id, sessionId, tenantId, agentId, turnNumber, iteration },
    status: STATUS[row.status],
    toolCalls: row.calls.map(({ risk, ...call }) => ({ ...call, risk: [...risk] })),
    decisions: row.decisions.map(({ action, ...one }) => ({ ...one, action: ACTION[action] })),
    defaultAction: row.defaultAction,
    ...(row.note ? { note: row.note } : {}),
    requestedAt: rfc3339(row.requestedAt),
    expiresAt: rfc3339(row.expiresAt),
    ...(row.resolvedAt === null ? {} : { resolvedAt: rfc3339(row.resolvedAt) }),
    resolvedBy: row.resolvedBy,
    ...(row.reviewer ? { reviewer: row.reviewer } : {}),
    resolutionReason: row.resolutionReason,
  };
}

/** What came of a submission, in a sentence. */
export function outcomeText({ review: { decisions, resolvedBy }, isNew }: Submitted): string {
  if (!isNew) return `It was decided so already, by ${resolvedBy}.`;
  const approved = decisions.filter(({ action }) => action === 'approve').length;
  return `${approved} of ${decisions.length} ${decisions.length === 1 ? 'call' : 'calls'} approved.`;
}
