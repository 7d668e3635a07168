import { beforeEach, describe, expect, test } from 'bun:test';
import { rmSync } from 'node:fs';
import { utils } from 'ssh2';
import type { Role } from '../../../../src/api/endpoint.ts';
import { AppError } from '../../../../src/errors/app-error.ts';
import { MINUTE_MS } from '../../../../src/kit/time.ts';
import type { Caller } from '../../../http/route.ts';
import { openScene } from '../lifecycle/testing/scene.ts';
import { Connections, type Entry } from './connections.ts';
import { Door } from './door.ts';
import { SshGrants } from './grants.ts';
import { SshKeys } from './keys.ts';
import type { People } from './people.ts';
import { SshStore } from './store.ts';
import { SshSwitch } from './switch.ts';
import { SshTokens } from './tokens.ts';

/** Two organizations: `org_a` with an owner, a member and a viewer, `org_b` with an owner who is a member of `org_a` too. */
function makeScene() {
  const { app, service: lifecycle, clock, dataDir } = openScene();
  rmSync(dataDir, { recursive: true, force: true });
  const roles = new Map<string, Role>([
    ['org_a ada', 'owner'],
    ['org_a mel', 'member'],
    ['org_a vic', 'viewer'],
    ['org_a bob', 'member'],
    ['org_b bob', 'owner'],
    ['org_b eve', 'owner'],
  ]);
  const people: People = {
    roleOf: (tenant, user) => roles.get(`${tenant} ${user}`),
    userOf: (_, actor) => (actor === 'key_of_mel' ? 'mel' : actor),
  };
  const store = new SshStore(app.db);
  const connections = new Connections();
  const tokens = new SshTokens(app, lifecycle, store, people, connections);
  const grants = new SshGrants(app, lifecycle, store, people, connections);
  const keys = new SshKeys(app, store, people, connections);
  const door = new Door(clock, lifecycle, store, tokens, grants);
  const toggle = new SshSwitch(lifecycle, connections);
  return { app, lifecycle, clock, roles, store, connections, tokens, grants, keys, door, toggle };
}

const as = (userId: string, role: Role, tenant = 'org_a'): Caller => ({
  tenant,
  role,
  actor: userId,
  userId,
  via: 'cookie',
});
const ada = as('ada', 'owner');
const mel = as('mel', 'member');

let scene: ReturnType<typeof makeScene>;
let box: string;
beforeEach(async () => {
  scene = makeScene();
  box = (await scene.lifecycle.create(ada, { name: 'box', sshEnabled: true })).id;
  scene.grants.welcomeCreators();
});

function newLine(): string {
  const { public: line } = utils.generateKeyPairSync('ed25519');
  return utils.parseKey(line) instanceof Error ? newLine() : line;
}

const register = async (who: Caller, line = newLine()) =>
  (await scene.keys.add(who, { publicKey: line })).fingerprint;

/** A connection that is open, and why it was closed. */
function connected(entry: Entry | undefined) {
  if (!entry) throw new Error('not let in');
  const connection = {
    entry,
    closed: '',
    close(reason: string) {
      this.closed = reason;
    },
  };
  scene.connections.add(connection);
  return connection;
}

const codeOf = (work: () => unknown) =>
  Promise.resolve()
    .then(work)
    .then(
      () => 'done',
      (error: unknown) => (error instanceof AppError ? error.code : String(error)),
    );
const auditOf = (action: string) =>
  scene.app.db.raw.query('SELECT actor, target, details FROM audit_log WHERE action = ?').all(action);

describe('a token', () => {
  test('lets into its sandbox, as a user name or behind it, until its time is over', () => {
    const { row, secret } = scene.tokens.create(ada, 'box', 5);
    expect(scene.door.byToken(secret)).toMatchObject({ tenant: 'org_a', sandboxId: box });
    expect(scene.door.byToken(secret, 'box')?.sandboxId).toBe(box);
    expect(scene.door.byToken(secret, 'other')).toBeUndefined();
    scene.clock.at = row.expiresAt;
    expect(scene.door.byToken(secret)).toBeUndefined();
    expect(scene.tokens.list('org_a', 'box')).toEqual([]);
  });

  test('is kept as a hash alone, and nothing of it is in the audit log', () => {
    const { secret } = scene.tokens.create(ada, 'box', 5);
    const kept = JSON.stringify(scene.app.db.raw.query('SELECT * FROM ssh_tokens').all());
    expect(kept).not.toContain(secret.slice(3));
    expect(JSON.stringify(auditOf('ssh_token.create'))).not.toContain(secret.slice(3));
    expect(auditOf('ssh_token.create')).toHaveLength(1);
  });

  test('that is revoked lets nobody in and ends the connections that came in with it, no others', () => {
    const [one, other] = [scene.tokens.create(ada, 'box', 5), scene.tokens.create(ada, 'box', 5)];
    const [mine, theirs] = [
      connected(scene.door.byToken(one.secret)),
      connected(scene.door.byToken(other.secret)),
    ];
    scene.tokens.revoke(ada, 'box', one.row.id);
    expect([mine.closed, theirs.closed]).toEqual(['revoked', '']);
    expect(scene.door.byToken(one.secret)).toBeUndefined();
    expect(scene.door.byToken(other.secret)).toBeDefined();
  });

  test('ends with what its maker may do', () => {
    const { secret } = scene.tokens.create(mel, 'box', 5);
    const entry = connected(scene.door.byToken(secret)).entry;
    scene.roles.set('org_a mel', 'viewer');
    expect([scene.door.byToken(secret), scene.door.holds(entry)]).toEqual([undefined, false]);
  });

  test.each([
    [''],
    ['st_'],
    ['st_short'],
    [`st_${'x'.repeat(43)}`],
    [`st_${'x'.repeat(5000)}`],
    ["' OR 1=1 --"],
  ])('is not %p', (text) => expect(scene.door.byToken(text)).toBeUndefined());

  test('cannot be had for a sandbox without SSH, one that sleeps, or another tenant’s', async () => {
    await scene.lifecycle.create(ada, { name: 'closed' });
    expect(await codeOf(() => scene.tokens.create(ada, 'closed', 5))).toBe('ssh_disabled');
    expect(await codeOf(() => scene.tokens.create(as('eve', 'owner', 'org_b'), box, 5))).toBe(
      'sandbox_not_found',
    );
    await scene.lifecycle.stop('org_a', 'box');
    expect(await codeOf(() => scene.tokens.create(ada, 'box', 5))).toBe('sandbox_wrong_state');
    expect(auditOf('ssh_token.create')).toEqual([]);
  });

  test('is one of a hundred at most', async () => {
    for (let i = 0; i < 100; i++) scene.tokens.create(ada, 'box', 5);
    expect(await codeOf(() => scene.tokens.create(ada, 'box', 5))).toBe('resource_exhausted');
    scene.clock.at += 5 * MINUTE_MS;
    expect(await codeOf(() => scene.tokens.create(ada, 'box', 5))).toBe('done');
  });
});

describe('a key', () => {
  test('opens the sandboxes of whoever made them, by id and by name', async () => {
    const made = await scene.lifecycle.create(
      { ...mel, actor: 'key_of_mel' },
      { name: 'mine', sshEnabled: true },
    );
    scene.grants.welcomeCreators(made.id);
    const fingerprint = await register(mel);
    expect(scene.door.byKey(fingerprint, 'mine')?.sandboxId).toBe(made.id);
    expect(scene.door.byKey(fingerprint, made.id)).toMatchObject({
      credential: { kind: 'key', user: 'mel' },
    });
    expect(scene.door.byKey(fingerprint, 'box')).toBeUndefined();
  });

  test('of an owner opens every sandbox of the tenant, of a viewer none, and of a stranger none', async () => {
    const cases = [
      [as('ada', 'owner'), box],
      [as('vic', 'viewer'), undefined],
      [as('eve', 'owner', 'org_b'), undefined],
    ] as const;
    for (const [who, found] of cases)
      expect(scene.door.byKey(await register(who), 'box')?.sandboxId).toBe(found as string);
  });

  test('of a member opens what was granted, until it is withdrawn: then open connections end too', async () => {
    const fingerprint = await register(mel);
    scene.grants.grant(ada, 'box', 'mel');
    const connection = connected(scene.door.byKey(fingerprint, 'box'));
    scene.grants.revoke(ada, 'box', 'mel');
    expect(connection.closed).not.toBe('');
    expect(scene.door.byKey(fingerprint, 'box')).toBeUndefined();
    scene.grants.grant(ada, 'box', 'mel');
    expect(scene.door.byKey(fingerprint, 'box')).toBeDefined();
    expect([auditOf('ssh_access.grant'), auditOf('ssh_access.revoke')].map((rows) => rows.length)).toEqual([
      2, 1,
    ]);
  });

  test('does not come back to whoever was withdrawn, not for the maker, not for the owner, not after a restart', async () => {
    const fingerprint = await register(ada);
    scene.grants.revoke(ada, 'box', 'ada');
    scene.grants.welcomeCreators();
    expect(scene.door.byKey(fingerprint, 'box')).toBeUndefined();
  });

  test('ends with the membership', async () => {
    scene.grants.grant(ada, 'box', 'mel');
    const { entry } = connected(scene.door.byKey(await register(mel), 'box'));
    expect(scene.door.holds(entry)).toBe(true);
    scene.roles.delete('org_a mel');
    expect(scene.door.holds(entry)).toBe(false);
  });

  test('that is removed ends its connections', async () => {
    const connection = connected(scene.door.byKey(await register(ada), 'box'));
    scene.keys.remove(ada, scene.keys.list(ada)[0]?.id ?? 0);
    expect(connection.closed).toBe('the key was removed');
  });

  test('counts in the tenant that it was added in alone', async () => {
    const other = await scene.lifecycle.create(as('bob', 'owner', 'org_b'), {
      name: 'there',
      sshEnabled: true,
    });
    const fingerprint = await register(as('bob', 'member'));
    scene.grants.welcomeCreators();
    expect(scene.door.byKey(fingerprint, other.id)).toBeUndefined();
  });

  test('leads by name to no sandbox of somebody who has registered it too', async () => {
    const line = newLine();
    const fingerprint = await register(ada, line);
    await register(as('eve', 'owner', 'org_b'), line);
    const trap = await scene.lifecycle.create(as('eve', 'owner', 'org_b'), {
      name: 'trap',
      sshEnabled: true,
    });
    scene.grants.welcomeCreators();
    expect(scene.door.byKey(fingerprint, 'trap')).toBeUndefined();
    expect(scene.door.byKey(fingerprint, box)?.sandboxId).toBe(box);
    expect(scene.door.byKey(fingerprint, trap.id)?.tenant).toBe('org_b');
  });

  test('by a name that two of the person’s sandboxes have is refused; by their ids both open', async () => {
    const there = await scene.lifecycle.create(as('bob', 'owner', 'org_b'), {
      name: 'box',
      sshEnabled: true,
    });
    const line = newLine();
    const fingerprint = await register(as('bob', 'member'), line);
    await register(as('bob', 'owner', 'org_b'), line);
    scene.grants.grant(ada, 'box', 'bob');
    scene.grants.welcomeCreators();
    expect(scene.door.byKey(fingerprint, 'box')).toBeUndefined();
    expect(scene.door.byKey(fingerprint, there.id)?.tenant).toBe('org_b');
    expect(scene.door.byKey(fingerprint, box)?.tenant).toBe('org_a');
  });

  test('is there once in a tenant, and others may have it too', async () => {
    const line = newLine();
    await register(ada, line);
    expect(await codeOf(() => register(mel, line))).toBe('already_exists');
    expect(await codeOf(() => register(as('eve', 'owner', 'org_b'), line))).toBe('done');
  });

  test('of somebody else is an admin’s to see, add and remove', async () => {
    const publicKey = newLine();
    expect(await codeOf(() => scene.keys.add(mel, { publicKey, userId: 'ada' }))).toBe('forbidden');
    expect(await codeOf(() => scene.keys.add(ada, { publicKey, userId: 'nobody' }))).toBe('not_found');
    const { id } = await scene.keys.add(ada, { publicKey, userId: 'mel', name: 'laptop' });
    expect(scene.keys.list(mel)).toMatchObject([{ id, name: 'laptop', userId: 'mel' }]);
    expect(await codeOf(() => scene.keys.list(mel, 'ada'))).toBe('forbidden');
    expect(await codeOf(() => scene.keys.remove(as('bob', 'member'), id))).toBe('not_found');
    expect(await codeOf(() => scene.keys.remove(as('eve', 'owner', 'org_b'), id))).toBe('not_found');
    expect(await codeOf(() => scene.keys.remove(mel, id))).toBe('done');
  });
});

describe('a grant', () => {
  test.each([
    ['to nobody', undefined, 'invalid_argument'],
    ['to somebody unknown', 'usr_nobody', 'not_found'],
    ['to somebody of another tenant', 'eve', 'not_found'],
  ])('%s is refused', async (_, user, code) => {
    expect(await codeOf(() => scene.grants.grant(ada, 'box', user))).toBe(code);
  });

  test('can only be withdrawn from somebody who is there or was', async () => {
    expect(await codeOf(() => scene.grants.revoke(ada, 'box', 'usr_nobody'))).toBe('not_found');
    scene.grants.grant(ada, 'box', 'mel');
    scene.roles.delete('org_a mel');
    expect(await codeOf(() => scene.grants.revoke(ada, 'box', 'mel'))).toBe('done');
  });
});

describe('use', () => {
  const entry = (): Entry => ({
    tenant: 'org_a',
    sandboxId: box,
    credential: { kind: 'key', id: 1, user: 'ada' },
  });

  test('of a sandbox that sleeps is refused with the way to wake it', async () => {
    await scene.lifecycle.stop('org_a', 'box');
    const error = await scene.door.use(entry()).catch((error: AppError) => error);
    expect(error).toMatchObject({ code: 'sandbox_wrong_state', hint: `Wake it: svc sandbox revive ${box}` });
  });

  test('ends with SSH turned off, and is there again with it turned on', async () => {
    const connection = connected(entry());
    await scene.toggle.set(ada, 'box', false);
    expect(connection.closed).toBe('SSH was turned off');
    expect(await codeOf(() => scene.door.use(entry()))).toBe('ssh_disabled');
    await scene.toggle.set(ada, 'box', true);
    expect((await scene.door.use(entry())).id).toBe(box);
  });
});
