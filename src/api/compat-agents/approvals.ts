import { endpoint, type Group } from '../endpoint.ts';
import { fields, ids, object, oneOf, open, t, timestamp } from '../schema.ts';

const approval = {
  id: t.String(),
  session_id: t.String(),
  turn_id: t.String(),
  call_id: t.String(),
  tool_name: t.String(),
  resource_kind: t.String(),
  resource_id: t.String(),
  status: oneOf('pending', 'approved', 'rejected', 'expired', 'cancelled'),
  requested_by: t.String(),
  requested_at: timestamp(),
  expires_at: timestamp(),
};

/** A call of a tool that waits for a person (spec, Approval). */
export const Approval = open('Approval', approval);

/** An approval with the arguments of the call. */
export const ApprovalDetail = open('ApprovalDetail', { ...approval, arguments: t.Unknown() });

const here = { spec: 'compat-agents-rest', tag: 'Compat approvals', unbuilt: true } as const;

/** Calls that wait for a person. */
export const compatApprovals = {
  ListApprovals: endpoint({
    ...here,
    id: 'ListApprovals',
    method: 'GET',
    path: '/compat/v1/agents/approvals',
    summary: 'List the calls that wait for a person',
    query: fields({ session_id: t.String() }),
    response: object('ApprovalList', { approvals: t.Array(Approval) }),
    access: 'viewer',
  }),
  GetApproval: endpoint({
    ...here,
    id: 'GetApproval',
    method: 'GET',
    path: '/compat/v1/agents/approvals/{approvalId}',
    summary: 'Get a call that waits, with its arguments',
    params: ids('approvalId'),
    response: ApprovalDetail,
    access: 'viewer',
  }),
  ResolveApproval: endpoint({
    ...here,
    id: 'ResolveApproval',
    method: 'POST',
    path: '/compat/v1/agents/approvals/{approvalId}/resolve',
    summary: 'Decide a call that waits',
    params: ids('approvalId'),
    body: open(
      'ResolveApprovalRequest',
      { decision: oneOf('approve', 'reject') },
      { reason: t.String(), scope: oneOf('once', 'session') },
    ),
    response: Approval,
    access: 'member',
  }),
} satisfies Group;
