import { networkInterfaces } from 'node:os';
import { fail } from '../../../src/errors/app-error.ts';
import type { Config } from '../../config/config.ts';
import { hostHeaders, hostName, isLoopback, isWildcard } from './addresses.ts';
import { remembered } from './remembered.ts';

/** How the sender of a request stands to this instance, by the headers that browsers set. */
export type Relation =
  /** A page of this instance. */
  | 'same'
  /** The user: typed address, bookmark. */
  | 'none'
  /** A page of another origin. */
  | 'cross'
  /** Nothing tells: no browser. */
  | 'unknown';

/** What this instance is called: the hosts that it answers for and the origins of its own pages. */
export class Site {
  private readonly current = remembered(
    () => {
      const publicUrl = parseUrl(this.config.get('server.public_url'));
      const isBoundLocally = isLoopback(this.config.get('server.host').toLowerCase());
      const isPublished = publicUrl !== undefined && !isLoopback(publicUrl.hostname);
      return {
        hosts: this.hosts(publicUrl),
        publicOrigin: publicUrl?.origin,
        isLocalOnly: isBoundLocally && !isPublished,
      };
    },
    () => this.port(),
  );

  /** `port` is the port that is listened on; `addresses` those of this machine. */
  constructor(
    private readonly config: Config,
    private readonly port: () => number = () => config.get('server.port'),
    private readonly addresses: () => readonly string[] = machineAddresses,
  ) {}

  /** Whether only this machine reaches the instance: bound to loopback, without a public URL that leads to it. */
  get isLocalOnly(): boolean {
    return this.current().isLocalOnly;
  }

  /**
   * The Host of a request. Errors: misdirected (421) when this instance does not answer for it, which is
   * what a page gets that has its own name point here (DNS rebinding).
   */
  hostOf(request: Request): string {
    const host = rawHost(request);
    if (!this.current().hosts.has(host)) throw fail('misdirected', { host });
    return host;
  }

  /** The host's name without port. */
  nameOf(request: Request): string {
    return hostName(rawHost(request));
  }

  /** Whether a whole origin (`http://localhost:8089`) is that of this instance's own pages. */
  isOwnOrigin(request: Request, origin: string | undefined): boolean {
    if (origin === undefined) return false;
    if (origin === this.current().publicOrigin) return true;
    const host = rawHost(request);
    if (origin === originOf(`http://${host}`)) return true;
    return isHttps(request) && origin === originOf(`https://${host}`);
  }

  /** Where a request comes from. Origin and Referer count as whole origins, never by their beginning. */
  relationOf(request: Request): Relation {
    const { headers } = request;
    const declared = headers.get('sec-fetch-site');
    if (declared !== null && declared !== 'same-origin' && declared !== 'none') return 'cross';
    const origin = headers.get('origin');
    if (origin !== null) return this.isOwnOrigin(request, wholeOrigin(origin)) ? 'same' : 'cross';
    const referer = headers.get('referer');
    if (referer !== null) return this.isOwnOrigin(request, originOf(referer)) ? 'same' : 'cross';
    if (declared === null) return 'unknown';
    return declared === 'same-origin' ? 'same' : 'none';
  }

  /** The address of this instance for links, without a slash at its end: server.public_url, else the one that was called. */
  baseUrl(request?: Request): string {
    const configured = this.config.get('server.public_url').replace(/\/+$/, '');
    if (configured !== '') return configured;
    if (request) return `${isHttps(request) ? 'https' : 'http'}://${rawHost(request)}`;
    const bound = this.config.get('server.host');
    const host = isWildcard(bound) || isLoopback(bound) ? 'localhost' : bound;
    return `http://${hostHeaders(host, this.port())[0]}`;
  }

  private hosts(publicUrl: URL | undefined): ReadonlySet<string> {
    const port = this.port();
    const hosts = new Set(this.boundHosts().flatMap((host) => hostHeaders(host, port)));
    for (const entry of this.config.get('server.hosts')) {
      hosts.add(entry.toLowerCase());
      if (!/:\d+$/.test(entry)) hosts.add(`${entry.toLowerCase()}:${port}`);
    }
    if (publicUrl) hosts.add(publicUrl.host);
    return hosts;
  }

  private boundHosts(): readonly string[] {
    const bound = this.config.get('server.host').toLowerCase();
    const loopback = ['localhost', '127.0.0.1', '::1'];
    if (isLoopback(bound)) return [...loopback, bound];
    return isWildcard(bound) ? [...loopback, ...this.addresses()] : [bound];
  }
}

/** The origin of a URL; undefined when it has none that a web page could have. */
export function originOf(url: string): string | undefined {
  const parsed = parseUrl(url);
  return parsed?.protocol === 'http:' || parsed?.protocol === 'https:' ? parsed.origin : undefined;
}

/** An Origin header that is one whole origin as browsers write it; undefined for `null` and anything else. */
function wholeOrigin(header: string): string | undefined {
  return originOf(header) === header ? header : undefined;
}

function rawHost(request: Request): string {
  return (request.headers.get('host') ?? parseUrl(request.url)?.host ?? '').toLowerCase();
}

/** Whether a proxy that ends TLS says that the browser speaks HTTPS. A page elsewhere cannot set this header. */
function isHttps(request: Request): boolean {
  return request.headers.get('x-forwarded-proto')?.startsWith('https') || request.url.startsWith('https:');
}

function parseUrl(text: string): URL | undefined {
  return text === '' ? undefined : (URL.parse(text) ?? undefined);
}

function machineAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map(({ address }) => address));
}
