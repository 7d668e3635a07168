import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { apiKeys } from '../../../src/api/api-keys/keys.ts';
import { launch } from '../../../src/api/auth/launch.ts';
import { login } from '../../../src/api/auth/login.ts';
import { session } from '../../../src/api/auth/session.ts';
import { MINUTE_MS } from '../../../src/kit/time.ts';
import { AuthScene, codeOf, ofPage } from '../../../test/support/auth-scene.ts';
import type { Caller } from '../../http/route.ts';

let scene: AuthScene;
beforeEach(() => {
  scene = new AuthScene();
});
afterEach(() => scene.close());

const tokenIn = (url: string) => new URL(url).searchParams.get('token') ?? '';
const html = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };

describe('a magic link', () => {
  const request = (email = 'ada@example.com', headers = {}, peer = '127.0.0.1') =>
    scene.ask(login.RequestMagicLink, { body: { email }, headers, peer });
  const verify = (token: string, ask = {}) => scene.ask(login.VerifyMagicLink, { query: { token }, ...ask });
  /** The links that were sent so far, oldest first. */
  const links = async () => {
    await Bun.sleep(1);
    const text = [...scene.logged, ...scene.mails.map((mail) => mail.text)].join('\n');
    return [...text.matchAll(/http\S+?\/auth\/verify-magic-link\?token=[\w-]{43}/g)].map(([link]) => link);
  };

  beforeEach(async () => void (await scene.register()));

  test('signs in, and stands in the log while there is no mail server', async () => {
    const { body } = await request();
    expect(body).toEqual({ success: true, message: expect.stringContaining('in the log') });
    const [link = ''] = await links();
    expect(link).toStartWith('http://localhost:8089/');
    const { body: welcome, cookie } = await verify(tokenIn(link));
    expect(welcome.user.user.email).toBe('ada@example.com');
    expect(scene.callerOf(cookie).role).toBe('owner');
    expect(welcome.sessionToken).toBe(cookie);
  });

  test('is said at info, unmasked, and nowhere else', async () => {
    for (let i = 0; i < 3; i++) await request();
    const said = (await links()).map(tokenIn);
    expect(said).toHaveLength(3);
    for (const token of said) {
      const lines = scene.logged.filter((line) => line.includes(token));
      expect(lines).toHaveLength(1);
      expect(JSON.parse(lines[0] ?? '{}').level).toBe('info');
      expect(scene.everythingStored()).not.toContain(token);
    }
  });

  test('is mailed, and then not in the log', async () => {
    scene.close();
    scene = new AuthScene({}, { mail: true });
    await scene.register();
    const { body } = await request();
    expect(body.message).toContain('on its way');
    await Bun.sleep(1);
    expect(scene.mails).toMatchObject([{ to: 'ada@example.com', subject: 'Sign-in link' }]);
    const [link = ''] = await links();
    expect(scene.logged.join('')).not.toContain(tokenIn(link));
    expect((await verify(tokenIn(link))).body.success).toBe(true);
  });

  test('tells nobody who has an account', async () => {
    const known = await request();
    const unknown = await request('eve@example.com');
    expect(unknown.body).toEqual(known.body);
    expect(await links()).toHaveLength(1);
  });

  test('works once', async () => {
    await request();
    const [link = ''] = await links();
    await verify(tokenIn(link));
    expect(await codeOf(verify(tokenIn(link)))).toBe('bad_link');
  });

  test('ends after 15 minutes', async () => {
    await request();
    const [link = ''] = await links();
    scene.clock.ms += 15 * MINUTE_MS;
    expect(await codeOf(verify(tokenIn(link)))).toBe('bad_link');
  });

  test('works by POST with the token in the body too', async () => {
    await request();
    const [link = ''] = await links();
    const ask = { query: {}, body: { token: tokenIn(link) }, method: 'POST', headers: ofPage() };
    expect((await verify('', ask)).body.success).toBe(true);
  });

  test('sends a browser on to the dashboard, with the cookie', async () => {
    await request();
    const [link = ''] = await links();
    const { response, cookie, headers } = await verify(tokenIn(link), { headers: html });
    expect([response?.status, response?.headers.get('location')]).toEqual([303, '/']);
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect(scene.callerOf(cookie).role).toBe('owner');
  });

  test.each(['', 'forged', 'x'.repeat(100_000)])('that was made up is refused', async (token) => {
    expect(await codeOf(verify(token))).toBe(token ? 'bad_link' : 'invalid_argument');
  });

  test('cannot be asked for again and again', async () => {
    const codes: string[] = [];
    for (let i = 0; i < 6; i++) codes.push(await codeOf(request('ada@example.com', {}, `10.0.0.${i}`)));
    expect(codes).toEqual(['none', 'none', 'none', 'none', 'rate_limited', 'rate_limited']);
    const flood: string[] = [];
    for (let i = 0; i < 25; i++) flood.push(await codeOf(request(`a${i}@x.org`, {}, '10.1.0.1')));
    expect(flood.at(-1)).toBe('rate_limited');
  });

  test('leads to the host that was called, which is one of ours', async () => {
    scene.restart({ 'server.hosts': ['svc.lan'] });
    await request('ada@example.com', { host: 'svc.lan' });
    expect((await links())[0]).toStartWith('http://svc.lan/auth/');
    expect(await codeOf(request('ada@example.com', { host: 'evil.com' }))).toBe('misdirected');
  });

  test('is no launch URL, and the other way round', async () => {
    await request();
    const [link = ''] = await links();
    expect(await codeOf(scene.ask(launch.OpenLaunchUrl, { query: { token: tokenIn(link) } }))).toBe(
      'bad_link',
    );
    expect(await codeOf(verify(tokenIn(scene.auth.createLaunchUrl().url)))).toBe('bad_link');
  });
});

describe('a launch URL', () => {
  const openUrl = (url: string, headers = {}) =>
    scene.ask(launch.OpenLaunchUrl, { query: { token: tokenIn(url) }, headers });

  test('lets the operator in while nobody has registered', async () => {
    const { url, expiresAt } = scene.auth.createLaunchUrl();
    expect(url).toStartWith('http://localhost:8089/auth/launch?token=');
    expect(expiresAt - scene.clock.ms).toBe(30 * MINUTE_MS);
    const { body, cookie } = await openUrl(url);
    expect(body.user).toMatchObject({
      user: { name: 'Operator' },
      organizations: [{ role: 'ORGANIZATION_ROLE_OWNER' }],
    });
    expect(scene.callerOf(cookie)).toEqual({
      tenant: scene.auth.instanceTenant,
      role: 'owner',
      actor: 'operator',
      via: 'cookie',
    });
  });

  test('lets the operator register as the owner from elsewhere', async () => {
    scene.restart({ 'server.host': '0.0.0.0' });
    const { cookie } = await openUrl(scene.auth.createLaunchUrl().url);
    const { body } = await scene.register('ada@x.org', 'correct horse', { headers: ofPage(cookie) });
    expect(body.success).toBe(true);
    expect(scene.auth.authenticator.bySession(cookie ?? '')).toBeUndefined();
  });

  test('signs the owner in once there is one', async () => {
    const { body } = await scene.register();
    const opened = await openUrl(scene.auth.createLaunchUrl().url);
    expect(opened.body.user.user.id).toBe(body.user.user.id);
  });

  test('works once, within 30 minutes', async () => {
    const { url } = scene.auth.createLaunchUrl();
    await openUrl(url);
    expect(await codeOf(openUrl(url))).toBe('bad_link');
    const late = scene.auth.createLaunchUrl().url;
    scene.clock.ms += 30 * MINUTE_MS;
    expect(await codeOf(openUrl(late))).toBe('bad_link');
  });

  test('sends a browser on to the dashboard', async () => {
    const { response, cookie } = await openUrl(scene.auth.createLaunchUrl().url, html);
    expect([response?.status, response?.headers.get('location')]).toEqual([303, '/']);
    const { body } = await scene.ask(session.GetSession, { headers: ofPage(cookie) });
    expect(body.authenticated).toBe(true);
  });

  test('made by a key opens with that key’s rights and no more', async () => {
    const owner = scene.callerOf((await scene.register()).cookie);
    const make = (caller: Caller) =>
      scene.askAs(caller, launch.CreateLaunchUrl, { headers: { host: 'localhost:8089' } });
    const key = (await scene.askAs(owner, apiKeys.CreateApiKey)).body.key;
    const admin = scene.auth.authenticator.byApiKey(key) as Caller;
    const { cookie } = await openUrl((await make(admin)).body.url);
    expect(scene.callerOf(cookie)).toMatchObject({ role: 'admin', actor: 'operator' });
    const own = await openUrl((await make(owner)).body.url);
    expect(scene.callerOf(own.cookie)).toMatchObject({ role: 'owner', userId: owner.userId });
  });

  test('is an admin’s to make', async () => {
    const key = (await scene.askAs(scene.callerOf((await scene.register()).cookie), apiKeys.CreateApiKey))
      .body.key;
    const made = await scene.ask(launch.CreateLaunchUrl, { headers: { 'x-svc-api-key': key } });
    expect(made.body).toMatchObject({
      url: expect.stringContaining('/auth/launch?token='),
      expiresAt: '2026-11-21T12:30:00.000Z',
    });
    expect(await codeOf(scene.ask(launch.CreateLaunchUrl))).toBe('unauthenticated');
    expect(scene.audited()).toContain('launch_url.create');
  });

  test('keeps its token as a hash', () => {
    const { url } = scene.auth.createLaunchUrl();
    expect(scene.everythingStored()).not.toContain(tokenIn(url));
    expect(scene.logged.join('')).not.toContain(tokenIn(url));
  });
});

test('what has expired is swept away', async () => {
  await scene.register();
  scene.auth.createLaunchUrl();
  await scene.ask(login.RequestMagicLink, { body: { email: 'ada@example.com' } });
  await scene.auth.start?.();
  const count = (table: string) => scene.app.db.raw.query(`SELECT * FROM ${table}`).all().length;
  expect([count('sessions'), count('login_links')]).toEqual([1, 2]);
  scene.clock.ms += 8 * 24 * 60 * MINUTE_MS;
  scene.app.jobs.start();
  while (count('sessions') > 0) await Bun.sleep(5);
  expect(count('login_links')).toBe(0);
  await scene.app.jobs.stop();
  await scene.auth.stop?.();
});
