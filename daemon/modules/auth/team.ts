import { fail } from '../../../src/errors/app-error.ts';
import { newId, newSecret } from '../../../src/kit/id.ts';
import { DAY_MS } from '../../../src/kit/time.ts';
import type { App } from '../../app.ts';
import type { Caller } from '../../http/route.ts';
import type { Visit } from './accounts.ts';
import type { ApiKeys } from './api-keys.ts';
import { readEmail, readName, readPassword, readRequired } from './inputs.ts';
import type { InvitationStore } from './invitation-store.ts';
import type { KeySnapshot } from './key-snapshot.ts';
import type { Letters } from './letters.ts';
import { requireSelfHosted } from './mode.ts';
import type { Passwords } from './passwords.ts';
import type { People } from './people.ts';
import { fromWireRole, requireRole } from './roles.ts';
import { hashSecret } from './secret-hash.ts';
import type { SessionStore } from './session-store.ts';
import type { Sessions, SignedIn } from './sessions.ts';
import type { InvitationRow, UserRow } from './tables.ts';
import type { Member, UserStore } from './user-store.ts';

const INVITATION_MS = 7 * DAY_MS;

/** Everybody of a team, and those who are invited. */
export interface Roster {
  readonly members: readonly Member[];
  readonly pending: readonly InvitationRow[];
  /** 0 is unlimited. */
  readonly seatLimit: number;
  readonly seatsUsed: number;
}

/** An invitation that was sent. `url` is there when it is not in the mail: hand it over yourself. */
export interface Invited {
  readonly invitation: InvitationRow;
  readonly url?: string;
}

/** What the team is made of. */
export interface TeamParts {
  readonly users: UserStore;
  readonly people: People;
  readonly invitations: InvitationStore;
  readonly sessionStore: SessionStore;
  readonly sessions: Sessions;
  readonly passwords: Passwords;
  readonly keys: ApiKeys;
  readonly snapshot: KeySnapshot;
  readonly letters: Letters;
}

/** The members of an organization and the invitations to it (spec, Self-hosted rules). */
export class Team {
  constructor(
    private readonly app: App,
    private readonly parts: TeamParts,
  ) {}

  /** Who is in and who is invited. */
  roster(tenant: string): Roster {
    const members = this.parts.users.members(tenant);
    const pending = this.parts.invitations.pending(tenant, this.app.clock.now());
    const seatLimit = this.app.config.get('license.seats');
    return { members, pending, seatLimit, seatsUsed: members.length + pending.length };
  }

  /**
   * Invites an address. Errors: forbidden (a role above the caller's), already_exists (member or invited),
   * seat_limit, invalid_argument.
   */
  async invite(caller: Caller, input: { email?: string; role?: string }, baseUrl: string): Promise<Invited> {
    const email = readEmail(input.email);
    const role = fromWireRole(input.role);
    requireRole(caller, role);
    const token = newSecret();
    const now = this.app.clock.now();
    const { tenant, userId, actor } = caller;
    const invitation: InvitationRow = {
      id: newId('inv', now),
      tenant,
      email,
      role,
      tokenHash: hashSecret(token),
      invitedByEmail: (userId && this.parts.users.byId(userId)?.email) || '',
      createdAt: now,
      expiresAt: now + INVITATION_MS,
      acceptedAt: null,
    };
    this.app.db.transaction(() => {
      this.requireNewcomer(tenant, email);
      this.requireSeat(tenant);
      this.parts.invitations.insert(invitation);
      const details = { email, role };
      this.app.audit.record({ tenant, actor, action: 'team.invite', target: invitation.id, details });
    });
    return { invitation, url: await this.send(invitation, token, baseUrl) };
  }

  /** Withdraws an open invitation; its link ends. Errors: not_found. */
  revoke({ tenant, actor }: Caller, id: string): void {
    this.app.db.transaction(() => {
      const revoked = this.parts.invitations.revoke(tenant, id);
      if (!revoked) throw fail('not_found', { what: 'open invitation', id });
      const details = { email: revoked.email };
      this.app.audit.record({ tenant, actor, action: 'team.revoke_invitation', target: id, details });
    });
  }

  /**
   * Joins by an invitation and signs in. Somebody new sets a password; whoever has an account here gives
   * its password. Errors: bad_link, bad_login, invalid_argument.
   */
  async accept(input: { token?: string; password?: string; name?: string }, visit: Visit): Promise<SignedIn> {
    requireSelfHosted(this.app.config);
    const tokenHash = hashSecret(readRequired('token', input.token));
    const { email } = this.openInvitation(tokenHash);
    const known = this.parts.users.byEmail(email);
    const passwordHash = await this.proveOrHash(known, input.password);
    const name = readName(input.name, email.split('@')[0] ?? email);
    return this.app.db.transaction(() => {
      const invitation = this.openInvitation(tokenHash);
      const user = known ?? this.parts.people.add({ email, name, passwordHash });
      this.join(invitation, user);
      const { tenant } = invitation;
      return this.parts.sessions.open({ tenant, userId: user.id, by: 'invitation', earlier: visit.earlier });
    });
  }

  /** Joins a person to every organization that has invited the address, which is proven. */
  joinInvited(user: UserRow): void {
    const open = this.parts.invitations.pendingFor(user.email, this.app.clock.now());
    for (const invitation of open) this.join(invitation, user);
  }

  /**
   * Removes a member with the sessions and keys that the person has here. Somebody who belongs nowhere
   * any more is forgotten. Errors: not_found, failed_precondition for the first owner.
   */
  remove({ tenant, actor }: Caller, userId: string): void {
    const { users, sessionStore, keys, snapshot } = this.parts;
    const gone = this.app.db.transaction(() => {
      if (!users.role(tenant, userId)) throw fail('not_found', { what: 'member', id: userId });
      if (users.organization(tenant)?.ownerId === userId)
        throw fail('failed_precondition', { message: 'The owner of the instance cannot be removed.' });
      users.removeMember(tenant, userId);
      sessionStore.deleteOfUser(tenant, userId);
      const ids = keys.deleteOfUser(tenant, userId);
      if (users.belongings(userId).length === 0) users.delete(userId);
      this.app.audit.record({ tenant, actor, action: 'team.remove', target: userId, details: { keys: ids } });
      return ids;
    });
    for (const id of gone) snapshot.remove(id);
  }

  private join({ id, tenant, role }: InvitationRow, user: UserRow): void {
    const now = this.app.clock.now();
    if (!this.parts.users.role(tenant, user.id)) this.parts.users.setMember(tenant, user.id, role, now);
    this.parts.invitations.accept(tenant, id, now);
    this.app.audit.record({ tenant, actor: user.id, action: 'team.accept', target: id, details: { role } });
  }

  private openInvitation(tokenHash: string): InvitationRow {
    const found = this.parts.invitations.pendingByToken(tokenHash, this.app.clock.now());
    if (!found) throw fail('bad_link');
    return found;
  }

  /** The hash of a new person's password; undefined when a known person's was right. */
  private async proveOrHash(
    known: UserRow | undefined,
    password: string | undefined,
  ): Promise<string | undefined> {
    if (!known) return this.parts.passwords.hash(readPassword(password));
    const isRight = await this.parts.passwords.verify(password ?? '', known.passwordHash);
    if (!isRight) throw fail('bad_login');
    return undefined;
  }

  private requireNewcomer(tenant: string, email: string): void {
    const user = this.parts.users.byEmail(email);
    if (user && this.parts.users.role(tenant, user.id))
      throw fail('already_exists', { what: 'member', id: email });
    const isInvited = this.parts.invitations
      .pending(tenant, this.app.clock.now())
      .some((invitation) => invitation.email === email);
    if (isInvited) throw fail('already_exists', { what: 'open invitation for', id: email });
  }

  private requireSeat(tenant: string): void {
    const limit = this.app.config.get('license.seats');
    const used =
      this.parts.users.memberCount(tenant) +
      this.parts.invitations.pendingCount(tenant, this.app.clock.now());
    if (limit > 0 && used >= limit) throw fail('seat_limit', { limit });
  }

  private async send({ email }: InvitationRow, token: string, baseUrl: string): Promise<string | undefined> {
    const isCloud = this.app.config.get('auth.mode') === 'cloud';
    const link = isCloud ? `${baseUrl}/` : `${baseUrl}/accept-invite?token=${token}`;
    const how = isCloud ? 'sign in with this address' : 'open this link within 7 days';
    const lines = [`You are invited to join a team. To join, ${how}:`];
    return (await this.parts.letters.send({ to: email, subject: 'Invitation', lines, link }))
      ? undefined
      : link;
  }
}
