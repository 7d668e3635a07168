import { endpoint, type Group } from '../endpoint.ts';
import { ids, int32, model, t, timestamp } from '../schema.ts';
import { OrganizationRole, User, UserWithOrganizations } from './users.ts';

/** A member of a team. */
export const TeamMember = model('TeamMember', { user: User, role: OrganizationRole, joinedAt: timestamp() });

/** An invitation to a team. */
export const Invitation = model('Invitation', {
  id: t.String(),
  email: t.String(),
  role: OrganizationRole,
  invitedByEmail: t.String(),
  expiresAt: timestamp(),
  createdAt: timestamp(),
  accepted: t.Boolean(),
});

const here = { spec: 'auth', tag: 'Team' } as const;

/** The members of a team and the invitations to it. */
export const team = {
  ListTeamMembers: endpoint({
    ...here,
    id: 'ListTeamMembers',
    method: 'GET',
    path: '/v1/auth/team',
    summary: 'List the members and the open invitations',
    response: model('ListTeamMembersResponse', {
      members: t.Array(TeamMember),
      pendingInvitations: t.Array(Invitation),
      seatLimit: int32(),
      seatsUsed: int32(),
    }),
    access: 'viewer',
  }),
  InviteTeamMember: endpoint({
    ...here,
    id: 'InviteTeamMember',
    method: 'POST',
    path: '/v1/auth/invite',
    summary: 'Invite somebody',
    body: model('InviteTeamMemberRequest', { email: t.String(), role: OrganizationRole }),
    response: model('InviteTeamMemberResponse', {
      success: t.Boolean(),
      invitation: Invitation,
      upgradeMessage: t.String(),
      inviteUrl: t.String({
        description: 'The link to join by, when it could not be mailed: hand it over yourself.',
      }),
    }),
    access: 'admin',
  }),
  RevokeInvitation: endpoint({
    ...here,
    id: 'RevokeInvitation',
    method: 'DELETE',
    path: '/v1/auth/invite/{invitationId}',
    summary: 'Withdraw an invitation',
    params: ids('invitationId'),
    response: model('RevokeInvitationResponse', { success: t.Boolean() }),
    access: 'admin',
  }),
  AcceptInvitation: endpoint({
    ...here,
    id: 'AcceptInvitation',
    method: 'POST',
    path: '/v1/auth/accept-invite',
    summary: 'Join by an invitation',
    body: model('AcceptInvitationRequest', { token: t.String(), password: t.String(), name: t.String() }),
    response: model('AcceptInvitationResponse', {
      success: t.Boolean(),
      user: UserWithOrganizations,
      sessionToken: t.String(),
    }),
    access: 'public',
  }),
  RemoveTeamMember: endpoint({
    ...here,
    id: 'RemoveTeamMember',
    method: 'DELETE',
    path: '/v1/auth/team/{userId}',
    summary: 'Remove a member',
    params: ids('userId'),
    response: model('RemoveTeamMemberResponse', { success: t.Boolean() }),
    access: 'owner',
  }),
} satisfies Group;
