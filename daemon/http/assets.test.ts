import { describe, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { assetResponse } from './assets.ts';

const get = (path: string) => assetResponse(new Request(`http://localhost${path}`));

describe.each(['/', '/accept-invite?token=x', '/auth/callback?code=c&state=s'])('the page %s', (path) => {
  test('lets its own script run and no other', async () => {
    const response = get(path);
    const script = /<script>([\s\S]*?)<\/script>/.exec((await response?.text()) ?? '')?.[1] ?? '';
    const hash = createHash('sha256').update(script).digest('base64');
    expect(response?.headers.get('content-security-policy')).toContain(`script-src 'sha256-${hash}'`);
    expect(script).not.toBe('');
  });

  test('fetches nothing from elsewhere', async () => {
    expect(await get(path)?.text()).not.toMatch(/(src|href)="(https?:)?\/\//);
  });
});

test('style and icon are served', async () => {
  expect(get('/style.css')?.headers.get('content-type')).toStartWith('text/css');
  expect(await get('/style.css')?.text()).toContain('body {');
  expect(get('/favicon.ico')?.headers.get('content-type')).toBe('image/svg+xml');
});

test('what is no page is left to the API', () => {
  expect(get('/other')).toBeUndefined();
  expect(assetResponse(new Request('http://localhost/', { method: 'POST' }))).toBeUndefined();
});
