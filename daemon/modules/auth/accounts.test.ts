import { afterEach, beforeEach, describe, expect, spyOn, test } from 'bun:test';
import { login as api } from '../../../src/api/auth/login.ts';
import { session } from '../../../src/api/auth/session.ts';
import { MINUTE_MS, SECOND_MS } from '../../../src/kit/time.ts';
import { type Ask, AuthScene, codeOf, ofPage } from '../../../test/support/auth-scene.ts';

let scene: AuthScene;
const open = (settings?: Record<string, unknown>) => {
  scene?.close();
  scene = new AuthScene(settings);
};
beforeEach(() => {
  scene = new AuthScene();
});
afterEach(() => scene.close());

const signIn = (password: string, email = 'ada@example.com', peer = '127.0.0.1') =>
  scene.ask(api.Login, { body: { email, password }, peer });

describe('the first registration', () => {
  test('makes the owner of the instance and signs in', async () => {
    expect((await scene.ask(api.GetAuthMode)).body).toEqual({
      mode: 'AUTH_MODE_SELF_HOSTED',
      hasUsers: false,
    });
    const { body, cookie } = await scene.register('Ada@Example.com');
    expect(body.success).toBe(true);
    expect(body.user.user.email).toBe('ada@example.com');
    expect(body.user.organizations).toMatchObject([{ slug: 'default', role: 'ORGANIZATION_ROLE_OWNER' }]);
    expect(cookie).toBe(body.sessionToken);
    expect(scene.callerOf(cookie)).toMatchObject({
      tenant: scene.auth.instanceTenant,
      role: 'owner',
      via: 'cookie',
    });
    expect((await scene.ask(api.GetAuthMode)).body.hasUsers).toBe(true);
    expect(scene.audited()).toEqual([
      'organization.create',
      'api_key.create',
      'user.register',
      'session.create',
    ]);
  });

  test('is the only one', async () => {
    await scene.register();
    expect(await codeOf(scene.register('eve@example.com'))).toBe('registration_closed');
  });

  test('is the only one of two that come side by side', async () => {
    const codes = await Promise.all([codeOf(scene.register('a@x.org')), codeOf(scene.register('b@x.org'))]);
    expect(codes.toSorted()).toEqual(['none', 'registration_closed']);
  });

  test.each([
    ['email', { email: 'no address' }],
    ['email', { email: '' }],
    ['email', { email: 'a@b\nBcc: c@d' }],
    ['password', { password: 'short' }],
    ['password', { password: 'x'.repeat(1025) }],
    ['name', { name: 'two\nlines' }],
  ])('names a wrong %s and changes nothing', async (field, body) => {
    const failed = await scene.register('ada@example.com', 'correct horse', { body }).catch((error) => error);
    expect(failed.code).toBe('invalid_argument');
    expect(failed.violations[0].field).toBe(field);
    expect((await scene.ask(api.GetAuthMode)).body.hasUsers).toBe(false);
  });

  test('from a page of another origin is refused', async () => {
    const headers = { origin: 'http://evil.com' };
    expect(await codeOf(scene.register('eve@x.org', 'correct horse', { headers }))).toBe('cross_origin');
  });

  test.each<[string, Record<string, unknown>, Ask]>([
    ['through a proxy', {}, { headers: { 'x-forwarded-for': '1.2.3.4' } }],
    ['on a bind that others reach', { 'server.host': '0.0.0.0' }, {}],
    ['on an instance with a public URL', { 'server.public_url': 'https://svc.example.com' }, {}],
  ])('%s needs the setup token of the log', async (_, settings, more) => {
    open(settings);
    expect(await codeOf(scene.register('ada@x.org', 'correct horse', more))).toBe('setup_token_required');
    const token = /Setup token[^:]*: (\S+?)"/.exec(scene.logged.join(''))?.[1] ?? '';
    expect(token).toHaveLength(43);
    const header = (given: string) => ({ ...more.headers, 'x-svc-setup-token': given });
    const wrong = scene.register('ada@x.org', 'correct horse', { headers: header(`${token.slice(1)}x`) });
    expect(await codeOf(wrong)).toBe('setup_token_required');
    const right = await scene.register('ada@x.org', 'correct horse', { headers: header(token) });
    expect(right.body.success).toBe(true);
  });

  test('on a bind that others reach has its token in the log from the start, on loopback only when it is needed', async () => {
    await scene.auth.start?.();
    expect(scene.logged.join('')).not.toContain('Setup token');
    await scene.auth.stop?.();
    open({ 'server.host': '0.0.0.0' });
    await scene.auth.start?.();
    expect(scene.logged.join('')).toContain('Setup token');
    await scene.auth.stop?.();
  });

  test('guessing the setup token is slowed down', async () => {
    open({ 'server.host': '0.0.0.0' });
    const codes: string[] = [];
    for (let i = 0; i < 30; i++) codes.push(await codeOf(scene.register()));
    expect(codes.at(-1)).toBe('rate_limited');
  });

  test('with the key of the owner needs no setup token', async () => {
    open({ 'server.host': '0.0.0.0', 'auth.root_api_key': 's_the-key-of-the-operator' });
    const headers = { 'x-svc-api-key': 's_the-key-of-the-operator' };
    expect((await scene.register('ada@x.org', 'correct horse', { headers })).body.success).toBe(true);
  });
});

describe('signing in by password', () => {
  test('gives a new session each time and ends the one that the browser had', async () => {
    const first = await scene.register();
    const second = await scene.ask(api.Login, {
      body: { email: ' ADA@example.com ', password: 'correct horse' },
      headers: ofPage(first.cookie),
    });
    expect(second.cookie).not.toBe(first.cookie);
    expect(scene.auth.authenticator.bySession(first.cookie ?? '')).toBeUndefined();
    expect(scene.callerOf(second.cookie).role).toBe('owner');
  });

  test('sets a cookie that suits a local address, and is not kept by caches', async () => {
    const { headers } = await scene.register();
    expect(headers.getSetCookie()[0]).toMatch(
      /^es_svc_session=[\w-]{43}; Path=\/; Max-Age=604800; HttpOnly; SameSite=Lax$/,
    );
    expect(headers.get('cache-control')).toBe('no-store');
  });

  test('says the same of a wrong password and an unknown address', async () => {
    await scene.register();
    expect(await codeOf(signIn('wrong horse'))).toBe('bad_login');
    expect(await codeOf(signIn('correct horse', 'eve@example.com'))).toBe('bad_login');
    expect(await codeOf(signIn('', ''))).toBe('bad_login');
  });

  test('checks a password for an unknown address too', async () => {
    await scene.register();
    const verify = spyOn(Bun.password, 'verify');
    await codeOf(signIn('wrong horse'));
    await codeOf(signIn('wrong horse', 'eve@example.com'));
    const costs = verify.mock.calls.map(([, hash]) => /^\$argon2id\$[^$]+\$([^$]+)/.exec(String(hash))?.[1]);
    verify.mockRestore();
    expect(costs).toEqual(['m=19456,t=2,p=1', 'm=19456,t=2,p=1']);
  });

  test('keeps no password, token or key in plain', async () => {
    const { cookie } = await scene.register();
    const stored = scene.everythingStored();
    expect(stored).toContain('argon2id');
    expect(stored).not.toContain('correct horse');
    expect(stored).not.toContain(cookie ?? 'none');
    expect(scene.logged.join('')).not.toContain(cookie ?? 'none');
  });

  test('guessing at one account is slowed down from anywhere, for a minute at most', async () => {
    await scene.register();
    for (let i = 0; i < 6; i++)
      expect(await codeOf(signIn('wrong', 'ada@example.com', `10.0.0.${i}`))).toBe('bad_login');
    const barred = await signIn('correct horse', 'ada@example.com', '10.0.0.9').catch((error) => error);
    expect(barred.code).toBe('rate_limited');
    expect(barred.http).toBe(429);
    expect(barred.data.retryAfterSeconds).toBe(1);
    scene.clock.ms += SECOND_MS;
    expect((await signIn('correct horse')).body.success).toBe(true);
  });

  test('guessing at many accounts from one place is slowed down', async () => {
    for (let i = 0; i < 21; i++)
      expect(await codeOf(signIn('wrong', `a${i}@x.org`, '10.0.0.1'))).toBe('bad_login');
    expect(await codeOf(signIn('wrong', 'b@x.org', '10.0.0.1'))).toBe('rate_limited');
    expect(await codeOf(signIn('wrong', 'b@x.org', '10.0.0.2'))).toBe('bad_login');
  });

  test('guessing through a proxy of this network falls on the address that the proxy adds, not on all behind it', async () => {
    const guess = (peer: string, forwarded: string) => {
      const body = { email: `${crypto.randomUUID()}@x.org`, password: 'wrong' };
      return codeOf(scene.ask(api.Login, { body, peer, headers: { 'x-forwarded-for': forwarded } }));
    };
    for (let i = 0; i < 21; i++) await guess('10.0.0.1', `${i}.1.1.1, 8.8.8.8`);
    expect(await guess('10.0.0.1', '8.8.8.8')).toBe('rate_limited');
    expect(await guess('10.0.0.1', '9.9.9.9')).toBe('bad_login');
    for (let i = 0; i < 21; i++) await guess('8.8.4.4', `1.1.1.${i}`);
    expect(await guess('8.8.4.4', '9.9.9.9')).toBe('rate_limited');
  }, 20_000);

  test('guesses side by side are counted before they are answered', async () => {
    await scene.register();
    const codes = await Promise.all(Array.from({ length: 12 }, () => codeOf(signIn('wrong'))));
    expect(codes.filter((code) => code === 'bad_login')).toHaveLength(6);
    expect(codes.filter((code) => code === 'rate_limited')).toHaveLength(6);
  });

  test('somebody who signs in often is not slowed down', async () => {
    await scene.register();
    for (let i = 0; i < 25; i++) expect((await signIn('correct horse')).body.success).toBe(true);
  }, 20_000);

  test('is off where an identity provider signs people in', async () => {
    await scene.register();
    scene.restart({ 'auth.mode': 'cloud' });
    expect(await codeOf(signIn('correct horse'))).toBe('failed_precondition');
    expect(await codeOf(scene.register('b@x.org'))).toBe('failed_precondition');
  });
});

describe('a session', () => {
  const refresh = (token?: string) => scene.ask(session.RefreshSession, { headers: ofPage(token) });

  test('is told of', async () => {
    expect((await scene.ask(session.GetSession)).body).toEqual({ authenticated: false });
    const { cookie } = await scene.register();
    const { body } = await scene.ask(session.GetSession, { headers: { cookie: `es_svc_session=${cookie}` } });
    expect(body).toMatchObject({ authenticated: true, user: { user: { email: 'ada@example.com' } } });
    const forged = await scene.ask(session.GetSession, { headers: { cookie: 'es_svc_session=forged' } });
    expect(forged.body).toEqual({ authenticated: false });
  });

  test('is told of to a page of this machine that is trusted without one', async () => {
    const { body } = await scene.ask(session.GetSession, { headers: { 'sec-fetch-site': 'same-origin' } });
    expect(body).toMatchObject({
      authenticated: true,
      user: { organizations: [{ role: 'ORGANIZATION_ROLE_OWNER' }] },
    });
    await scene.register();
    const later = await scene.ask(session.GetSession, { headers: { 'sec-fetch-site': 'same-origin' } });
    expect(later.body).toEqual({ authenticated: false });
  });

  test('ends when its time is over', async () => {
    const { cookie } = await scene.register();
    scene.clock.ms += 7 * 24 * 60 * MINUTE_MS - 1;
    expect(scene.callerOf(cookie).role).toBe('owner');
    scene.clock.ms += 1;
    expect(scene.auth.authenticator.bySession(cookie ?? '')).toBeUndefined();
  });

  test('is prolonged under a new token', async () => {
    const { cookie } = await scene.register();
    scene.clock.ms += MINUTE_MS;
    const { body, cookie: renewed } = await refresh(cookie);
    expect(body).toEqual({ success: true, expiresAt: '2026-11-28T12:01:00.000Z' });
    expect(renewed).not.toBe(cookie);
    expect(scene.callerOf(renewed).role).toBe('owner');
    expect(await codeOf(refresh(cookie))).toBe('unauthenticated');
  });

  test('is not prolonged for a key, nor from another origin', async () => {
    const { cookie } = await scene.register();
    const cross = { cookie: `es_svc_session=${cookie}`, origin: 'http://evil.com' };
    expect(await codeOf(scene.ask(session.RefreshSession, { headers: cross }))).toBe('cross_origin');
    expect(await codeOf(refresh())).toBe('unauthenticated');
  });

  test('ends at the sign-out, with its cookie', async () => {
    const { cookie } = await scene.register();
    const { body, headers } = await scene.ask(session.SignOut, { headers: ofPage(cookie) });
    expect(body).toEqual({ success: true });
    expect(headers.getSetCookie()[0]).toMatch(/^es_svc_session=; Path=\/; Max-Age=0;/);
    expect(scene.auth.authenticator.bySession(cookie ?? '')).toBeUndefined();
    expect(scene.audited().at(-1)).toBe('session.end');
  });

  test.each([[{ origin: 'http://evil.com' }], [{}]])(
    'is not ended by a request that is not ours: %p',
    async (extra) => {
      const { cookie } = await scene.register();
      const headers = { cookie: `es_svc_session=${cookie}`, ...extra };
      expect(await codeOf(scene.ask(session.SignOut, { headers }))).toBe('cross_origin');
      expect(scene.callerOf(cookie).role).toBe('owner');
    },
  );

  test('that is long over can still be signed out of', async () => {
    const { body, headers } = await scene.ask(session.SignOut, { headers: ofPage('old') });
    expect(body).toEqual({ success: true });
    expect(headers.getSetCookie()).toHaveLength(1);
  });
});
