import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { login } from '../../../src/api/auth/login.ts';
import { team as api } from '../../../src/api/auth/team.ts';
import { DAY_MS } from '../../../src/kit/time.ts';
import { AuthScene, codeOf, type Reply } from '../../../test/support/auth-scene.ts';
import type { Caller } from '../../http/route.ts';

let scene: AuthScene;
let owner: Caller;
const begin = async (settings = {}, options = {}) => {
  scene?.close();
  scene = new AuthScene(settings, options);
  owner = scene.callerOf((await scene.register()).cookie);
};
beforeEach(() => begin());
afterEach(() => scene.close());

const roleOf = (name: string) => `ORGANIZATION_ROLE_${name.toUpperCase()}`;
const invite = (caller: Caller, email: string, role?: string) =>
  scene.askAs(caller, api.InviteTeamMember, { body: { email, ...(role ? { role: roleOf(role) } : {}) } });
const tokenOf = ({ body }: Reply) => new URL(body.inviteUrl).searchParams.get('token') ?? '';
const accept = (token: string, password = 'correct horse', name = 'Bob') =>
  scene.askAs(owner, api.AcceptInvitation, { body: { token, password, name } });
const roster = async () => (await scene.askAs(owner, api.ListTeamMembers)).body;
const remove = (caller: Caller, userId: string | undefined) =>
  scene.askAs(caller, api.RemoveTeamMember, { params: { userId: userId ?? '' } });

async function join(email: string, role: string): Promise<Caller> {
  return scene.callerOf((await accept(tokenOf(await invite(owner, email, role)))).cookie);
}

describe('an invitation', () => {
  test('brings somebody in with its role', async () => {
    const invited = await invite(owner, 'Bob@Example.com', 'admin');
    expect(invited.body.success).toBe(true);
    expect(invited.body.invitation).toMatchObject({
      email: 'bob@example.com',
      role: 'ORGANIZATION_ROLE_ADMIN',
      invitedByEmail: 'ada@example.com',
      expiresAt: '2026-11-28T12:00:00.000Z',
      accepted: false,
    });
    const { body, cookie } = await accept(tokenOf(invited));
    expect(body.user).toMatchObject({ user: { email: 'bob@example.com', name: 'Bob' } });
    expect(scene.callerOf(cookie)).toMatchObject({ tenant: owner.tenant, role: 'admin' });
    const sessions = await scene.ask(login.Login, {
      body: { email: 'bob@example.com', password: 'correct horse' },
    });
    expect(sessions.body.success).toBe(true);
    expect(scene.audited()).toEqual(expect.arrayContaining(['team.invite', 'team.accept']));
  });

  test('makes a member when it names no role', async () => {
    expect((await invite(owner, 'bob@x.org')).body.invitation.role).toBe('ORGANIZATION_ROLE_MEMBER');
  });

  test('works once', async () => {
    const token = tokenOf(await invite(owner, 'bob@x.org'));
    await accept(token);
    expect(await codeOf(accept(token))).toBe('bad_link');
  });

  test('works once for two that come side by side', async () => {
    const token = tokenOf(await invite(owner, 'bob@x.org'));
    const codes = await Promise.all([codeOf(accept(token)), codeOf(accept(token))]);
    expect(codes.filter((code) => code === 'none')).toHaveLength(1);
    expect((await roster()).members).toHaveLength(2);
  });

  test('ends after seven days', async () => {
    const token = tokenOf(await invite(owner, 'bob@x.org'));
    scene.clock.ms += 7 * DAY_MS;
    expect(await codeOf(accept(token))).toBe('bad_link');
    expect((await roster()).pendingInvitations).toEqual([]);
  });

  test('ends when it is revoked', async () => {
    const invited = await invite(owner, 'bob@x.org');
    const params = { invitationId: invited.body.invitation.id };
    expect((await scene.askAs(owner, api.RevokeInvitation, { params })).body).toEqual({ success: true });
    expect(await codeOf(accept(tokenOf(invited)))).toBe('bad_link');
    expect(await codeOf(scene.askAs(owner, api.RevokeInvitation, { params }))).toBe('not_found');
  });

  test('that was accepted can be revoked no more', async () => {
    const invited = await invite(owner, 'bob@x.org');
    await accept(tokenOf(invited));
    const params = { invitationId: invited.body.invitation.id };
    expect(await codeOf(scene.askAs(owner, api.RevokeInvitation, { params }))).toBe('not_found');
  });

  test('needs a password that is good', async () => {
    const token = tokenOf(await invite(owner, 'bob@x.org'));
    expect(await codeOf(accept(token, 'short'))).toBe('invalid_argument');
    expect(await codeOf(accept('', 'correct horse'))).toBe('invalid_argument');
    expect((await accept(token)).body.success).toBe(true);
  });

  test.each([
    ['admin', 'owner', 'forbidden'],
    ['admin', 'admin', 'none'],
    ['admin', 'viewer', 'none'],
    ['owner', 'owner', 'none'],
    ['owner', 'god', 'invalid_argument'],
  ])('of an %s for an %s: %s', async (from, to, expected) => {
    const caller = from === 'owner' ? owner : await join('adm@x.org', from);
    expect(await codeOf(invite(caller, 'new@x.org', to))).toBe(expected);
  });

  test('is not sent to members and to those who have one', async () => {
    expect(await codeOf(invite(owner, 'ada@example.com'))).toBe('already_exists');
    await invite(owner, 'bob@x.org');
    expect(await codeOf(invite(owner, 'BOB@x.org'))).toBe('already_exists');
    scene.clock.ms += 7 * DAY_MS;
    expect(await codeOf(invite(owner, 'bob@x.org'))).toBe('none');
  });

  test('is not sent to what is no address', async () => {
    expect(await codeOf(invite(owner, 'bob@x.org, eve@x.org'))).toBe('invalid_argument');
  });

  test('keeps its token out of the database and, when it is mailed, out of the log and the answer', async () => {
    const token = tokenOf(await invite(owner, 'bob@x.org'));
    expect(scene.everythingStored()).not.toContain(token);
    await begin({}, { mail: true });
    const { body } = await invite(owner, 'bob@x.org');
    expect(body.inviteUrl).toBeUndefined();
    const [mail] = scene.mails;
    expect(mail?.to).toBe('bob@x.org');
    const [, mailed = ''] =
      /http:\/\/localhost:8089\/accept-invite\?token=([\w-]{43})/.exec(mail?.text ?? '') ?? [];
    expect(scene.logged.join('')).not.toContain(mailed);
    expect((await accept(mailed)).body.success).toBe(true);
  });

  test('is handed back when the mail server does not take it', async () => {
    await begin({ 'mail.smtp_url': 'smtp://127.0.0.1:1' }, { mail: true });
    scene.mailer.send = async () => {
      throw new Error('down');
    };
    expect((await accept(tokenOf(await invite(owner, 'bob@x.org')))).body.success).toBe(true);
  });

  test('links to the public URL', async () => {
    scene.restart({ 'server.public_url': 'https://svc.example.com/' });
    const { body } = await invite(owner, 'bob@x.org');
    expect(body.inviteUrl).toStartWith('https://svc.example.com/accept-invite?token=');
  });

  test('of another tenant cannot be seen or revoked', async () => {
    const { body } = await invite(owner, 'bob@x.org');
    const stranger: Caller = { tenant: 'org_other', role: 'owner', actor: 'usr_x', via: 'cookie' };
    const params = { invitationId: body.invitation.id };
    expect(await codeOf(scene.askAs(stranger, api.RevokeInvitation, { params }))).toBe('not_found');
    const seen = await scene.askAs(stranger, api.ListTeamMembers);
    expect(seen.body).toMatchObject({ members: [], pendingInvitations: [], seatsUsed: 0 });
  });
});

describe('seats', () => {
  test('are counted with the open invitations, and cannot be overdrawn', async () => {
    await begin({ 'license.seats': 3 });
    await invite(owner, 'b@x.org');
    const { body } = await invite(owner, 'c@x.org');
    expect(await roster()).toMatchObject({ seatLimit: 3, seatsUsed: 3 });
    const failed = await invite(owner, 'd@x.org').catch((error) => error);
    expect([failed.code, failed.http]).toEqual(['seat_limit', 429]);
    await scene.askAs(owner, api.RevokeInvitation, { params: { invitationId: body.invitation.id } });
    expect(await codeOf(invite(owner, 'd@x.org'))).toBe('none');
  });

  test('are unlimited at 0', async () => {
    for (let i = 0; i < 30; i++) await invite(owner, `a${i}@x.org`);
    expect(await roster()).toMatchObject({ seatLimit: 0, seatsUsed: 31 });
  });
});

describe('a member', () => {
  test('is listed with role and time, in the order of joining', async () => {
    scene.clock.ms += 1_000;
    await join('bob@x.org', 'viewer');
    await invite(owner, 'eve@x.org');
    const { members, pendingInvitations, seatsUsed } = await roster();
    expect(members).toMatchObject([
      {
        user: { email: 'ada@example.com' },
        role: 'ORGANIZATION_ROLE_OWNER',
        joinedAt: '2026-11-21T12:00:00.000Z',
      },
      {
        user: { email: 'bob@x.org' },
        role: 'ORGANIZATION_ROLE_VIEWER',
        joinedAt: '2026-11-21T12:00:01.000Z',
      },
    ]);
    expect(pendingInvitations).toMatchObject([{ email: 'eve@x.org' }]);
    expect(seatsUsed).toBe(3);
  });

  test('who is removed is out at once and can be invited anew', async () => {
    const invited = await invite(owner, 'bob@x.org');
    const { cookie } = await accept(tokenOf(invited));
    const bob = scene.callerOf(cookie);
    expect((await remove(owner, bob.userId)).body).toEqual({ success: true });
    expect(scene.auth.authenticator.bySession(cookie ?? '')).toBeUndefined();
    const signIn = scene.ask(login.Login, { body: { email: 'bob@x.org', password: 'correct horse' } });
    expect(await codeOf(signIn)).toBe('bad_login');
    const again = await accept(tokenOf(await invite(owner, 'bob@x.org')), 'another horse');
    expect(again.body.success).toBe(true);
  });

  test('the first owner cannot be removed, by nobody', async () => {
    const second = await join('second@x.org', 'owner');
    expect(await codeOf(remove(second, owner.userId))).toBe('failed_precondition');
    expect(await codeOf(remove(owner, owner.userId))).toBe('failed_precondition');
    expect((await remove(owner, second.userId)).body.success).toBe(true);
  });

  test('who is none cannot be removed', async () => {
    expect(await codeOf(remove(owner, 'usr_nobody'))).toBe('not_found');
    const stranger: Caller = { tenant: 'org_other', role: 'owner', actor: 'usr_x', via: 'cookie' };
    expect(await codeOf(remove(stranger, owner.userId))).toBe('not_found');
  });
});

describe('roles at the gate', () => {
  test.each([
    ['viewer', 'ListTeamMembers', 'none'],
    ['viewer', 'InviteTeamMember', 'forbidden'],
    ['member', 'InviteTeamMember', 'forbidden'],
    ['member', 'RevokeInvitation', 'forbidden'],
    ['admin', 'InviteTeamMember', 'none'],
    ['admin', 'RemoveTeamMember', 'forbidden'],
  ] as const)('a %s and %s: %s', async (role, operation, expected) => {
    const { cookie } = await accept(tokenOf(await invite(owner, 'bob@x.org', role)));
    const headers = { cookie: `es_svc_session=${cookie}`, origin: 'http://localhost:8089' };
    const asked = scene.ask(api[operation], {
      headers,
      body: { email: 'new@x.org' },
      params: { userId: 'x' },
    });
    expect(await codeOf(asked)).toBe(expected);
  });
});
