import { readCookie } from '../../../../http/gate/credentials.ts';

/** The query parameter of a signed link (spec, Ports and preview URLs). */
const TOKEN_PARAMETER = '_preview_token';

/** The header that carries a signed token for callers without a browser. */
export const TOKEN_HEADER = 'x-svc-preview-token';

/** Our cookies at a preview host: the second one is for pages that are shown inside those of another site. */
export const PREVIEW_COOKIES = ['svc_preview', 'svc_preview_frame'] as const;

/** What a visitor presents, and the address without it. */
export interface Presented {
  /** The token in the address, when there is one. */
  readonly link: string | undefined;
  /** All tokens, the strongest first. */
  readonly tokens: readonly string[];
  /** Path and query without the token, as they were written. */
  readonly target: string;
}

/** Reads what a visitor presents. The target is never decoded and encoded again. */
export function readPresented(request: Request): Presented {
  const url = new URL(request.url);
  const isToken = (pair: string) => pair === TOKEN_PARAMETER || pair.startsWith(`${TOKEN_PARAMETER}=`);
  const pairs = url.search.slice(1).split('&');
  const link = pairs.find(isToken)?.slice(TOKEN_PARAMETER.length + 1);
  const rest = pairs.filter((pair) => !isToken(pair));
  const query = rest.length === pairs.length ? url.search : rest.length > 0 ? `?${rest.join('&')}` : '';
  const header = request.headers.get(TOKEN_HEADER) ?? undefined;
  const cookies = PREVIEW_COOKIES.map((name) => readCookie(request, name));
  const tokens = [link, header, ...cookies].filter(
    (token) => token !== undefined && token !== '',
  ) as string[];
  return { link, tokens, target: `${url.pathname}${query}` };
}

/** Whether a browser goes to this address, so that it can be sent on to the clean one. */
export function isNavigation(request: Request): boolean {
  if (request.method !== 'GET') return false;
  const mode = request.headers.get('sec-fetch-mode');
  return (
    mode === 'navigate' || (mode === null && (request.headers.get('accept') ?? '').includes('text/html'))
  );
}

/**
 * The cookies that stand for a link at its host, until it expires. Browsers keep them from scripts; the one for frames
 * goes where only a secure context may send it, which names under localhost are.
 */
export function accessCookies(token: string, seconds: number, isSecure: boolean, isLocal: boolean): string[] {
  const [plain, frame] = PREVIEW_COOKIES;
  const common = `Path=/; Max-Age=${Math.max(seconds, 1)}; HttpOnly`;
  return [
    `${plain}=${token}; ${common}; SameSite=Lax${isSecure ? '; Secure' : ''}`,
    ...(isSecure || isLocal ? [`${frame}=${token}; ${common}; SameSite=None; Secure; Partitioned`] : []),
  ];
}
