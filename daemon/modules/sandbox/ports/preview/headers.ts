import { PREVIEW_COOKIES, TOKEN_HEADER } from './access.ts';

/** Headers of one connection, not of what it carries (RFC 9110, 7.6.1). */
const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Headers that tell the sandbox something that is none of its business, or that are made anew. */
const KEPT_FROM_BOX = new Set([
  'content-length',
  'expect',
  'forwarded',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-forwarded-port',
  'x-real-ip',
  'x-svc-api-key',
  'x-s-api-key',
  'x-svc-setup-token',
  TOKEN_HEADER,
]);

/** Headers by which a page could reach beyond its own host. */
const KEPT_FROM_BROWSER = new Set(['alt-svc', 'clear-site-data', 'public-key-pins']);

/** What is said to the sandbox about the visitor. */
export interface Visitor {
  readonly address: string;
  readonly isSecure: boolean;
  /** Whether a proxy in front may say on whose behalf it asks. */
  readonly isBehindProxy: boolean;
}

/** Cookies of this instance; they never go to a sandbox and never come from one. */
export interface OwnCookies {
  has(name: string): boolean;
}

/** The instance's own cookies, whatever their case and prefix. `session` is the name of its session cookie. */
export function ownCookies(session: string): OwnCookies {
  const names = new Set([session, ...PREVIEW_COOKIES].map((name) => name.toLowerCase()));
  return {
    has: (name) =>
      names.has(
        name
          .trim()
          .toLowerCase()
          .replace(/^__(host|secure)-/, ''),
      ),
  };
}

/** The headers of a request as the sandbox gets them: all of the app's, none of this instance's. */
export function toBox(request: Request, visitor: Visitor, own: OwnCookies): Record<string, string> {
  const listed = connectionNames(request.headers);
  const headers: Record<string, string> = {};
  for (const [name, value] of request.headers)
    if (!HOP_BY_HOP.has(name) && !KEPT_FROM_BOX.has(name) && !listed.has(name)) headers[name] = value;
  if (headers.cookie !== undefined) setOrDrop(headers, 'cookie', foreignCookies(headers.cookie, own));
  if (/^bearer +s_/i.test(headers.authorization ?? '')) delete headers.authorization;
  const before = visitor.isBehindProxy ? request.headers.get('x-forwarded-for') : null;
  setOrDrop(headers, 'x-forwarded-for', [before, visitor.address].filter(Boolean).join(', '));
  headers['x-forwarded-host'] = headers.host ?? '';
  headers['x-forwarded-proto'] = visitor.isSecure ? 'https' : 'http';
  return headers;
}

/** How long the body of a request is, as the sandbox is told; one way only, so that both ends agree (RFC 9112, 6.3). */
export function framing(request: Request): Record<string, string> {
  const { headers, body, method } = request;
  const length = headers.get('content-length');
  if (headers.has('transfer-encoding') || (body && length === null))
    return { 'transfer-encoding': 'chunked' };
  if (length !== null && /^\d+$/.test(length)) return { 'content-length': length };
  return ['POST', 'PUT', 'PATCH'].includes(method) ? { 'content-length': '0' } : {};
}

/** The headers of an answer as the browser gets them. `raw` alternates names and values. */
export function toBrowser(raw: readonly string[], host: string, own: OwnCookies): Headers {
  const headers = new Headers();
  const pairs = Array.from(
    { length: raw.length / 2 },
    (_, i) => [(raw[i * 2] ?? '').toLowerCase(), raw[i * 2 + 1] ?? ''] as const,
  );
  const listed = new Set(
    pairs.filter(([name]) => name === 'connection').flatMap(([, value]) => words(value)),
  );
  for (const [name, value] of pairs) {
    if (HOP_BY_HOP.has(name) || KEPT_FROM_BROWSER.has(name) || listed.has(name)) continue;
    const shown = name === 'set-cookie' ? hostCookie(value, host, own) : value;
    if (shown !== undefined) appendSafely(headers, name, shown);
  }
  // The host has the token in it, and is not to be told to the sites that a page links to.
  if (!headers.has('referrer-policy')) headers.set('referrer-policy', 'same-origin');
  return headers;
}

/** A cookie that stays at its host: without a Domain, and none that has the name of one of ours. */
function hostCookie(value: string, host: string, own: OwnCookies): string | undefined {
  const [pair = '', ...attributes] = value.split(';');
  if (own.has(pair.split('=')[0] ?? '')) return undefined;
  const kept = attributes.filter((attribute) => {
    const [name = '', domain = ''] = attribute.split('=');
    if (name.trim().toLowerCase() !== 'domain') return true;
    return domain.trim().toLowerCase().replace(/^\./, '') === host;
  });
  return [pair, ...kept].join(';');
}

function foreignCookies(value: string, own: OwnCookies): string {
  return value
    .split(';')
    .filter((pair) => !own.has(pair.split('=')[0] ?? ''))
    .map((pair) => pair.trim())
    .join('; ');
}

function connectionNames(headers: Headers): ReadonlySet<string> {
  return new Set(words(headers.get('connection') ?? ''));
}

function words(value: string): string[] {
  return value.split(',').map((word) => word.trim().toLowerCase());
}

function setOrDrop(headers: Record<string, string>, name: string, value: string): void {
  if (value === '') delete headers[name];
  else headers[name] = value;
}

/** A header that HTTP/1.1 knows and Headers does not take is left out. */
function appendSafely(headers: Headers, name: string, value: string): void {
  try {
    headers.append(name, value);
  } catch {
    // Bytes that no header may have: the rest of the answer is still good.
  }
}
