import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { type Endpoint, endpoint } from '../../src/api/endpoint.ts';
import { t } from '../../src/api/schema.ts';
import { AppError } from '../../src/errors/app-error.ts';
import { Config } from '../config/config.ts';
import type { LocalProof } from './gate/local-peer.ts';
import { originOf, Site } from './gate/site.ts';
import { type Authenticator, createGate, type Gate } from './gate.ts';
import type { Caller } from './route.ts';

const OWN_UID = 1000;
const KEY = 's_key';
const TOKEN = 'session-token';

const member = (via: Caller['via']): Caller => ({ tenant: 'org_1', role: 'member', actor: 'usr_1', via });
const localOwner: Caller = { tenant: 'org_1', role: 'owner', actor: 'local', via: 'same-origin' };

const base = { spec: 'agents', tag: 'Test', summary: 'Test', response: t.Any() } as const;
const READ = endpoint({ ...base, id: 'Read', method: 'GET', path: '/v1/things', access: 'viewer' });
const CHANGE = endpoint({ ...base, id: 'Change', method: 'POST', path: '/v1/things', access: 'viewer' });
const SOCKET = endpoint({ ...READ, id: 'Socket', stream: 'websocket' });
const ADMIN = endpoint({ ...READ, id: 'Admin', access: 'admin' });
const PUBLIC = endpoint({ ...CHANGE, id: 'Public', access: 'public' });
const SIGN_IN = endpoint({ ...CHANGE, spec: 'auth', id: 'SignIn', access: 'public' });
const WHO = endpoint({ ...READ, spec: 'auth', id: 'Who', access: 'public' });

interface Scene {
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly endpoint?: Endpoint;
  readonly path?: string;
  readonly method?: string;
  readonly peer?: string;
  readonly peerPort?: number;
  readonly peerUid?: number | undefined;
  /** Whether somebody may be let in as local. */
  readonly trusts?: boolean;
}

function gateOf({ settings = {}, peerUid = OWN_UID, trusts = false }: Scene): Gate {
  const config = new Config({ flags: { 'data.dir': '/nonexistent', ...settings }, env: {} });
  const authenticator: Authenticator = {
    byApiKey: (key) => (key === KEY ? member('api-key') : undefined),
    bySession: (token) => (token === TOKEN ? member('cookie') : undefined),
    local: () => (trusts ? localOwner : undefined),
  };
  const proof: LocalProof = {
    port: () => config.get('server.port'),
    ownUid: OWN_UID,
    uidOf: (_, port) => (port === 0 ? undefined : peerUid),
  };
  return createGate(config, authenticator, {
    site: new Site(config, undefined, () => ['192.168.7.7']),
    proof,
  });
}

function requestOf({ headers = {}, endpoint = READ, path, method }: Scene): Request {
  return new Request(`http://ignored.test${path ?? endpoint.path}`, {
    method: method ?? endpoint.method,
    headers: { host: 'localhost:8089', ...headers },
  });
}

/** The way in that was taken, or the code of the refusal. */
function outcome(scene: Scene): string {
  try {
    const { peer: address = '127.0.0.1', peerPort: port = 40_000, endpoint = READ } = scene;
    const caller = gateOf(scene).admit(requestOf(scene), endpoint, { address, port }) as Caller;
    return caller.local ? `${caller.via}, local` : caller.via;
  } catch (error) {
    if (error instanceof AppError) return error.code;
    throw error;
  }
}

function table(rows: ReadonlyArray<readonly [string, Scene, string]>): void {
  test.each(rows)('%s', (_, scene, expected) => {
    expect(outcome(scene)).toBe(expected);
  });
}

const key = { 'x-svc-api-key': KEY };
const cookie = { cookie: `es_svc_session=${TOKEN}` };
const own = { origin: 'http://localhost:8089' };

describe('Host', () => {
  const host = (text: string, settings?: Scene['settings']): Scene => ({
    headers: { ...key, host: text },
    settings,
  });
  const everywhere = { 'server.host': '0.0.0.0' };
  const named = { 'server.hosts': ['svc.lan', 'other.lan:9000'] };
  const published = { 'server.public_url': 'https://svc.example.com/base' };
  table([
    ['localhost with our port', host('localhost:8089'), 'api-key'],
    ['in capitals', host('LocalHost:8089'), 'api-key'],
    ['127.0.0.1', host('127.0.0.1:8089'), 'api-key'],
    ['[::1]', host('[::1]:8089'), 'api-key'],
    ['another loopback address than the bound one', host('127.0.0.2:8089'), 'misdirected'],
    ['the bound loopback address', host('127.0.0.2:8089', { 'server.host': '127.0.0.2' }), 'api-key'],
    ['localhost without our port', host('localhost'), 'misdirected'],
    ['localhost with another port', host('localhost:8090'), 'misdirected'],
    ['no port on port 80', host('localhost', { 'server.port': 80 }), 'api-key'],
    ['a name that was bent to here (DNS rebinding)', host('rebind.evil.com:8089'), 'misdirected'],
    ['a name that begins like ours', host('localhost.evil.com:8089'), 'misdirected'],
    ['a name that ends like ours', host('evil.localhost:8089'), 'misdirected'],
    ['a dot at the end', host('localhost.:8089'), 'misdirected'],
    ['user information', host('localhost:8089@evil.com'), 'misdirected'],
    ['two hosts', host('localhost:8089, evil.com'), 'misdirected'],
    ['an empty host', host(''), 'misdirected'],
    ['an address of this machine on a loopback bind', host('192.168.7.7:8089'), 'misdirected'],
    ['an address of this machine on a wildcard bind', host('192.168.7.7:8089', everywhere), 'api-key'],
    ['any other address on a wildcard bind', host('192.168.7.8:8089', everywhere), 'misdirected'],
    ['localhost on a wildcard bind', host('localhost:8089', everywhere), 'api-key'],
    ['the bound address', host('10.1.2.3:8089', { 'server.host': '10.1.2.3' }), 'api-key'],
    ['the bound IPv6 address', host('[fd00::5]:8089', { 'server.host': 'fd00::5' }), 'api-key'],
    [
      'localhost when bound to one address',
      host('localhost:8089', { 'server.host': '10.1.2.3' }),
      'misdirected',
    ],
    ['a name of server.hosts', host('svc.lan', named), 'api-key'],
    ['a name of server.hosts with our port', host('svc.lan:8089', named), 'api-key'],
    ['a name of server.hosts with another port', host('svc.lan:9000', named), 'misdirected'],
    ['an entry of server.hosts with its port', host('other.lan:9000', named), 'api-key'],
    ['an entry of server.hosts without its port', host('other.lan', named), 'misdirected'],
    ['the host of the public URL', host('svc.example.com', published), 'api-key'],
    ['the host of the public URL with a port', host('svc.example.com:8443', published), 'misdirected'],
    [
      'comes before a wrong credential',
      { headers: { host: 'evil.com', 'x-svc-api-key': 'no' } },
      'misdirected',
    ],
    ['comes before a public operation', { headers: { host: 'evil.com' }, endpoint: PUBLIC }, 'misdirected'],
  ]);

  test('is that of the URL when a request of this process has no header', () => {
    const gate = gateOf({});
    expect(() => gate.checkHost(new Request('http://localhost:8089/'))).not.toThrow();
    expect(() => gate.checkHost(new Request('http://evil.com:8089/'))).toThrow('does not answer');
  });

  test('follows a port that is known only after listening began', () => {
    let port = 0;
    const config = new Config({ flags: { 'data.dir': '/nonexistent', 'server.port': 0 }, env: {} });
    const site = new Site(config, () => port);
    expect(() => site.hostOf(new Request('http://localhost:5123/'))).toThrow();
    port = 5123;
    expect(site.hostOf(new Request('http://localhost:5123/'))).toBe('localhost:5123');
  });
});

describe('credentials', () => {
  table([
    ['none', {}, 'unauthenticated'],
    ['a key', { headers: key }, 'api-key'],
    ['a key under the other name of the header', { headers: { 'x-s-api-key': KEY } }, 'api-key'],
    ['a wrong key', { headers: { 'x-svc-api-key': 's_forged' } }, 'unauthenticated'],
    ['an empty key', { headers: { 'x-svc-api-key': '' } }, 'unauthenticated'],
    ['two keys in one header', { headers: { 'x-svc-api-key': `${KEY}, ${KEY}` } }, 'unauthenticated'],
    ['a bearer token on /v1', { headers: { authorization: `Bearer ${KEY}` } }, 'unauthenticated'],
    [
      'a bearer token on /v1 where it is allowed',
      { headers: { authorization: `Bearer ${KEY}` }, settings: { 'auth.bearer_on_v1': true } },
      'api-key',
    ],
    [
      'a bearer token under /compat',
      { headers: { authorization: `Bearer ${KEY}` }, path: '/compat/v1/models' },
      'api-key',
    ],
    [
      'bearer in small letters',
      { headers: { authorization: `bearer ${KEY}` }, path: '/compat/v1/models' },
      'api-key',
    ],
    ['a bearer token for MCP', { headers: { authorization: `Bearer ${KEY}` }, path: '/mcp' }, 'api-key'],
    [
      'a bearer token on a path that only contains /compat/',
      { headers: { authorization: `Bearer ${KEY}` }, path: '/v1/compat/v1' },
      'unauthenticated',
    ],
    [
      'a wrong bearer token under /compat',
      { headers: { authorization: 'Bearer no' }, path: '/compat/v1/models' },
      'unauthenticated',
    ],
    ['a bearer scheme without a token', { headers: { authorization: 'Bearer' } }, 'unauthenticated'],
    ['basic authentication of a proxy', { headers: { authorization: 'Basic eA==', ...key } }, 'api-key'],
    ['a key on /v1 beside a bearer token', { headers: { authorization: 'Bearer x', ...key } }, 'api-key'],
    ['a cookie', { headers: cookie }, 'cookie'],
    ['a cookie among others', { headers: { cookie: `a=b; es_svc_session=${TOKEN}; c` } }, 'cookie'],
    ['a cookie of another name', { headers: { cookie: `xes_svc_session=${TOKEN}` } }, 'unauthenticated'],
    [
      'a cookie of the name that was set',
      { headers: { cookie: `sid=${TOKEN}` }, settings: { 'auth.cookie.name': 'sid' } },
      'cookie',
    ],
    ['a wrong cookie', { headers: { cookie: 'es_svc_session=no' } }, 'unauthenticated'],
    ['a key as a cookie', { headers: { cookie: `es_svc_session=${KEY}` } }, 'unauthenticated'],
    ['a session token as a key', { headers: { 'x-svc-api-key': TOKEN } }, 'unauthenticated'],
    ['a key beside an old cookie', { headers: { ...key, cookie: 'es_svc_session=no' } }, 'api-key'],
    ['a wrong key beside a cookie', { headers: { ...cookie, 'x-svc-api-key': 'no' } }, 'unauthenticated'],
    ['a role that is too weak', { headers: key, endpoint: ADMIN }, 'forbidden'],
    ['no credential where a strong role is needed', { endpoint: ADMIN }, 'unauthenticated'],
    ['none for a public operation', { endpoint: PUBLIC }, 'public'],
    [
      'a wrong one for a public operation',
      { endpoint: PUBLIC, headers: { 'x-svc-api-key': 'no' } },
      'public',
    ],
  ]);

  test('a refusal for the role names it', () => {
    const admit = () =>
      gateOf({}).admit(requestOf({ headers: key }), ADMIN, { address: '127.0.0.1', port: 1 });
    expect(admit).toThrow('role admin');
  });
});

describe('a cookie from another origin', () => {
  const change = (headers: Record<string, string>, more: Scene = {}): Scene => ({
    endpoint: CHANGE,
    ...more,
    headers: { ...cookie, ...headers },
  });
  const origin = (text: string): Scene => change({ origin: text });
  const published = { settings: { 'server.public_url': 'https://svc.example.com' } };
  const behindTls = { 'x-forwarded-proto': 'https', host: 'svc.lan' };
  table([
    ['may read', { headers: { ...cookie, origin: 'http://evil.com' } }, 'cookie'],
    ['changes nothing without any sign of a browser', change({}), 'cross_origin'],
    ['our origin', change(own), 'cookie'],
    ['our origin, said to be cross-site', change({ ...own, 'sec-fetch-site': 'cross-site' }), 'cross_origin'],
    ['our origin by address while called by name', origin('http://127.0.0.1:8089'), 'cross_origin'],
    ['an origin that begins like ours', origin('http://localhost:8089.evil.com'), 'cross_origin'],
    ['an origin whose port begins like ours', origin('http://localhost:80890'), 'cross_origin'],
    ['an origin with ours as its user', origin('http://localhost:8089@evil.com'), 'cross_origin'],
    ['our origin with a path', origin('http://localhost:8089/'), 'cross_origin'],
    ['the null origin', origin('null'), 'cross_origin'],
    ['an empty origin', origin(''), 'cross_origin'],
    ['another port', origin('http://localhost:3000'), 'cross_origin'],
    ['another scheme', origin('https://localhost:8089'), 'cross_origin'],
    ['a subdomain', origin('http://evil.localhost:8089'), 'cross_origin'],
    ['two origins', origin('http://localhost:8089, http://evil.com'), 'cross_origin'],
    ['our page as referer', change({ referer: 'http://localhost:8089/boxes?x=1' }), 'cookie'],
    ['a referer that begins like us', change({ referer: 'http://localhost:8089.evil.com/' }), 'cross_origin'],
    [
      'a referer that contains us',
      change({ referer: 'http://evil.com/http://localhost:8089/' }),
      'cross_origin',
    ],
    ['a referer that is no URL', change({ referer: 'localhost:8089' }), 'cross_origin'],
    [
      'a foreign origin beside our referer',
      change({ origin: 'http://evil.com', referer: own.origin }),
      'cross_origin',
    ],
    ['same-origin alone', change({ 'sec-fetch-site': 'same-origin' }), 'cookie'],
    ['same-site', change({ 'sec-fetch-site': 'same-site' }), 'cross_origin'],
    ['none for a change', change({ 'sec-fetch-site': 'none' }), 'cross_origin'],
    ['none for a DELETE', change({ 'sec-fetch-site': 'none' }, { method: 'DELETE' }), 'cross_origin'],
    ['none for a GET', { headers: { ...cookie, 'sec-fetch-site': 'none' } }, 'cookie'],
    ['a WebSocket of our page', { endpoint: SOCKET, headers: { ...cookie, ...own } }, 'cookie'],
    [
      'a WebSocket of another page',
      { endpoint: SOCKET, headers: { ...cookie, origin: 'http://evil.com' } },
      'cross_origin',
    ],
    ['a WebSocket without an origin', { endpoint: SOCKET, headers: cookie }, 'cross_origin'],
    [
      'a WebSocket with none',
      { endpoint: SOCKET, headers: { ...cookie, 'sec-fetch-site': 'none' } },
      'cross_origin',
    ],
    ['a WebSocket with a key needs no origin', { endpoint: SOCKET, headers: key }, 'api-key'],
    ['a change with a key needs no origin', { endpoint: CHANGE, headers: key }, 'api-key'],
    [
      'the public URL, behind a proxy that hides the host',
      change({ origin: 'https://svc.example.com' }, published),
      'cookie',
    ],
    [
      'the public URL over plain HTTP',
      change({ origin: 'http://svc.example.com' }, published),
      'cross_origin',
    ],
    [
      'a host of ours behind TLS',
      change({ ...behindTls, origin: 'https://svc.lan' }, { settings: { 'server.hosts': ['svc.lan'] } }),
      'cookie',
    ],
    [
      'a wrong cookie is refused first',
      { endpoint: CHANGE, headers: { cookie: 'es_svc_session=no', origin: 'http://evil.com' } },
      'unauthenticated',
    ],
  ]);
});

describe('the same-origin step', () => {
  const local = (headers: Record<string, string>, more: Scene = {}): Scene => ({
    trusts: true,
    ...more,
    headers,
  });
  const ours = { 'sec-fetch-site': 'same-origin' };
  table([
    ['a page of ours', local(ours), 'same-origin'],
    ['a page of ours that changes something', local(own, { endpoint: CHANGE }), 'same-origin'],
    ['a page of ours, by referer', local({ referer: 'http://localhost:8089/' }), 'same-origin'],
    ['a typed address', local({ 'sec-fetch-site': 'none' }), 'same-origin'],
    [
      'a typed address cannot change anything',
      local({ 'sec-fetch-site': 'none' }, { endpoint: CHANGE }),
      'unauthenticated',
    ],
    ['a WebSocket of ours', local(own, { endpoint: SOCKET }), 'same-origin'],
    ['a WebSocket with none', local({ 'sec-fetch-site': 'none' }, { endpoint: SOCKET }), 'unauthenticated'],
    ['no browser', local({}), 'unauthenticated'],
    ['a page elsewhere', local({ origin: 'http://evil.com' }), 'unauthenticated'],
    ['a page that begins like ours', local({ referer: 'http://localhost:8089.evil.com' }), 'unauthenticated'],
    ['a page of ours when nobody is trusted', { headers: ours }, 'unauthenticated'],
    ['beside a wrong key', local({ ...ours, 'x-svc-api-key': 'no' }), 'unauthenticated'],
    ['beside a wrong cookie', local({ ...ours, cookie: 'es_svc_session=no' }), 'unauthenticated'],
    [
      'beside a bearer token that is not taken',
      local({ ...ours, authorization: 'Bearer x' }),
      'unauthenticated',
    ],
    ['beside a good cookie, whose person it is then', local({ ...ours, ...cookie }), 'cookie'],
    ['from another machine', local(ours, { peer: '10.0.0.9' }), 'unauthenticated'],
    ['from an unknown peer', local(ours, { peer: '' }), 'unauthenticated'],
    ['from ::1', local(ours, { peer: '::1' }), 'same-origin'],
    ['from 127.0.0.1 in IPv6 form', local(ours, { peer: '::ffff:127.0.0.1' }), 'same-origin'],
    ['from a process of another user', local(ours, { peerUid: 1001 }), 'unauthenticated'],
    ['from a process of root', local(ours, { peerUid: 0 }), 'unauthenticated'],
    ['from a peer whose port is not known', local(ours, { peerPort: 0 }), 'unauthenticated'],
    ['on a wildcard bind', local(ours, { settings: { 'server.host': '0.0.0.0' } }), 'unauthenticated'],
    ['on an IPv6 wildcard bind', local(ours, { settings: { 'server.host': '::' } }), 'unauthenticated'],
    [
      'on the bind of one address',
      local({ ...ours, host: '10.1.2.3:8089' }, { settings: { 'server.host': '10.1.2.3' } }),
      'unauthenticated',
    ],
    [
      'on an instance with a public URL',
      local(ours, { settings: { 'server.public_url': 'https://svc.example.com' } }),
      'unauthenticated',
    ],
    [
      'with a public URL on loopback',
      local(ours, { settings: { 'server.public_url': 'http://localhost:8089' } }),
      'same-origin',
    ],
    [
      'under a name of server.hosts',
      local({ ...ours, host: 'svc.lan' }, { settings: { 'server.hosts': ['svc.lan'] } }),
      'unauthenticated',
    ],
    ...[
      'x-forwarded-for',
      'x-forwarded-proto',
      'x-forwarded-host',
      'x-forwarded-anything',
      'forwarded',
      'x-real-ip',
      'via',
    ].map(
      (name) => [`through a proxy (${name})`, local({ ...ours, [name]: 'x' }), 'unauthenticated'] as const,
    ),
  ]);
});

describe('operations of signing in', () => {
  table([
    ['take anybody', { endpoint: SIGN_IN }, 'public'],
    ['take our page', { endpoint: SIGN_IN, headers: own }, 'public'],
    [
      'refuse a page elsewhere',
      { endpoint: SIGN_IN, headers: { origin: 'http://evil.com' } },
      'cross_origin',
    ],
    [
      'refuse a page of the same site',
      { endpoint: SIGN_IN, headers: { 'sec-fetch-site': 'same-site' } },
      'cross_origin',
    ],
    ['see who is signed in', { endpoint: WHO, headers: cookie }, 'cookie'],
    ['see a key', { endpoint: WHO, headers: key }, 'api-key'],
    ['do not mind a wrong cookie', { endpoint: SIGN_IN, headers: { cookie: 'es_svc_session=no' } }, 'public'],
    ['do not mind a cookie without an origin', { endpoint: SIGN_IN, headers: cookie }, 'public'],
    [
      'know a process of this user while nobody has registered',
      { endpoint: SIGN_IN, trusts: true },
      'public, local',
    ],
    ['do not take another user’s process for it', { endpoint: SIGN_IN, trusts: true, peerUid: 7 }, 'public'],
    [
      'do not take a proxy for it',
      { endpoint: SIGN_IN, trusts: true, headers: { forwarded: 'for=x' } },
      'public',
    ],
    ['know nobody as local once somebody has registered', { endpoint: SIGN_IN }, 'public'],
  ]);
});

describe('origins', () => {
  const hosts = fc.constantFrom(
    'localhost',
    '127.0.0.1',
    '[::1]',
    'svc.lan',
    'a.localhost',
    'localhost.evil.com',
  );
  const ports = fc.oneof(fc.constantFrom(80, 443, 8089, 80890), fc.integer({ min: 1, max: 65_535 }));
  const noise = fc.constantFrom(
    '',
    '',
    '',
    '/',
    '.evil.com',
    '@evil.com',
    '/x',
    '?',
    '#',
    ' ',
    ':1',
    '%20',
    '\\',
  );

  test('are the same only when scheme, host and port are', () => {
    const config = new Config({ flags: { 'data.dir': '/nonexistent' }, env: {} });
    const site = new Site(config);
    const request = new Request('http://localhost:8089/', { headers: { host: 'localhost:8089' } });
    fc.assert(
      fc.property(
        fc.constantFrom('http', 'https', 'HTTP', 'file'),
        hosts,
        ports,
        noise,
        (scheme, host, port, tail) => {
          const text = `${scheme}://${host}:${port}${tail}`;
          expect(site.isOwnOrigin(request, originOf(text) === text ? text : undefined)).toBe(
            text === 'http://localhost:8089',
          );
        },
      ),
      { numRuns: 5_000 },
    );
  });

  test('of any text never throw, and are origins without path or user', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.webUrl({ withQueryParameters: true })), (text) => {
        const origin = originOf(text);
        if (origin !== undefined) expect(origin).toMatch(/^https?:\/\/[^/@?#\s]+$/);
      }),
      { numRuns: 2_000 },
    );
  });
});
