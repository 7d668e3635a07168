import { endpoint, type Group } from '../endpoint.ts';
import { enumeration, fields, ids, int32, model, oneOf, t, timestamp } from '../schema.ts';
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
  argsHash: t.String({ description: 'Of the call that was seen; what is sent has to be its hash.' }),
});

/** What a call may be about, guessed from the words in it: for the eye, and never decided by. */
export const RISKS = ['destructive', 'production', 'external', 'billing', 'sensitive'] as const;

/** A call of a tool that is reviewed. */
export const ReviewedToolCall = model('ReviewedToolCall', {
  ...PendingToolCall.properties,
  argsHash: t.String({ description: 'Hex SHA-256 of toolName, a newline and toolArgs.' }),
  risk: t.Array(oneOf(...RISKS), {
    description: 'Guessed from the words of the call; nothing is decided by it.',
  }),
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
  toolCalls: t.Array(ReviewedToolCall),
  decisions: t.Array(ToolCallDecision),
  defaultAction: t.String(),
  requestedAt: timestamp(),
  expiresAt: timestamp(),
  resolvedAt: timestamp(),
  resolvedBy: t.String({
    description: 'Who it was, by the credential; `system` when its time has ended it.',
  }),
  reviewer: t.String({ description: 'The name that came with the decision. Nobody has checked it.' }),
  resolutionReason: t.String(),
  note: t.String({ description: 'Why it is asked, where that is not a rule of the agent.' }),
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
      resolvedBy: t.String({
        description: 'A name to be shown as `reviewer`; `resolvedBy` of the review is who sends this.',
      }),
    }),
    response: model('SubmitReviewResponse', {
      accepted: t.Boolean(),
      message: t.String(),
      review: ApprovalReview,
    }),
    access: 'member',
  }),
} satisfies Group;
