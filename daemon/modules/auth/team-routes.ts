import { type Invitation, team as teamApi } from '../../../src/api/auth/team.ts';
import type { Static } from '../../../src/api/schema.ts';
import { rfc3339 } from '../../../src/kit/time.ts';
import { implement, type Route } from '../../http/route.ts';
import type { Reception } from './reception.ts';
import { toWireRole } from './roles.ts';
import type { InvitationRow } from './tables.ts';
import type { Team } from './team.ts';
import { toUser } from './user-wire.ts';

/** The members of a team and the invitations to it. */
export function teamRoutes(team: Team, reception: Reception): Route[] {
  return implement(teamApi, {
    ListTeamMembers({ caller }) {
      const { members, pending, seatLimit, seatsUsed } = team.roster(caller.tenant);
      return {
        members: members.map(({ user, role, joinedAt }) => ({
          user: toUser(user),
          role: toWireRole(role),
          joinedAt: rfc3339(joinedAt),
        })),
        pendingInvitations: pending.map(toInvitation),
        seatLimit,
        seatsUsed,
      };
    },
    async InviteTeamMember(call) {
      const { invitation, url } = await team.invite(call.caller, call.body, reception.baseUrl(call));
      return { success: true, invitation: toInvitation(invitation), ...(url ? { inviteUrl: url } : {}) };
    },
    RevokeInvitation({ caller, params }) {
      team.revoke(caller, params.invitationId);
      return { success: true };
    },
    AcceptInvitation: async (call) =>
      reception.welcome(call, await team.accept(call.body, reception.visit(call))),
    RemoveTeamMember({ caller, params }) {
      team.remove(caller, params.userId);
      return { success: true };
    },
  });
}

function toInvitation(row: InvitationRow): Static<typeof Invitation> {
  return {
    id: row.id,
    email: row.email,
    role: toWireRole(row.role),
    invitedByEmail: row.invitedByEmail,
    expiresAt: rfc3339(row.expiresAt),
    createdAt: rfc3339(row.createdAt),
    accepted: row.acceptedAt !== null,
  };
}
