import { expect, test } from 'bun:test';
import { isNavigation, readPresented } from './access.ts';

const read = (path: string, headers: Record<string, string> = {}) =>
  readPresented(new Request(`http://x.preview.localhost${path}`, { headers }));

test.each([
  ['/', '/', undefined],
  ['/a?b=1', '/a?b=1', undefined],
  ['/a?_preview_token=t', '/a', 't'],
  ['/a?b=%2F&_preview_token=t&c', '/a?b=%2F&c', 't'],
  ['/a?_preview_token=t&_preview_token=u', '/a', 't'],
  ['/a?x_preview_token=t', '/a?x_preview_token=t', undefined],
  ['/a?_preview_token', '/a', ''],
])('%s asks for %s with the token %j', (path, target, link) => {
  expect(read(path)).toMatchObject({ target, ...(link === undefined ? {} : { link }) });
  expect(read(path).link).toBe(link);
});

test('tokens count in the order address, header, cookies', () => {
  const headers = { 'x-svc-preview-token': 'b', cookie: 'svc_preview_frame=d; svc_preview=c; app=e' };
  expect(read('/?_preview_token=a', headers).tokens).toEqual(['a', 'b', 'c', 'd']);
});

test.each<[string, Record<string, string>, boolean]>([
  ['GET', { 'sec-fetch-mode': 'navigate' }, true],
  ['GET', { accept: 'text/html,*/*' }, true],
  ['GET', { accept: '*/*' }, false],
  ['GET', { 'sec-fetch-mode': 'cors', accept: 'text/html' }, false],
  ['POST', { 'sec-fetch-mode': 'navigate' }, false],
])('%s with %j goes to a page: %p', (method, headers, navigates) => {
  expect(isNavigation(new Request('http://x/', { method, headers }))).toBe(navigates);
});
