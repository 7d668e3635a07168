/** Names of the header that carries an API key (spec, Credentials). */
export const KEY_HEADERS = ['x-svc-api-key', 'x-s-api-key'] as const;

/** Where stock clients of the Messages dialect send their key, in the header `x-api-key`. */
const MESSAGES_PATHS = ['/compat/anthropic/'] as const;

/** Where stock clients send their key as a bearer token: the compat surface and the MCP endpoint. */
const BEARER_PATHS = ['/compat/', '/mcp'] as const;

/** What a request says that proves its sender, unchecked. */
export type Credential =
  | { readonly kind: 'api-key'; readonly value: string }
  /** A bearer token where none is taken. */
  | { readonly kind: 'misplaced-bearer' }
  | { readonly kind: 'cookie'; readonly value: string };

/**
 * The credential of a request. One that the sender chose to send goes before the cookie, which browsers
 * send by themselves; only the first one counts. A bearer token counts under /compat, for MCP, and
 * elsewhere when `bearerEverywhere`; `x-api-key` counts in the Messages dialect.
 */
export function readCredential(
  request: Request,
  cookieName: string,
  bearerEverywhere: boolean,
): Credential | undefined {
  const { headers } = request;
  for (const name of KEY_HEADERS) {
    const value = headers.get(name);
    if (value !== null) return { kind: 'api-key', value };
  }
  const stockKey = headers.get('x-api-key');
  if (stockKey !== null && isAt(request, MESSAGES_PATHS)) return { kind: 'api-key', value: stockKey };
  const bearer = /^bearer(?: +(.*))?$/i.exec(headers.get('authorization') ?? '');
  if (bearer) {
    return bearerEverywhere || isAt(request, BEARER_PATHS)
      ? { kind: 'api-key', value: bearer[1] ?? '' }
      : { kind: 'misplaced-bearer' };
  }
  const value = readCookie(request, cookieName);
  return value ? { kind: 'cookie', value } : undefined;
}

/** The value of a cookie that a request carries; the first one when it is there twice (RFC 6265, 5.4). */
export function readCookie(request: Request, name: string): string | undefined {
  for (const pair of (request.headers.get('cookie') ?? '').split(';')) {
    const end = pair.indexOf('=');
    if (end > 0 && pair.slice(0, end).trim() === name) return pair.slice(end + 1).trim();
  }
  return undefined;
}

function isAt({ url }: Request, starts: readonly string[]): boolean {
  const path = url.indexOf('/', url.indexOf('//') + 2);
  return starts.some((start) => url.startsWith(start, path));
}
