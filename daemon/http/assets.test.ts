import { expect, test } from 'bun:test';
import { homeResponse } from './assets.ts';

test('the start page is at / alone, and its policy lets only its own script run', async () => {
  const response = homeResponse(new Request('http://localhost/'));
  expect(await response?.text()).toContain('is running');
  expect(response?.headers.get('content-security-policy')).toMatch(/script-src 'sha256-[\w+/=]{44}'/);
  expect(homeResponse(new Request('http://localhost/other'))).toBeUndefined();
  expect(homeResponse(new Request('http://localhost/', { method: 'POST' }))).toBeUndefined();
});

test('the start page fetches nothing from elsewhere', async () => {
  const html = await homeResponse(new Request('http://localhost/'))?.text();
  expect(html).not.toMatch(/(src|href)="(https?:)?\/\//);
});
