import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { login as api } from '../../../src/api/auth/login.ts';
import { session } from '../../../src/api/auth/session.ts';
import { team } from '../../../src/api/auth/team.ts';
import { HOUR_MS, SECOND_MS } from '../../../src/kit/time.ts';
import { AuthScene, codeOf, ofPage, type Reply } from '../../../test/support/auth-scene.ts';
import type { ChildServer } from '../../../test/support/child-server.ts';
import { freePort } from '../../../test/support/daemon.ts';
import {
  type OidcEvent,
  type OidcOptions,
  signInAtProvider,
  startOidcProvider,
} from '../../../test/support/oidc-provider.ts';

const SECRET = 'a secret: with/odd?characters';
const CALLBACK = 'http://localhost:8089/auth/callback';
const OPTIONS: OidcOptions = {
  clientId: 'svc',
  clientSecret: SECRET,
  redirectUris: [CALLBACK],
  accounts: {
    ada: {
      email: 'Ada@example.com',
      email_verified: true,
      name: 'Ada',
      picture: 'https://img.example.com/ada.png',
    },
    bob: { email: 'bob@example.com', email_verified: true },
    eve: { email: 'ada@example.com', email_verified: true, name: 'Eve' },
    sly: { email: 'bob@example.com', email_verified: false },
    nix: {},
  },
};

let scene: AuthScene;
let provider: ChildServer<OidcEvent>;
/** The provider of the tests that need no special one. */
let shared: ChildServer<OidcEvent>;

beforeAll(async () => {
  shared = await startOidcProvider(OPTIONS);
});
afterAll(() => shared.stop());

async function begin(options?: Partial<OidcOptions>, entry: Record<string, unknown> = {}): Promise<void> {
  provider = options ? await startOidcProvider({ ...OPTIONS, ...options }) : shared;
  const google = {
    issuer: `http://localhost:${provider.port}`,
    client_id: 'svc',
    client_secret: SECRET,
    ...entry,
  };
  const oidc = { google, authkit: google, conn_acme: google };
  scene = new AuthScene({ 'auth.mode': 'cloud', 'auth.oidc': oidc });
  scene.clock.ms = Date.now();
}
afterEach(async () => {
  scene.close();
  if (provider !== shared) await provider.stop();
});

interface Begun {
  readonly authUrl: string;
  /** The cookie that ties the sign-in to the browser. */
  readonly cookie: string;
}

async function start(body: Record<string, unknown> = { provider: 'GoogleOAuth' }): Promise<Begun> {
  const reply = await scene.ask(api.GetAuthURL, { body, headers: ofPage() });
  const cookie = reply.headers.getSetCookie()[0]?.split(';')[0] ?? '';
  return { authUrl: reply.body.authUrl, cookie };
}

function finish({ cookie }: Begun, params: URLSearchParams, state = params.get('state')): Promise<Reply> {
  const body = { code: params.get('code'), state };
  return scene.ask(api.Authenticate, { body, headers: { ...ofPage(), cookie } });
}

async function signIn(subject: string): Promise<Reply> {
  const begun = await start();
  return finish(begun, await signInAtProvider(begun.authUrl, subject));
}

describe('sign-in through a provider', () => {
  beforeEach(() => begin());

  test('makes a person with an organization of their own, once', async () => {
    expect((await scene.ask(api.GetAuthMode)).body).toEqual({ mode: 'AUTH_MODE_CLOUD', hasUsers: false });
    const { body, cookie } = await signIn('ada');
    expect(body.user.user).toMatchObject({
      email: 'ada@example.com',
      name: 'Ada',
      avatarUrl: 'https://img.example.com/ada.png',
    });
    expect(body.user.organizations).toMatchObject([
      { slug: 'ada', name: 'Ada', role: 'ORGANIZATION_ROLE_OWNER' },
    ]);
    const caller = scene.callerOf(cookie);
    expect(caller.role).toBe('owner');
    expect(caller.tenant).not.toBe(scene.auth.instanceTenant);
    const again = await signIn('ada');
    expect(again.body.user.user.id).toBe(body.user.user.id);
    expect(again.body.user.organizations).toHaveLength(1);
    const bob = await signIn('bob');
    expect(scene.callerOf(bob.cookie).tenant).not.toBe(caller.tenant);
  });

  test('asks for a code with PKCE, a state and a nonce', async () => {
    const { searchParams } = new URL((await start()).authUrl);
    expect(Object.fromEntries(searchParams)).toMatchObject({
      response_type: 'code',
      client_id: 'svc',
      redirect_uri: CALLBACK,
      scope: 'openid profile email offline_access',
      code_challenge_method: 'S256',
    });
    for (const name of ['state', 'nonce', 'code_challenge']) expect(searchParams.get(name)).toHaveLength(43);
  });

  test('gives the caller its own state back', async () => {
    const begun = await start({ provider: 'authkit', state: 'page-7' });
    const params = await signInAtProvider(begun.authUrl, 'ada');
    expect(params.get('state')).toBe('page-7');
    expect((await finish(begun, params)).body.success).toBe(true);
  });

  test('joins the organizations that have invited the address, in place of an own one', async () => {
    const owner = scene.callerOf((await signIn('ada')).cookie);
    await scene.askAs(owner, team.InviteTeamMember, { body: { email: 'bob@example.com' } });
    const { body, cookie } = await signIn('bob');
    expect(scene.callerOf(cookie)).toMatchObject({ tenant: owner.tenant, role: 'member' });
    expect(body.user.organizations).toHaveLength(1);
  });

  test('does not join by an address that the provider has not verified', async () => {
    const owner = scene.callerOf((await signIn('ada')).cookie);
    await scene.askAs(owner, team.InviteTeamMember, { body: { email: 'bob@example.com' } });
    expect(scene.callerOf((await signIn('sly')).cookie).tenant).not.toBe(owner.tenant);
  });

  test('does not take over the account of an address', async () => {
    await signIn('ada');
    expect(await codeOf(signIn('eve'))).toBe('already_exists');
  });

  test('needs an address', async () => {
    expect(await codeOf(signIn('nix'))).toBe('unauthenticated');
  });

  test('belongs to the browser that began it', async () => {
    const [mine, other] = [await start(), await start()];
    const params = await signInAtProvider(mine.authUrl, 'ada');
    expect(await codeOf(finish({ ...mine, cookie: '' }, params))).toBe('bad_link');
    expect(await codeOf(finish(other, params))).toBe('bad_link');
    expect((await finish(mine, params)).body.success).toBe(true);
  });

  test('works with its own state only', async () => {
    const begun = await start();
    const params = await signInAtProvider(begun.authUrl, 'ada');
    expect(await codeOf(finish(begun, params, 'another'))).toBe('bad_link');
  });

  test('works once', async () => {
    const begun = await start();
    const params = await signInAtProvider(begun.authUrl, 'ada');
    await finish(begun, params);
    expect(await codeOf(finish(begun, params))).toBe('bad_link');
  });

  test('must be ended within ten minutes', async () => {
    const begun = await start();
    const params = await signInAtProvider(begun.authUrl, 'ada');
    scene.clock.ms += 600 * SECOND_MS;
    expect(await codeOf(finish(begun, params))).toBe('bad_link');
  });

  test('with a code that was made up fails', async () => {
    const begun = await start();
    const params = new URLSearchParams({
      code: 'forged',
      state: new URL(begun.authUrl).searchParams.get('state') ?? '',
    });
    expect(await codeOf(finish(begun, params))).toBe('unauthenticated');
  });

  test('keeps the tokens sealed and the rest as hashes', async () => {
    const begun = await start();
    const secret = begun.cookie.split('=')[1] ?? '';
    expect(scene.everythingStored()).not.toContain(secret);
    const params = await signInAtProvider(begun.authUrl, 'ada');
    await finish(begun, params);
    const row = scene.app.db.raw
      .query<{ id: string; tenant: string; refresh_token: string; access_token: string }, []>(
        'SELECT * FROM sessions',
      )
      .get();
    expect(row?.access_token).toStartWith('v1:');
    const plain = scene.app.secrets.open(row?.tenant ?? '', row?.id ?? '', row?.access_token ?? '');
    expect(plain.length).toBeGreaterThan(20);
    expect(() =>
      scene.app.secrets.open(row?.tenant ?? '', row?.id ?? '', row?.refresh_token ?? ''),
    ).toThrow();
    expect(scene.everythingStored()).not.toContain(plain);
    expect(scene.logged.join('')).not.toContain(plain);
  });

  test.each([
    ['an unknown provider', { provider: 'GitLabOAuth' }, 'provider'],
    ['no provider', {}, 'provider'],
    ['an unknown connection', { connectionId: 'conn_other' }, 'connectionId'],
    ['a provider as a connection', { connectionId: 'GoogleOAuth' }, 'connectionId'],
    [
      'a page elsewhere',
      { provider: 'google', redirectUri: 'https://evil.com/auth/callback' },
      'redirectUri',
    ],
    [
      'a page that begins like ours',
      { provider: 'google', redirectUri: 'http://localhost:8089.evil.com/' },
      'redirectUri',
    ],
    ['a script', { provider: 'google', redirectUri: 'javascript:alert(1)' }, 'redirectUri'],
    ['a long state', { provider: 'google', state: 'x'.repeat(2000) }, 'state'],
  ])('with %s names the field', async (_, body, field) => {
    const failed = await start(body).catch((error) => error);
    expect(failed.violations?.[0]?.field).toBe(field);
  });

  test.each([
    { provider: 'GoogleOAuth' },
    { provider: 'google' },
    { provider: 'authkit' },
    { connectionId: 'conn_acme' },
  ])('knows %p', async (body) => {
    expect((await start(body)).authUrl).toStartWith(`http://localhost:${provider.port}/auth?`);
  });

  test('is for the hosted mode, and needs a provider', async () => {
    scene.restart({ 'auth.mode': 'self_hosted' });
    expect(await codeOf(start())).toBe('failed_precondition');
    scene.restart({ 'auth.mode': 'cloud', 'auth.oidc': {} });
    expect(await codeOf(start())).toBe('not_configured');
  });

  test('needs a provider that can be reached and is who it says', async () => {
    const at = (issuer: string) => ({ 'auth.oidc': { google: { issuer, client_id: 'svc' } } });
    scene.restart(at(`http://127.0.0.1:${provider.port}`));
    expect(await codeOf(start())).toBe('upstream_failed');
    scene.restart(at(`http://localhost:${freePort()}`));
    expect(await codeOf(start())).toBe('upstream_failed');
    scene.restart(at('http://idp.example.com'));
    expect(await codeOf(start())).toBe('invalid_argument');
  });
});

describe('a provider', () => {
  test('refuses a code that another sign-in got (PKCE)', async () => {
    await begin({});
    const [mine, theirs] = [
      await start({ provider: 'GoogleOAuth', state: 's' }),
      await start({ provider: 'GoogleOAuth', state: 's' }),
    ];
    const stolen = await signInAtProvider(theirs.authUrl, 'bob');
    expect(await codeOf(finish(mine, stolen))).toBe('unauthenticated');
    expect((await provider.next()).grant).toBe('refused: invalid_grant');
  });

  test('may change its keys', async () => {
    await begin({});
    await signIn('ada');
    const { port } = provider;
    await provider.stop();
    provider = await startOidcProvider({ ...OPTIONS, port });
    scene.clock.ms += 11 * SECOND_MS;
    expect((await signIn('ada')).body.success).toBe(true);
  });
});

describe('a client', () => {
  test.each(['client_secret_post', 'none'] as const)('proves itself by %s', async (authMethod) => {
    const isPublic = authMethod === 'none';
    await begin(
      { authMethod, clientSecret: isPublic ? undefined : SECRET },
      isPublic ? { client_secret: undefined } : {},
    );
    expect((await signIn('ada')).body.success).toBe(true);
  });

  test('with a wrong secret is refused', async () => {
    await begin({}, { client_secret: 'wrong' });
    expect(await codeOf(signIn('ada'))).toBe('unauthenticated');
  });
});

describe('an account that was there before', () => {
  const prepare = async (entry: Record<string, unknown>) => {
    await begin({}, entry);
    const oidc = scene.settings['auth.oidc'];
    scene.restart({ 'auth.mode': 'self_hosted', 'auth.oidc': oidc });
    await scene.register('ada@example.com');
    scene.restart({ 'auth.mode': 'cloud', 'auth.oidc': oidc });
  };

  test('is not linked by its address', async () => {
    await prepare({});
    expect(await codeOf(signIn('ada'))).toBe('already_exists');
  });

  test('is linked when the operator trusts the provider on that, to the first who comes', async () => {
    await prepare({ link_by_email: true });
    expect(scene.callerOf((await signIn('ada')).cookie).tenant).toBe(scene.auth.instanceTenant);
    expect(await codeOf(signIn('eve'))).toBe('already_exists');
  });
});

describe('a hosted session', () => {
  const refresh = (token: string | undefined) =>
    scene.ask(session.RefreshSession, { headers: ofPage(token) });
  const expiryOf = (reply: Reply) => Date.parse(reply.body.expiresAt);

  test('is refreshed when its access token has less than 30 s to live, not before', async () => {
    await begin({ accessTokenTtl: 300 });
    const { cookie } = await signIn('ada');
    expect((await provider.next()).grant).toBe('authorization_code');
    const early = await refresh(cookie);
    expect(early.cookie).toBeUndefined();
    expect(expiryOf(early) - scene.clock.ms).toBeWithin(295_000, 305_000);
    scene.clock.ms = expiryOf(early) - 30_001;
    expect((await refresh(cookie)).cookie).toBeUndefined();
    scene.clock.ms += 1;
    const renewed = await refresh(cookie);
    expect((await provider.next()).grant).toBe('refresh_token');
    expect(renewed.cookie).toHaveLength(43);
    expect(scene.callerOf(renewed.cookie).role).toBe('owner');
    expect(scene.auth.authenticator.bySession(cookie ?? '')).toBeUndefined();
  });

  test('is refreshed once for calls side by side', async () => {
    await begin({ accessTokenTtl: 20 });
    const { cookie } = await signIn('ada');
    const [one, two] = await Promise.all([refresh(cookie), refresh(cookie)]);
    expect(one?.cookie).toBe(two?.cookie);
    expect(scene.callerOf(one?.cookie).role).toBe('owner');
  });

  test('ends when the provider refuses the refresh', async () => {
    await begin({ accessTokenTtl: 20 });
    const { cookie } = await signIn('ada');
    const row = scene.app.db.raw
      .query<{ id: string; tenant: string; refresh_token: string }, []>('SELECT * FROM sessions')
      .get();
    const token = scene.app.secrets.open(row?.tenant ?? '', `${row?.id}/refresh`, row?.refresh_token ?? '');
    const revoked = await fetch(`http://localhost:${provider.port}/token/revocation`, {
      method: 'POST',
      headers: {
        authorization: `Basic ${btoa(`svc:${new URLSearchParams({ v: SECRET }).toString().slice(2)}`)}`,
      },
      body: new URLSearchParams({ token }),
    });
    expect(revoked.status).toBe(200);
    expect(await codeOf(refresh(cookie))).toBe('unauthenticated');
    expect(scene.auth.authenticator.bySession(cookie ?? '')).toBeUndefined();
  });

  test('stays when the provider cannot be reached', async () => {
    await begin({ accessTokenTtl: 20 });
    const { cookie } = await signIn('ada');
    await provider.stop();
    expect(await codeOf(refresh(cookie))).toBe('upstream_failed');
    expect(scene.callerOf(cookie).role).toBe('owner');
  });

  test('goes without word from the provider for a day at most', async () => {
    await begin({ accessTokenTtl: 40 * 3600 });
    const { cookie } = await signIn('ada');
    expect(expiryOf(await refresh(cookie)) - scene.clock.ms).toBe(24 * HOUR_MS);
    scene.clock.ms += 24 * HOUR_MS - 1;
    expect(scene.callerOf(cookie).role).toBe('owner');
    scene.clock.ms += 1;
    expect(scene.auth.authenticator.bySession(cookie ?? '')).toBeUndefined();
  });

  test('without a refresh token ends with its access token', async () => {
    await begin({ accessTokenTtl: 300, noRefresh: true });
    const { cookie } = await signIn('ada');
    scene.clock.ms += 280 * SECOND_MS;
    expect(await codeOf(refresh(cookie))).toBe('unauthenticated');
    scene.clock.ms += 25 * SECOND_MS;
    expect(scene.auth.authenticator.bySession(cookie ?? '')).toBeUndefined();
  });

  test('with an opaque access token lasts as the provider says', async () => {
    await begin();
    const { cookie } = await signIn('ada');
    expect(expiryOf(await refresh(cookie)) - scene.clock.ms).toBeWithin(3_590_000, 3_610_000);
  });
});
