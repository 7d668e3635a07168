import { createHash } from 'node:crypto';
import acceptInvite from '../../web/accept-invite.html' with { type: 'text' };
import authCallback from '../../web/auth-callback.html' with { type: 'text' };
import icon from '../../web/favicon.svg' with { type: 'text' };
import home from '../../web/index.html' with { type: 'text' };
import style from '../../web/style.css' with { type: 'text' };

/** The pages by their path. HTML has a type of its own in Bun, but is imported as text here. */
const PAGES: Readonly<Record<string, string>> = {
  '/': home as unknown as string,
  '/accept-invite': acceptInvite as unknown as string,
  '/auth/callback': authCallback as unknown as string,
};

const FILES: Readonly<Record<string, { readonly body: string; readonly type: string }>> = {
  '/style.css': { body: style, type: 'text/css; charset=utf-8' },
  '/favicon.ico': { body: icon, type: 'image/svg+xml' },
};

/**
 * The page or file at a path; undefined for any other. They need nothing from elsewhere, and the policy of a
 * page lets only its own script run.
 */
export function assetResponse(request: Request): Response | undefined {
  if (request.method !== 'GET' && request.method !== 'HEAD') return undefined;
  const { pathname } = new URL(request.url);
  const page = PAGES[pathname];
  if (page !== undefined) return new Response(page, { headers: pageHeaders(page) });
  const file = FILES[pathname];
  return file && new Response(file.body, { headers: { 'content-type': file.type } });
}

function pageHeaders(page: string): Record<string, string> {
  const script = /<script>([\s\S]*?)<\/script>/.exec(page)?.[1] ?? '';
  const hash = createHash('sha256').update(script).digest('base64');
  const policy = [
    "default-src 'none'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    `script-src 'sha256-${hash}'`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ];
  return {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': policy.join('; '),
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'same-origin',
  };
}
