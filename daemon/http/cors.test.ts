import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { Cors, type CorsPolicy } from './cors.ts';
import type { Caller } from './route.ts';

const OFF: CorsPolicy = {
  enabled: false,
  allowedOrigins: ['https://app.example'],
  allowedMethods: ['GET', 'POST'],
  allowedHeaders: ['*'],
  exposedHeaders: ['x-request-id'],
  allowCredentials: false,
  maxAgeMs: 600_000,
};
const ON: CorsPolicy = { ...OFF, enabled: true };
const ANY: CorsPolicy = { ...ON, allowedOrigins: ['*'] };

const cors = (server: CorsPolicy, tenant: CorsPolicy = server) =>
  new Cors({ isOn: true, server, of: () => tenant });
const caller = (via: Caller['via']): Caller => ({ tenant: 'org_me', role: 'owner', actor: 'x', via });
const url = 'http://localhost:8089/v1/sandbox';

function preflight(policy: CorsPolicy, headers: Readonly<Record<string, string>>, method = 'OPTIONS') {
  const asked = { 'access-control-request-method': 'POST', ...headers };
  return cors(policy).preflight(new Request(url, { method, headers: asked }));
}

function marked(one: Cors, origin: string | undefined, who: Caller | undefined): Headers {
  const response = new Response('{}');
  one.mark(new Request(url, { headers: origin ? { origin } : {} }), response, who);
  return response.headers;
}

describe('a preflight', () => {
  test('of an allowed origin is told what it may do', () => {
    const headers = {
      origin: 'https://app.example',
      'access-control-request-headers': 'x-svc-api-key, content-type',
    };
    const response = preflight(ON, headers);
    expect(response?.status).toBe(204);
    expect(Object.fromEntries(response?.headers ?? [])).toEqual({
      'access-control-allow-origin': 'https://app.example',
      'access-control-allow-methods': 'GET, POST',
      'access-control-allow-headers': 'x-svc-api-key, content-type',
      'access-control-max-age': '600',
      vary: 'Origin, Access-Control-Request-Method, Access-Control-Request-Headers',
    });
  });

  test('of another origin gets no CORS headers and no error', () => {
    const response = preflight(ON, { origin: 'https://app.example.evil.com' });
    expect(response?.status).toBe(204);
    expect([...(response?.headers.keys() ?? [])]).toEqual(['vary']);
  });

  test('lists the headers that are allowed when they are named', () => {
    const policy = { ...ON, allowedHeaders: ['x-a', 'x-b'], allowedMethods: ['*'] };
    const headers = preflight(policy, { origin: 'https://app.example' })?.headers;
    expect(headers?.get('access-control-allow-headers')).toBe('x-a, x-b');
    expect(headers?.get('access-control-allow-methods')).toContain('DELETE');
  });

  test('with a list of headers that is none gets none back', () => {
    for (const asked of ['a b', 'a;b', ',', 'x'.repeat(5000)])
      expect(
        preflight(ON, {
          origin: 'https://app.example',
          'access-control-request-headers': asked,
        })?.headers.get('access-control-allow-headers'),
      ).toBeNull();
  });

  test('is left to others when the policy is off, or it is no preflight', () => {
    expect(preflight(OFF, { origin: 'https://app.example' })).toBeUndefined();
    expect(preflight(ON, { origin: 'https://app.example' }, 'POST')).toBeUndefined();
    expect(cors(ON).preflight(new Request(url, { method: 'OPTIONS' }))).toBeUndefined();
  });
});

describe('an answer', () => {
  const key = caller('api-key');

  test.each([
    ['https://app.example', 'https://app.example'],
    ['HTTPS://App.Example', 'HTTPS://App.Example'],
    ['https://app.example:443', null],
    ['https://app.example.evil.com', null],
    ['http://app.example', null],
    ['null', null],
  ])('to %s allows %p', (origin, allowed) => {
    const headers = marked(cors(ON), origin, key);
    expect(headers.get('access-control-allow-origin')).toBe(allowed);
    expect(headers.get('vary')).toBe('Origin');
    expect(headers.get('access-control-expose-headers')).toBe(allowed && 'x-request-id');
  });

  test('to anybody says so, and does not vary', () => {
    const headers = marked(cors(ANY), 'https://x.example', key);
    expect([headers.get('access-control-allow-origin'), headers.get('vary')]).toEqual(['*', null]);
  });

  test('never has * beside credentials: the origin itself stands there', () => {
    const headers = marked(cors({ ...ANY, allowCredentials: true }), 'https://x.example', key);
    expect(headers.get('access-control-allow-origin')).toBe('https://x.example');
    expect(headers.get('access-control-allow-credentials')).toBe('true');
    expect(headers.get('vary')).toBe('Origin');
  });

  test('that a cookie has signed in is for origins that are written out', () => {
    const cookie = caller('cookie');
    for (const policy of [ANY, { ...ANY, allowCredentials: true }])
      expect(marked(cors(policy), 'https://x.example', cookie).get('access-control-allow-origin')).toBeNull();
    const named = { ...ON, allowCredentials: true };
    expect(marked(cors(named), 'https://app.example', cookie).get('access-control-allow-credentials')).toBe(
      'true',
    );
  });

  test('follows the tenant when the caller is one’s member, else the instance', () => {
    const mixed = cors(ON, { ...ON, allowedOrigins: ['https://theirs.example'] });
    const allows = (origin: string, who?: Caller) =>
      marked(mixed, origin, who).get('access-control-allow-origin') !== null;
    expect([allows('https://theirs.example', key), allows('https://app.example', key)]).toEqual([
      true,
      false,
    ]);
    expect([allows('https://theirs.example'), allows('https://app.example')]).toEqual([false, true]);
    expect(allows('https://theirs.example', { ...caller('public'), tenant: '' })).toBe(false);
  });

  test('of a policy that is off is as it was', () => {
    const headers = marked(cors(OFF), 'https://app.example', key);
    expect([headers.has('vary'), headers.has('access-control-allow-origin')]).toEqual([false, false]);
  });

  test('without an origin is not allowed to any, but says that it varies', () => {
    expect(Object.fromEntries(marked(cors(ON), undefined, key))).toMatchObject({ vary: 'Origin' });
    expect(marked(cors(ON), undefined, key).get('access-control-allow-origin')).toBeNull();
  });
});

test('no policy ever answers * with credentials, or an origin that it does not have', () => {
  const origin = fc.constantFrom('https://a.example', 'https://b.example', 'http://a.example:81');
  const policy = fc.record({
    enabled: fc.boolean(),
    allowedOrigins: fc.array(fc.oneof(origin, fc.constant('*')), { maxLength: 3 }),
    allowCredentials: fc.boolean(),
  });
  const via = fc.constantFrom(...(['cookie', 'api-key', 'same-origin'] as const));
  fc.assert(
    fc.property(policy, origin, via, (some, from, how) => {
      const rules = { ...OFF, ...some };
      const headers = marked(cors(rules), from, caller(how));
      const allowed = headers.get('access-control-allow-origin');
      const isListed = rules.allowedOrigins.includes(from);
      const isAny = rules.allowedOrigins.includes('*') && how !== 'cookie';
      expect(allowed !== null).toBe(rules.enabled && (isListed || isAny));
      if (headers.has('access-control-allow-credentials')) expect(allowed).toBe(from);
    }),
  );
});
