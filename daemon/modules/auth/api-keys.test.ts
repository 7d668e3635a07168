import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { apiKeys as api } from '../../../src/api/api-keys/keys.ts';
import { team } from '../../../src/api/auth/team.ts';
import type { Role } from '../../../src/api/endpoint.ts';
import { AuthScene, codeOf } from '../../../test/support/auth-scene.ts';
import type { Caller } from '../../http/route.ts';

let scene: AuthScene;
let owner: Caller;
beforeEach(async () => {
  scene = new AuthScene();
  owner = scene.callerOf((await scene.register()).cookie);
});
afterEach(() => scene.close());

const byKey = (key: string) => scene.auth.authenticator.byApiKey(key);
const create = (caller: Caller, body: Record<string, unknown> = {}) =>
  scene.askAs(caller, api.CreateApiKey, { body });

/** Somebody who has joined with a role. */
async function newcomer(role: Role): Promise<Caller> {
  const email = `${role}-${crypto.randomUUID()}@example.com`;
  const invited = await scene.askAs(owner, team.InviteTeamMember, {
    body: { email, role: `ORGANIZATION_ROLE_${role.toUpperCase()}` },
  });
  const token = new URL(invited.body.inviteUrl).searchParams.get('token') ?? '';
  const body = { token, password: 'correct horse' };
  return scene.callerOf((await scene.askAs(owner, team.AcceptInvitation, { body })).cookie);
}

describe('a key', () => {
  test('is shown once, as itself, and masked ever after', async () => {
    const { body } = await create(owner, { name: 'ci' });
    expect(body.key).toMatch(/^s_[\w-]{43}$/);
    expect(body.apiKey).toMatchObject({
      name: 'ci',
      type: 'API_KEY_TYPE_ORG',
      userId: '',
      orgId: owner.tenant,
    });
    expect(body.apiKey.sensitiveId).toBe(body.key);
    expect(body.apiKey.hash).toBe(new Bun.CryptoHasher('sha256').update(body.key).digest('hex'));
    const read = await scene.askAs(owner, api.GetApiKey, { params: { id: body.apiKey.id } });
    expect(read.body.apiKey.sensitiveId).toBe(`s_…${body.key.slice(-4)}`);
    expect(JSON.stringify(read.body)).not.toContain(body.key);
    expect(scene.everythingStored()).not.toContain(body.key);
    expect(scene.logged.join('')).not.toContain(body.key);
  });

  test('of the team acts as an admin', async () => {
    const { body } = await create(owner);
    expect(byKey(body.key)).toEqual({
      tenant: owner.tenant,
      role: 'admin',
      actor: body.apiKey.id,
      via: 'api-key',
    });
  });

  test('of a person has the role of that person', async () => {
    const viewer = await newcomer('viewer');
    const { body } = await create(owner, { userId: viewer.userId });
    expect(byKey(body.key)).toMatchObject({ role: 'viewer', userId: viewer.userId, actor: body.apiKey.id });
  });

  test('lets nobody in when it differs in one character, is cut, or is its hash', async () => {
    const { body } = await create(owner);
    const { key } = body;
    const last = key.at(-1) === 'A' ? 'B' : 'A';
    for (const wrong of [
      key.slice(0, -1) + last,
      key.slice(0, -1),
      `${key}x`,
      body.apiKey.hash,
      '',
      's_'.repeat(5000),
    ])
      expect(byKey(wrong)).toBeUndefined();
  });

  test('ends at once when it is deleted', async () => {
    const { body } = await create(owner);
    const done = await scene.askAs(owner, api.DeleteApiKey, { params: { id: body.apiKey.id } });
    expect(done.body.success).toBe(true);
    expect(byKey(body.key)).toBeUndefined();
    expect(await codeOf(scene.askAs(owner, api.GetApiKey, { params: { id: body.apiKey.id } }))).toBe(
      'not_found',
    );
  });

  test('is replaced at once when it is regenerated', async () => {
    const made = (await create(owner)).body;
    const { body } = await scene.askAs(owner, api.RegenerateApiKey, { query: { id: made.apiKey.id } });
    expect(body.key).not.toBe(made.key);
    expect(body.apiKey).toMatchObject({ id: made.apiKey.id, sensitiveId: body.key });
    expect(byKey(made.key)).toBeUndefined();
    expect(byKey(body.key)?.actor).toBe(made.apiKey.id);
  });

  test('ends at once when its person is removed', async () => {
    const member = await newcomer('member');
    const { body } = await create(member);
    expect(byKey(body.key)?.role).toBe('member');
    await scene.askAs(owner, team.RemoveTeamMember, { params: { userId: member.userId ?? '' } });
    expect(byKey(body.key)).toBeUndefined();
  });

  test('is known after a restart, the deleted one is not', async () => {
    const [kept, gone] = [(await create(owner)).body, (await create(owner)).body];
    await scene.askAs(owner, api.DeleteApiKey, { params: { id: gone.apiKey.id } });
    scene.restart();
    expect(byKey(kept.key)?.actor).toBe(kept.apiKey.id);
    expect(byKey(gone.key)).toBeUndefined();
  });

  test('tells when it was used last, in the database after the next batch', async () => {
    const { body } = await create(owner);
    const read = async () =>
      (await scene.askAs(owner, api.GetApiKey, { params: { id: body.apiKey.id } })).body.apiKey;
    expect((await read()).lastUsedAt).toBeUndefined();
    scene.clock.ms += 5_000;
    byKey(body.key);
    expect((await read()).lastUsedAt).toBe('2026-11-21T12:00:05.000Z');
    await scene.auth.stop?.();
    scene.restart();
    expect((await read()).lastUsedAt).toBe('2026-11-21T12:00:05.000Z');
  });

  test('can be changed in name, type and person', async () => {
    const member = await newcomer('member');
    const made = (await create(owner, { name: 'old' })).body;
    const query = { id: made.apiKey.id, name: 'new', type: 'API_KEY_TYPE_USER', userId: member.userId };
    const { body } = await scene.askAs(owner, api.UpdateApiKey, { query });
    expect(body.apiKey).toMatchObject({ name: 'new', type: 'API_KEY_TYPE_USER', userId: member.userId });
    expect(byKey(made.key)).toMatchObject({ role: 'member', userId: member.userId });
    const again = await scene.askAs(owner, api.UpdateApiKey, { query: { id: made.apiKey.id } });
    expect(again.body.apiKey).toMatchObject({
      name: 'new',
      type: 'API_KEY_TYPE_USER',
      userId: member.userId,
    });
  });

  test('leaves a trace of each change in the audit log', async () => {
    const { body } = await create(owner);
    const id = body.apiKey.id;
    await scene.askAs(owner, api.UpdateApiKey, { query: { id, name: 'x' } });
    await scene.askAs(owner, api.RegenerateApiKey, { query: { id } });
    await scene.askAs(owner, api.DeleteApiKey, { params: { id } });
    const traces = scene.app.db.raw
      .query('SELECT actor, action FROM audit_log WHERE target = ? ORDER BY id')
      .all(id);
    expect(traces).toEqual(
      ['create', 'update', 'regenerate', 'delete'].map((verb) => ({
        actor: owner.actor,
        action: `api_key.${verb}`,
      })),
    );
  });
});

describe('who may', () => {
  test.each([
    ['a member make a key of the team', 'member', { type: 'API_KEY_TYPE_ORG' }, 'forbidden'],
    ['a member make a key of the own', 'member', { type: 'API_KEY_TYPE_USER' }, 'none'],
    ['a member make a key without saying which', 'member', {}, 'none'],
    ['an admin make a key of the team', 'admin', { type: 'API_KEY_TYPE_ORG' }, 'none'],
    ['a key of another organization be made', 'owner', { orgId: 'org_other' }, 'not_found'],
    ['a key of nobody be made', 'owner', { userId: 'usr_nobody' }, 'not_found'],
    ['a key of a type that there is not', 'owner', { type: 'API_KEY_TYPE_GOD' }, 'invalid_argument'],
    [
      'a key of the team name a person',
      'owner',
      { type: 'API_KEY_TYPE_ORG', userId: 'usr_1' },
      'invalid_argument',
    ],
  ] as const)('%s (%s)', async (_, role, body, expected) => {
    const caller = role === 'owner' ? owner : await newcomer(role);
    expect(await codeOf(create(caller, body))).toBe(expected);
  });

  test('a member make a key of somebody else: no', async () => {
    const [member, other] = [await newcomer('member'), await newcomer('member')];
    expect(await codeOf(create(member, { userId: other.userId }))).toBe('forbidden');
  });

  test('an admin make, renew or take over a key of an owner: no', async () => {
    const admin = await newcomer('admin');
    expect(await codeOf(create(admin, { userId: owner.userId }))).toBe('forbidden');
    const id = (await create(owner, { type: 'API_KEY_TYPE_USER' })).body.apiKey.id;
    expect(await codeOf(scene.askAs(admin, api.RegenerateApiKey, { query: { id } }))).toBe('forbidden');
    const own = (await create(admin, { type: 'API_KEY_TYPE_USER' })).body.apiKey.id;
    const query = { id: own, userId: owner.userId };
    expect(await codeOf(scene.askAs(admin, api.UpdateApiKey, { query }))).toBe('forbidden');
  });

  test('a member turn the own key into one of the team: no', async () => {
    const member = await newcomer('member');
    const id = (await create(member)).body.apiKey.id;
    const query = { id, type: 'API_KEY_TYPE_ORG' };
    expect(await codeOf(scene.askAs(member, api.UpdateApiKey, { query }))).toBe('forbidden');
  });

  test('a member see only the own keys, an admin all of them', async () => {
    const member = await newcomer('member');
    const own = (await create(member)).body.apiKey.id;
    const foreign = (await create(owner)).body.apiKey.id;
    const ids = async (caller: Caller, query = {}) =>
      (await scene.askAs(caller, api.ListApiKeys, { query })).body.apiKeys.map(
        ({ id }: { id: string }) => id,
      );
    expect(await ids(member)).toEqual([own]);
    expect(await ids(owner)).toEqual(expect.arrayContaining([own, foreign]));
    expect(await ids(owner, { userId: member.userId })).toEqual([own]);
    expect(await ids(owner, { type: 'API_KEY_TYPE_USER' })).toEqual([own]);
    expect(await codeOf(scene.askAs(member, api.ListApiKeys, { query: { orgId: 'org_other' } }))).toBe(
      'not_found',
    );
    for (const operation of [api.GetApiKey, api.DeleteApiKey])
      expect(await codeOf(scene.askAs(member, operation, { params: { id: foreign } }))).toBe('not_found');
    for (const operation of [api.UpdateApiKey, api.RegenerateApiKey])
      expect(await codeOf(scene.askAs(member, operation, { query: { id: foreign } }))).toBe('not_found');
  });

  test('another tenant see, change or end a key: no', async () => {
    const { body } = await create(owner);
    const id = body.apiKey.id;
    const stranger: Caller = {
      tenant: 'org_other',
      role: 'owner',
      actor: 'usr_x',
      userId: 'usr_x',
      via: 'cookie',
    };
    for (const operation of [api.GetApiKey, api.DeleteApiKey])
      expect(await codeOf(scene.askAs(stranger, operation, { params: { id } }))).toBe('not_found');
    for (const operation of [api.UpdateApiKey, api.RegenerateApiKey])
      expect(await codeOf(scene.askAs(stranger, operation, { query: { id, orgId: 'org_other' } }))).toBe(
        'not_found',
      );
    expect((await scene.askAs(stranger, api.ListApiKeys)).body.apiKeys).toEqual([]);
    expect(byKey(body.key)?.actor).toBe(id);
  });

  test.each([api.UpdateApiKey, api.RegenerateApiKey])('a key be named by nothing: no', async (operation) => {
    const failed = await scene.askAs(owner, operation, { query: {} }).catch((error) => error);
    expect(failed.violations).toEqual([{ field: 'id', description: 'is required' }]);
  });
});

describe('the root key', () => {
  const fileOf = (one: AuthScene) => join(one.dataDir, 'root.key');
  const rootIdOf = async () => {
    const { body } = await scene.askAs(owner, api.ListApiKeys);
    return body.apiKeys.find(({ name }: { name: string }) => name === 'root').id as string;
  };

  test('is made at the first start, readable by the user alone, and lets the owner of the machine in', () => {
    const key = readFileSync(fileOf(scene), 'utf8').trim();
    expect(statSync(fileOf(scene)).mode & 0o777).toBe(0o600);
    expect(byKey(key)).toMatchObject({ role: 'owner', tenant: scene.auth.instanceTenant });
  });

  test('stays over a restart', () => {
    const key = readFileSync(fileOf(scene), 'utf8');
    scene.restart();
    expect(readFileSync(fileOf(scene), 'utf8')).toBe(key);
    expect(byKey(key.trim())?.role).toBe('owner');
  });

  test('is the one that the operator set, and stands in no file then', () => {
    const other = new AuthScene({ 'auth.root_api_key': 'chosen-by-the-operator' });
    expect(other.auth.authenticator.byApiKey('chosen-by-the-operator')?.role).toBe('owner');
    expect(existsSync(fileOf(other))).toBe(false);
    expect(other.everythingStored()).not.toContain('chosen-by-the-operator');
    other.close();
  });

  test.each(['short', 'with spaces in its middle', 'x'.repeat(600)])('is not %p', (key) => {
    expect(() => new AuthScene({ 'auth.root_api_key': key })).toThrow(
      'auth.root_api_key: must have 16 to 512',
    );
  });

  test('does not change with the setting later: a warning says how it is changed', async () => {
    const key = readFileSync(fileOf(scene), 'utf8').trim();
    scene.restart({ 'auth.root_api_key': 'another-key-of-the-operator' });
    expect(byKey('another-key-of-the-operator')).toBeUndefined();
    expect(byKey(key)?.role).toBe('owner');
    const warning = scene.logged.find((line) => line.includes('"warn"')) ?? '';
    expect(warning).toContain(`/v1/api-key/regenerate?id=${await rootIdOf()}`);
    expect(warning).not.toContain('another-key');
  });

  test('is warned of no more when it is the same', () => {
    const key = readFileSync(fileOf(scene), 'utf8').trim();
    scene.restart({ 'auth.root_api_key': key });
    expect(scene.logged.filter((line) => line.includes('"warn"'))).toEqual([]);
  });

  test('is replaced in its file when it is regenerated', async () => {
    const id = await rootIdOf();
    const { body } = await scene.askAs(owner, api.RegenerateApiKey, { query: { id } });
    expect(readFileSync(fileOf(scene), 'utf8').trim()).toBe(body.key);
    expect(statSync(fileOf(scene)).mode & 0o777).toBe(0o600);
    expect(byKey(body.key)?.role).toBe('owner');
  });

  test('is an owner’s to renew or end, and changes neither type nor person', async () => {
    const id = await rootIdOf();
    const admin = await newcomer('admin');
    expect(await codeOf(scene.askAs(admin, api.RegenerateApiKey, { query: { id } }))).toBe('forbidden');
    expect(await codeOf(scene.askAs(admin, api.DeleteApiKey, { params: { id } }))).toBe('forbidden');
    const query = { id, type: 'API_KEY_TYPE_USER', userId: owner.userId };
    expect(await codeOf(scene.askAs(owner, api.UpdateApiKey, { query }))).toBe('invalid_argument');
  });
});
