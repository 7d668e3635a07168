import { AppError } from '../../src/errors/app-error.ts';
import type { OutboundRequest } from './outbound.ts';

/** The address of a call, read once; nothing reads the text again. */
export interface Target {
  readonly protocol: 'http:' | 'https:';
  /** Lower-case name without the dot at its end, or an address without brackets. */
  readonly host: string;
  readonly port: number;
  /** Value of the Host header. */
  readonly authority: string;
  /** Path and query. */
  readonly path: string;
  /** For people: without query and credentials. */
  readonly shown: string;
}

const DEFAULT_PORTS = { 'http:': 80, 'https:': 443 } as const;

/** Reads the URL of a call by the WHATWG URL Standard. Errors: outbound_refused. */
export function parseTarget(request: Pick<OutboundRequest, 'url' | 'field'>): Target {
  const url = URL.parse(request.url);
  if (!url) throw refusal(request, 'The address', 'it is not a URL');
  const { protocol } = url;
  const shown = `${protocol}//${url.host}${url.pathname}`;
  if (protocol !== 'http:' && protocol !== 'https:')
    throw refusal(request, `An address with ${protocol}`, 'only http and https are');
  if (url.username || url.password) throw refusal(request, shown, 'it contains credentials');
  const host = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  if (host.split('.').includes('')) throw refusal(request, shown, 'its host name is not valid');
  const port = url.port === '' ? DEFAULT_PORTS[protocol] : Number(url.port);
  if (port === 0) throw refusal(request, shown, 'port 0 does not exist');
  const path = url.pathname + url.search;
  return { protocol, host, port, authority: authorityOf(url, host), path, shown };
}

/** Reads `host:port` as the host of a URL is read, so that every spelling of an address is judged alike. Errors: outbound_refused. */
export function parseAuthority({ authority, field }: { authority: string; field: string }): Target {
  if (!/^[^\s/?#@\\]+:\d{1,5}$/.test(authority))
    throw refusal({ field }, 'The address', 'it is no host with a port');
  const target = parseTarget({ url: `http://${authority}/`, field });
  return {
    ...target,
    shown: `${target.host.includes(':') ? `[${target.host}]` : target.host}:${target.port}`,
  };
}

/** The error of a call that may not be made. */
export function refusal({ field }: { field: string }, url: string, why: string): AppError {
  return new AppError('outbound_refused', { url, why, field }, [{ field, description: why }]);
}

/** The URL that leads to one address of the target. */
export function pinnedUrl({ protocol, port, path }: Target, address: string): string {
  return `${protocol}//${address.includes(':') ? `[${address}]` : address}:${port}${path}`;
}

function authorityOf(url: URL, host: string): string {
  const bracketed = host.includes(':') ? `[${host}]` : host;
  return url.port === '' ? bracketed : `${bracketed}:${url.port}`;
}
