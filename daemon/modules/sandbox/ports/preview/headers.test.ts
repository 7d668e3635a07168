import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { framing, ownCookies, toBox, toBrowser } from './headers.ts';

const own = ownCookies('es_svc_session');
const HOST = '3000-x.preview.localhost';
const near = { address: '127.0.0.1', isSecure: false, isBehindProxy: false };

function request(headers: Record<string, string>, init: RequestInit = {}): Request {
  return new Request('http://x/', { ...init, headers: { host: `${HOST}:8089`, ...headers } });
}

describe('to the sandbox', () => {
  test.each([
    'x-svc-api-key',
    'x-s-api-key',
    'x-svc-preview-token',
    'x-svc-setup-token',
    'connection',
    'keep-alive',
    'te',
    'upgrade',
    'proxy-authorization',
    'expect',
    'forwarded',
    'x-real-ip',
  ])('%s does not go', (name) => {
    expect(toBox(request({ [name]: 'value' }), near, own)).not.toHaveProperty(name);
  });

  test.each([
    ['Bearer s_abc', undefined],
    ['bearer  s_abc', undefined],
    ['Bearer eyJ0', 'Bearer eyJ0'],
    ['Basic YTpi', 'Basic YTpi'],
  ])('of Authorization %j goes %j', (given, seen) => {
    expect(toBox(request({ authorization: given }), near, own).authorization).toBe(seen);
  });

  test('a header that Connection names does not go', () => {
    const seen = toBox(request({ connection: 'close, X-One', 'x-one': '1', 'x-two': '2' }), near, own);
    expect(seen).not.toHaveProperty('x-one');
    expect(seen).toHaveProperty('x-two', '2');
  });

  test('whom a proxy asks for is kept behind one, and what anybody says about it is not without one', () => {
    const given = request({ 'x-forwarded-for': '192.0.2.1' });
    expect(toBox(given, near, own)['x-forwarded-for']).toBe('127.0.0.1');
    const far = { address: '10.0.0.1', isSecure: true, isBehindProxy: true };
    expect(toBox(given, far, own)).toMatchObject({
      'x-forwarded-for': '192.0.2.1, 10.0.0.1',
      'x-forwarded-proto': 'https',
    });
  });

  test('no cookie of ours goes, whatever stands around it; the others do', () => {
    const names = fc.constantFrom(
      'es_svc_session',
      'ES_svc_session',
      '__Host-es_svc_session',
      'svc_preview',
      'svc_preview_frame',
      'app',
      'svc',
      'preview',
    );
    const spaces = fc.constantFrom('', ' ', '  ');
    const pair = fc.record({ name: names, before: spaces, after: spaces });
    fc.assert(
      fc.property(fc.array(pair, { minLength: 1 }), (pairs) => {
        const cookie = pairs.map(({ name, before, after }) => `${before}${name}${after}=v`).join(';');
        const seen = toBox(request({ cookie }), near, own).cookie ?? '';
        expect(seen).not.toMatch(/es_svc_session|svc_preview/i);
        const kept = pairs.filter(({ name }) => ['app', 'svc', 'preview'].includes(name)).length;
        expect(seen === '' ? 0 : seen.split(';').length).toBe(kept);
      }),
    );
  });
});

describe('the length of a body', () => {
  test.each<[string, Record<string, string>, string | undefined, Record<string, string>]>([
    ['GET', {}, undefined, {}],
    ['POST', {}, undefined, { 'content-length': '0' }],
    ['POST', { 'content-length': '3' }, 'abc', { 'content-length': '3' }],
    ['POST', {}, 'abc', { 'transfer-encoding': 'chunked' }],
    [
      'POST',
      { 'transfer-encoding': 'chunked', 'content-length': '3' },
      'abc',
      { 'transfer-encoding': 'chunked' },
    ],
    ['DELETE', {}, 'abc', { 'transfer-encoding': 'chunked' }],
    ['POST', { 'content-length': '+3' }, undefined, { 'content-length': '0' }],
  ])('of %s with %j and body %j is said as %j', (method, headers, body, said) => {
    expect(framing(request(headers, { method, body }))).toEqual(said);
  });
});

describe('to the browser', () => {
  const shown = (...raw: string[]) => toBrowser(raw, HOST, own);

  test.each([
    ['app=1', 'app=1'],
    ['app=1; Path=/; Secure', 'app=1; Path=/; Secure'],
    ['app=1; Domain=preview.localhost; Path=/', 'app=1; Path=/'],
    ['app=1; domain = .localhost', 'app=1'],
    [`app=1; Domain=${HOST}`, `app=1; Domain=${HOST}`],
    ['app=1; Domain=other.preview.localhost', 'app=1'],
    ['es_svc_session=1', null],
    [' ES_SVC_SESSION =1; Domain=localhost', null],
    ['__Secure-es_svc_session=1', null],
    ['svc_preview_frame=1', null],
  ])('of the cookie %j goes %j', (given, seen) => {
    expect(shown('Set-Cookie', given).get('set-cookie')).toBe(seen);
  });

  test('headers of the connection stay, those of the application go on, in their order and number', () => {
    const headers = shown(
      'Connection',
      'X-Hop',
      'X-Hop',
      '1',
      'Link',
      'a',
      'Link',
      'b',
      'Clear-Site-Data',
      '"*"',
      'Transfer-Encoding',
      'chunked',
    );
    expect([...headers]).toEqual([
      ['link', 'a, b'],
      ['referrer-policy', 'same-origin'],
    ]);
  });

  test('a policy of the application about referrers holds', () => {
    expect(shown('Referrer-Policy', 'no-referrer').get('referrer-policy')).toBe('no-referrer');
  });

  test('a header that cannot be is left out', () => {
    const headers = shown('X-A', 'a\nb', 'X-B', 'b');
    expect([headers.has('x-a'), headers.get('x-b')]).toEqual([false, 'b']);
  });
});
