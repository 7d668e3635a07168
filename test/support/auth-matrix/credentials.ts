import type { Endpoint } from '../../../src/api/endpoint.ts';
import { cookieOf, type TwoTenants } from '../tenants/two-tenants.ts';
import type { WireHeader } from '../wire.ts';
import type { Truth } from './oracle.ts';

/** Something that a request presents as its credential. */
export interface Credential {
  readonly name: string;
  readonly headers: readonly WireHeader[];
  /** What it truly is at an operation. */
  readonly truth: (endpoint: Endpoint) => Truth;
  /** It is somebody's of another tenant than the one whose things are asked for. */
  readonly isForeign?: true;
  /** Makes the same again, for a request that uses it up. */
  readonly renew?: () => Promise<readonly WireHeader[]>;
}

const NOBODY: Truth = {};
const always = (truth: Truth) => () => truth;
const key = (value: string): readonly WireHeader[] => [['x-svc-api-key', value]];
const cookie = (session: string): readonly WireHeader[] => [['cookie', cookieOf(session)]];

/** Nothing, and what is none or none of this instance's. */
export function worthless(rootKey: string): Credential[] {
  const forged = `s_${'A'.repeat(43)}`;
  const pairs: Readonly<Record<string, readonly WireHeader[]>> = {
    'a forged key': key(forged),
    'a forged key in x-s-api-key': [['x-s-api-key', forged]],
    'an empty key': key(''),
    'a key without its beginning': key(rootKey.slice(2)),
    'a key without its end': key(rootKey.slice(0, -1)),
    'a key in lower case': key(rootKey.toLowerCase()),
    'a key in quotes': key(`"${rootKey}"`),
    'a key twice': [...key(rootKey), ...key(rootKey)],
    'a key and a forged one': [...key(forged), ['x-s-api-key', rootKey]],
    'a key of 8 kB': key(`s_${'A'.repeat(8192)}`),
    'a key made of SQL': key(`' OR 1=1 --`),
    'a key with bytes above 127': key('s_\u00e9\u00ff'),
    'a forged session': cookie('A'.repeat(43)),
    'a key as session': cookie(rootKey),
    'a key in Authorization without a scheme': [...key(forged), ['authorization', rootKey]],
  };
  return [
    { name: 'nothing', headers: [], truth: always({ isAbsent: true }) },
    { name: 'an empty session', headers: cookie(''), truth: always({ isAbsent: true }) },
    {
      name: 'another cookie',
      headers: [['cookie', `xes_svc_session=${'A'.repeat(43)}; es_svc_session_sign_in=x`]],
      truth: always({ isAbsent: true }),
    },
    {
      name: 'a key by Basic',
      headers: [['authorization', `Basic ${btoa(`${rootKey}:`)}`]],
      truth: always({ isAbsent: true }),
    },
    {
      name: 'a forged key in x-api-key',
      headers: [['x-api-key', forged]],
      truth: inStockHeader(NOBODY),
    },
    ...Object.entries(pairs).map(([name, headers]) => ({ name, headers, truth: always(NOBODY) })),
  ];
}

/** What was good once. `expired` are sessions whose time is over. */
export async function spent(tenants: TwoTenants, expired: readonly string[]): Promise<Credential[]> {
  const { daemon } = tenants;
  const root = { 'x-svc-api-key': daemon.apiKey };
  const call = async (method: string, path: string, headers: Record<string, string> = root) => {
    const response = await fetch(daemon.url + path, { method, headers });
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
  };
  const revoked = await tenants.key(root);
  await call('DELETE', `/v1/api-key/${revoked.id}`);
  const renewed = await tenants.key(root);
  await call('POST', `/v1/api-key/regenerate?id=${renewed.id}`);
  const gone = await tenants.member('gone', 'admin');
  const keyOfGone = await tenants.key(root, { type: 'API_KEY_TYPE_USER', userId: gone.userId });
  await call('DELETE', `/v1/auth/team/${gone.userId}`);
  const left = await tenants.member('left', 'owner');
  await call('POST', '/v1/auth/signout', tenants.fromPage(left.session));
  const all: Readonly<Record<string, readonly WireHeader[]>> = {
    'a revoked key': key(revoked.key),
    'the old secret of a key': key(renewed.key),
    'the key of a removed member': key(keyOfGone.key),
    'the session of a removed member': cookie(gone.session),
    'a session that was signed out': cookie(left.session),
    ...Object.fromEntries(expired.map((session, i) => [`expired session ${i + 1}`, cookie(session)])),
  };
  return Object.entries(all).map(([name, headers]) => ({ name, headers, truth: always(NOBODY) }));
}

/** What is good, in each role and form, of the instance's tenant and of another one. */
export async function good(tenants: TwoTenants): Promise<Credential[]> {
  const { daemon } = tenants;
  const { apiKey } = daemon;
  const root = { 'x-svc-api-key': apiKey };
  const viewer = await tenants.member('vera', 'viewer');
  const viewerKey = await tenants.key(root, { type: 'API_KEY_TYPE_USER', userId: viewer.userId });
  const teamKey = await tenants.key(root, { type: 'API_KEY_TYPE_ORG' });
  const stranger = await tenants.stranger('sam');
  const ownKey = { type: 'API_KEY_TYPE_USER', userId: stranger.userId };
  const strangerKey = await tenants.key(tenants.fromPage(stranger.session), ownKey);
  const session = async (login: string, role: 'viewer' | 'member' | 'admin' | 'owner') => {
    const make = async () => cookie((await tenants.member(login, role)).session);
    const truth = always({ role, isCookie: true });
    return { name: `session of a ${role}`, headers: await make(), truth, renew: make };
  };
  const renewStranger = async () =>
    cookie((await tenants.launch({ 'x-svc-api-key': strangerKey.key })).session);
  return [
    { name: 'the root key', headers: key(apiKey), truth: always({ role: 'owner' }) },
    { name: 'in x-s-api-key', headers: [['x-s-api-key', apiKey]], truth: always({ role: 'owner' }) },
    { name: 'a key of the team', headers: key(teamKey.key), truth: always({ role: 'admin' }) },
    { name: 'a key of a viewer', headers: key(viewerKey.key), truth: always({ role: 'viewer' }) },
    await session('vera', 'viewer'),
    await session('mia', 'member'),
    await session('ann', 'admin'),
    await session('otto', 'owner'),
    {
      name: 'a key before a forged session',
      headers: [...key(apiKey), ...cookie('A'.repeat(43))],
      truth: always({ role: 'owner' }),
    },
    {
      name: 'a forged key before a session',
      headers: [...key(`s_${'A'.repeat(43)}`), ...cookie(viewer.session)],
      truth: always({ hidesSession: true }),
    },
    {
      name: 'a forged session before a good one',
      headers: [['cookie', `${cookieOf('A'.repeat(43))}; ${cookieOf(viewer.session)}`]],
      truth: always(NOBODY),
    },
    {
      name: 'a session as key',
      headers: key(viewer.session),
      truth: always(NOBODY),
    },
    { name: 'the root key as bearer', headers: [['authorization', `Bearer ${apiKey}`]], truth: bearer },
    {
      name: 'the root key in x-api-key',
      headers: [['x-api-key', apiKey]],
      truth: inStockHeader({ role: 'owner' }),
    },
    {
      name: 'the key of an owner of another tenant',
      headers: key(strangerKey.key),
      truth: always({ role: 'owner' }),
      isForeign: true,
    },
    {
      name: 'session of an owner of another tenant',
      headers: cookie(stranger.session),
      truth: always({ role: 'owner', isCookie: true }),
      isForeign: true,
      renew: renewStranger,
    },
  ];
}

/** A bearer token counts where stock clients send one, and nowhere else. */
function bearer({ path }: Endpoint): Truth {
  return path.startsWith('/compat/') || path === '/mcp' ? { role: 'owner' } : NOBODY;
}

/** `x-api-key` counts where stock clients of the Messages dialect send it; elsewhere it is a header like any other. */
function inStockHeader(truth: Truth) {
  return ({ path }: Endpoint): Truth => (path.startsWith('/compat/anthropic/') ? truth : { isAbsent: true });
}
