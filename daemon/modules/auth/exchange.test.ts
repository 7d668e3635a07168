import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { createHmac, hkdfSync } from 'node:crypto';
import { exchange as api } from '../../../src/api/auth/exchange.ts';
import { SECOND_MS } from '../../../src/kit/time.ts';
import { AuthScene, codeOf } from '../../../test/support/auth-scene.ts';

const SECRET = 'shared with the control plane';
const SETTINGS = { 'auth.exchange_secret': SECRET, 'auth.instance_id': 'inst_1' };

let scene: AuthScene;
beforeEach(() => {
  scene = new AuthScene(SETTINGS);
});
afterEach(() => scene.close());

/** The key as the decision record describes it, derived here anew. */
const derivedKey = (secret = SECRET) =>
  Buffer.from(hkdfSync('sha256', secret, '', 'svc managed-instance exchange v1', 32));

interface Token {
  readonly claims?: Record<string, unknown>;
  readonly key?: Buffer;
  readonly header?: Record<string, unknown>;
}

/** A token as a control plane makes it, without any library that the daemon uses. */
function tokenOf({ claims = {}, key = derivedKey(), header = {} }: Token = {}): string {
  const nowS = scene.clock.ms / SECOND_MS;
  const payload = {
    aud: 'inst_1',
    sub: 'person-7',
    email: 'Ada@example.com',
    name: 'Ada',
    org: 'acme',
    role: 'owner',
    jti: crypto.randomUUID(),
    iat: nowS,
    exp: nowS + 60,
    ...claims,
  };
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
  const signed = `${encode({ alg: 'HS256', typ: 'JWT', ...header })}.${encode(payload)}`;
  return `${signed}.${createHmac('sha256', key).update(signed).digest('base64url')}`;
}

const enter = (token: string, headers = {}) => scene.ask(api.ExchangeToken, { query: { token }, headers });

test('a token makes a local person and a session', async () => {
  const { body, cookie } = await enter(tokenOf());
  expect(body.user).toMatchObject({
    user: { email: 'ada@example.com', name: 'Ada' },
    organizations: [{ slug: 'default' }],
  });
  expect(scene.callerOf(cookie)).toMatchObject({
    tenant: scene.auth.instanceTenant,
    role: 'owner',
    via: 'cookie',
  });
  expect(body.sessionToken).toBe(cookie);
});

test('a browser is sent on to the dashboard', async () => {
  const { response, cookie } = await enter(tokenOf(), { accept: 'text/html' });
  expect([response?.status, response?.headers.get('location')]).toEqual([303, '/']);
  expect(scene.callerOf(cookie).role).toBe('owner');
});

test('a token works once, even under a new signature', async () => {
  const jti = 'the-same';
  await enter(tokenOf({ claims: { jti } }));
  expect(await codeOf(enter(tokenOf({ claims: { jti } })))).toBe('bad_link');
});

test('a token works for 60 seconds', async () => {
  const token = tokenOf();
  scene.clock.ms += 59 * SECOND_MS;
  expect((await enter(token)).body.success).toBe(true);
  const late = tokenOf();
  scene.clock.ms += 60 * SECOND_MS;
  expect(await codeOf(enter(late))).toBe('bad_link');
});

describe('a token is refused', () => {
  const now = () => scene.clock.ms / SECOND_MS;
  test.each<[string, () => Token]>([
    ['with another key', () => ({ key: derivedKey('another') })],
    ['with the secret itself as its key', () => ({ key: Buffer.from(SECRET) })],
    ['without a signature', () => ({ header: { alg: 'none' } })],
    ['with another algorithm in its header', () => ({ header: { alg: 'HS512' } })],
    ['for another instance', () => ({ claims: { aud: 'inst_2' } })],
    ['for no instance', () => ({ claims: { aud: undefined } })],
    ['that lives too long', () => ({ claims: { exp: now() + 61 } })],
    ['that never ends', () => ({ claims: { exp: undefined } })],
    ['without the time it was made', () => ({ claims: { iat: undefined } })],
    ['from the future', () => ({ claims: { iat: now() + 30, exp: now() + 60 } })],
    ['without an id', () => ({ claims: { jti: undefined } })],
    ['without a person', () => ({ claims: { sub: '' } })],
    ['without an address', () => ({ claims: { email: undefined } })],
    ['without an organization', () => ({ claims: { org: '' } })],
    ['with a role that there is not', () => ({ claims: { role: 'god' } })],
  ])('%s', async (_, token) => {
    expect(await codeOf(enter(tokenOf(token())))).toBe('bad_link');
    expect(scene.everythingStored()).not.toContain('ada@example.com');
  });

  test.each(['x', 'a.b.c', '..', 'é'])('that is none: %p', async (token) => {
    expect(await codeOf(enter(token))).toBe('bad_link');
  });

  test('of another organization than the first one', async () => {
    await enter(tokenOf());
    expect(await codeOf(enter(tokenOf({ claims: { org: 'other', sub: 'x', email: 'x@x.org' } })))).toBe(
      'bad_link',
    );
  });
});

test('the control plane decides on the role, anew each time', async () => {
  await enter(tokenOf());
  const bob = { sub: 'bob', email: 'bob@x.org', name: undefined };
  expect(scene.callerOf((await enter(tokenOf({ claims: { ...bob, role: 'admin' } }))).cookie).role).toBe(
    'admin',
  );
  expect(scene.callerOf((await enter(tokenOf({ claims: { ...bob, role: 'viewer' } }))).cookie).role).toBe(
    'viewer',
  );
});

test('the first owner stays the owner', async () => {
  const first = await enter(tokenOf());
  const again = await enter(tokenOf({ claims: { role: 'viewer' } }));
  expect(scene.callerOf(again.cookie).role).toBe('owner');
  expect(again.body.user.user.id).toBe(first.body.user.user.id);
});

test('a person who registered here is known by the address', async () => {
  const { body } = await scene.register('ada@example.com');
  expect((await enter(tokenOf())).body.user.user.id).toBe(body.user.user.id);
});

test('an instance without a control plane says so', async () => {
  scene.restart({ 'auth.exchange_secret': '' });
  expect(await codeOf(enter(tokenOf()))).toBe('not_configured');
});
