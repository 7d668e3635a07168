import { endpoint, type Group } from '../endpoint.ts';
import { enumeration, fields, ids, int32, model, t, timestamp } from '../schema.ts';
import { PendingToolCall } from './turns.ts';

/** What a person decides. */
export const ApprovalAction = enumeration('ApprovalAction', [
  'APPROVAL_ACTION_UNSPECIFIED',
  'APPROVAL_ACTION_APPROVE',
  'APPROVAL_ACTION_DENY',
]);

/** How a review stands. */
export const ApprovalReviewStatus = enumeration('ApprovalReviewStatus', [
  'APPROVAL_REVIEW_STATUS_UNSPECIFIED',
  'APPROVAL_REVIEW_STATUS_PENDING',
  'APPROVAL_REVIEW_STATUS_APPROVED',
  'APPROVAL_REVIEW_STATUS_DENIED',
  'APPROVAL_REVIEW_STATUS_EXPIRED',
  'APPROVAL_REVIEW_STATUS_CANCELLED',
]);

/** What was decided about one call. */
export const ToolCallDecision = model('ToolCallDecision', {
  toolCallId: t.String(),
  action: ApprovalAction,
  reason: t.String(),
});

/** Calls of tools that wait for a decision, or had one. */
export const ApprovalReview = model('ApprovalReview', {
  id: t.String(),
  sessionId: t.String(),
  tenantId: t.String(),
  agentId: t.String(),
  turnNumber: int32(),
  iteration: int32(),
  status: ApprovalReviewStatus,
  toolCalls: t.Array(PendingToolCall),
  decisions: t.Array(ToolCallDecision),
  defaultAction: t.String(),
  requestedAt: timestamp(),
  expiresAt: timestamp(),
  resolvedAt: timestamp(),
  resolvedBy: t.String(),
  resolutionReason: t.String(),
});

const here = { spec: 'agents', tag: 'Approvals' } as const;

/** Tool calls that wait for a person to allow them. */
export const agentReviews = {
  ListReviews: endpoint({
    ...here,
    id: 'ListReviews',
    method: 'GET',
    path: '/v1/agents/reviews',
    summary: 'List the reviews',
    query: fields({
      tenantId: t.String(),
      sessionId: t.String(),
      status: ApprovalReviewStatus,
      limit: int32(),
      offset: int32(),
    }),
    response: model('ListReviewsResponse', { reviews: t.Array(ApprovalReview), total: int32() }),
    access: 'viewer',
    unbuilt: true,
  }),
  GetReview: endpoint({
    ...here,
    id: 'GetReview',
    method: 'GET',
    path: '/v1/agents/reviews/{reviewId}',
    summary: 'Get a review',
    params: ids('reviewId'),
    query: fields({ tenantId: t.String() }),
    response: model('GetReviewResponse', { review: ApprovalReview }),
    access: 'viewer',
    unbuilt: true,
  }),
  SubmitReview: endpoint({
    ...here,
    id: 'SubmitReview',
    method: 'POST',
    path: '/v1/agents/reviews/{reviewId}/submit',
    summary: 'Decide a review that is open',
    params: ids('reviewId'),
    body: model('AgentsServiceSubmitReviewBody', {
      tenantId: t.String(),
      action: ApprovalAction,
      decisions: t.Array(ToolCallDecision, {
        description: 'Where single calls are decided otherwise than `action`.',
      }),
      reason: t.String(),
      resolvedBy: t.String(),
    }),
    response: model('SubmitReviewResponse', {
      accepted: t.Boolean(),
      message: t.String(),
      review: ApprovalReview,
    }),
    access: 'member',
    unbuilt: true,
  }),
} satisfies Group;
