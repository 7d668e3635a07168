import { createHash } from 'node:crypto';
import icon from '../../web/favicon.svg' with { type: 'text' };
import home from '../../web/index.html' with { type: 'text' };

const PAGE = home as unknown as string;

/** The inline script of the page by its hash, so that no other script can run. */
const SCRIPT_HASH = createHash('sha256')
  .update(/<script>([\s\S]*?)<\/script>/.exec(PAGE)?.[1] ?? '')
  .digest('base64');

const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': `default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-${SCRIPT_HASH}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'same-origin',
};

/** The start page and the icon; undefined for any other path. They need nothing from elsewhere. */
export function homeResponse(request: Request): Response | undefined {
  if (request.method !== 'GET' && request.method !== 'HEAD') return undefined;
  const { pathname } = new URL(request.url);
  if (pathname === '/') return new Response(PAGE, { headers: HEADERS });
  if (pathname === '/favicon.ico')
    return new Response(icon, { headers: { 'content-type': 'image/svg+xml' } });
  return undefined;
}
