import { describe, expect, test } from 'bun:test';
import { Config } from '../../config/config.ts';
import { Site } from '../../http/gate/site.ts';
import { SessionCookie } from './cookie.ts';

function cookieFor(host: string, settings: Record<string, unknown> = {}): string {
  const config = new Config({ flags: { 'data.dir': '/nonexistent', ...settings }, env: {} });
  const headers = new Headers();
  const request = new Request('http://ignored.test/', { headers: { host } });
  new SessionCookie(config, new Site(config)).set(headers, request, 'token', 90_400);
  return headers.getSetCookie()[0] ?? '';
}

describe('the session cookie', () => {
  test.each([
    ['localhost:8089', false],
    ['app.localhost', false],
    ['127.0.0.1:8089', false],
    ['[::1]:8089', false],
    ['10.1.2.3', false],
    ['172.16.0.1', false],
    ['172.31.0.1', false],
    ['192.168.1.1:8089', false],
    ['100.64.0.1', false],
    ['172.32.0.1', true],
    ['100.128.0.1', true],
    ['8.8.8.8', true],
    ['svc.example.com', true],
    ['localhost.example.com', true],
  ])('under %s is Secure: %p', (host, isSecure) => {
    expect(cookieFor(host).includes('Secure')).toBe(isSecure);
  });

  test('has every property that is configured', () => {
    const settings = {
      'auth.cookie.name': 'sid',
      'auth.cookie.domain': 'example.com',
      'auth.cookie.same_site': 'Strict',
      'auth.cookie.http_only': false,
    };
    expect(cookieFor('svc.example.com', settings)).toBe(
      'sid=token; Domain=example.com; Path=/; Max-Age=90; Secure; SameSite=Strict',
    );
  });

  test.each([
    ['svc.example.com', {}, 'SameSite=None'],
    ['localhost', {}, 'SameSite=Lax'],
    ['svc.example.com', { 'auth.cookie.secure': false }, 'SameSite=Lax'],
  ])('with SameSite=None under %s and %p has %s', (host, settings, expected) => {
    expect(cookieFor(host, { ...settings, 'auth.cookie.same_site': 'None' })).toEndWith(expected);
  });
});
