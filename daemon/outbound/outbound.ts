import type { Duplex } from 'node:stream';
import { AppError } from '../../src/errors/app-error.ts';
import { MINUTE_MS } from '../../src/kit/time.ts';
import type { Config } from '../config/config.ts';
import type { Log } from '../log/log.ts';
import { parseAllow } from './allow.ts';
import { type Connector, connect, isConnectFailure, type Message } from './connector.ts';
import { type Dialer, dial } from './dialer.ts';
import { aborted, connectionError, resolutionError } from './failure.ts';
import { isBlockedPort } from './ports.ts';
import { type Answer, createResolver, type Lookup, type Resolver, systemLookup } from './resolver.ts';
import { parseAuthority, parseTarget, refusal, type Target } from './target.ts';

/** How far the address of a call is trusted. */
export type Trust =
  /** The owner of the instance wrote it in its configuration: any address but link-local and a cloud's metadata service. */
  | 'operator'
  /** A tenant sent it: public addresses only, and what `outbound.allow` names. */
  | 'tenant';

/** One call to the outside. */
export interface OutboundRequest {
  readonly url: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | ReadableStream<Uint8Array>;
  readonly signal?: AbortSignal;
  readonly trust: Trust;
  /** The request field that the address came from, for the error. */
  readonly field: string;
  /** Longest silence before and inside the answer, in milliseconds, kept to about 8 s; a minute when absent. */
  readonly idleTimeoutMs?: number;
}

/** One connection to the outside, for protocols and programs that speak for themselves. */
export interface OutboundConnection {
  /** `name:port`, `192.0.2.1:443` or `[2001:db8::1]:443`. */
  readonly authority: string;
  readonly trust: Trust;
  /** The request field that the address came from, for the error. */
  readonly field: string;
  readonly signal?: AbortSignal;
}

/**
 * The one way out of the machine. Resolves the name once, refuses addresses that are not allowed,
 * connects to exactly that address, follows no redirects, fails closed when a name cannot be resolved.
 * The body of the answer streams, and is not decompressed.
 * Errors: outbound_refused, upstream_failed, upstream_timeout, cancelled.
 */
export interface Outbound {
  fetch(request: OutboundRequest): Promise<Response>;
  /** A TCP connection under the same rules; what travels on it is the caller's. */
  connect(connection: OutboundConnection): Promise<Duplex>;
}

/** What the guard stands on; the system's own when absent. */
export interface OutboundParts {
  readonly lookup?: Lookup;
  readonly connect?: Connector;
  readonly dial?: Dialer;
  readonly now?: () => number;
}

/** Headers that belong to one connection, or that frame the message: they are set here, never by a caller. */
const OWN_HEADERS = new Set([
  'host',
  'connection',
  'content-length',
  'transfer-encoding',
  'upgrade',
  'keep-alive',
  'te',
  'trailer',
  'expect',
  'proxy-authorization',
  'proxy-connection',
]);

/** Makes the way out. Errors: invalid_argument when `outbound.allow` cannot be read. */
export function createOutbound(config: Pick<Config, 'get'>, log: Log, parts: OutboundParts = {}): Outbound {
  parseAllow(config.get('outbound.allow'));
  const resolver = createResolver(parts.lookup ?? systemLookup, parts.now ?? Date.now);
  const call = new Calls(resolver, parts.connect ?? connect, parts.dial ?? dial, config);
  const telling = <T>({ trust }: { trust: Trust }, work: Promise<T>): Promise<T> =>
    work.catch((error: unknown) => {
      if (error instanceof AppError && error.code === 'outbound_refused')
        log.warn('outbound call refused', { ...error.data, trust });
      throw error;
    });
  return {
    fetch: (request) => telling(request, call.make(request)),
    connect: (connection) => telling(connection, call.open(connection)),
  };
}

/** What is judged of a call or a connection. */
type Judged = Pick<OutboundRequest, 'trust' | 'field' | 'signal'>;

/** Addresses whose reading is remembered. */
const MOST_TARGETS = 256;

class Calls {
  private readonly targets = new Map<string, Target>();

  constructor(
    private readonly resolver: Resolver,
    private readonly connect: Connector,
    private readonly dial: Dialer,
    private readonly config: Pick<Config, 'get'>,
  ) {}

  async make(request: OutboundRequest): Promise<Response> {
    const target = this.targetOf(request);
    const message = compose(request, target);
    const answers = this.resolver.known(target.host) ?? (await this.resolve(request, target));
    this.check(request, target, answers);
    return this.send(target, answers, message);
  }

  /** Providers are called at the same few addresses, whose reading costs more than finding them again. */
  private targetOf(request: OutboundRequest): Target {
    const known = this.targets.get(request.url);
    if (known) return known;
    const target = parseTarget(request);
    if (this.targets.size >= MOST_TARGETS) this.targets.clear();
    this.targets.set(request.url, target);
    return target;
  }

  async open(connection: OutboundConnection): Promise<Duplex> {
    const target = parseAuthority(connection);
    const answers = await this.resolve(connection, target);
    this.check(connection, target, answers);
    return this.reach(target, answers, connection.signal);
  }

  private async reach(
    target: Target,
    answers: readonly Answer[],
    signal: AbortSignal | undefined,
  ): Promise<Duplex> {
    let failure: unknown;
    for (const [index, { address }] of answers.entries()) {
      try {
        const stream = await this.dial(address, target.port, signal);
        if (index > 0) this.resolver.prefer(target.host, address);
        return stream;
      } catch (error) {
        failure = error;
        if (signal?.aborted) break;
      }
    }
    throw connectionError(failure, target, signal);
  }

  private async resolve({ signal }: Judged, target: Target): Promise<readonly Answer[]> {
    try {
      return await unlessAborted(this.resolver.resolve(target.host), signal);
    } catch (error) {
      if (signal?.aborted) throw aborted(signal, target);
      throw resolutionError(error, target);
    }
  }

  private check(request: Judged, target: Target, answers: readonly Answer[]): void {
    const refuse = (why: string) => refusal(request, target.shown, why);
    if (answers.some(({ reach }) => reach === 'forbidden'))
      throw refuse('it leads to a link-local or metadata address');
    if (request.trust === 'operator') return;
    const allowed = parseAllow(this.config.get('outbound.allow'));
    const outside = answers.filter(({ address }) => !allowed({ ...target, address }));
    if (outside.some(({ reach }) => reach !== 'public'))
      throw refuse('it leads to an address that is not public; the owner can name it in outbound.allow');
    if (outside.length > 0 && isBlockedPort(target.port))
      throw refuse(`port ${target.port} belongs to another protocol`);
  }

  private async send(target: Target, answers: readonly Answer[], message: Message): Promise<Response> {
    let failure: unknown;
    for (const [index, { address }] of answers.entries()) {
      try {
        const response = await this.connect(target, address, message);
        if (index > 0) this.resolver.prefer(target.host, address);
        return response;
      } catch (error) {
        failure = error;
        if (message.body instanceof ReadableStream || !isConnectFailure(error)) break;
      }
    }
    throw connectionError(failure, target, message.signal);
  }
}

function compose(request: OutboundRequest, target: Target): Message {
  const { method = 'GET', body, signal, trust, idleTimeoutMs = MINUTE_MS } = request;
  return {
    method,
    headers: headersOf(request, target),
    body,
    signal,
    idleTimeoutMs,
    keepAlive: trust === 'operator',
  };
}

function headersOf(request: OutboundRequest, target: Target): Headers {
  try {
    const headers = new Headers(request.headers);
    if (!headers.has('user-agent')) headers.set('user-agent', 'svc');
    for (const name of Object.keys(request.headers ?? {}))
      if (OWN_HEADERS.has(name.toLowerCase())) headers.delete(name);
    return headers;
  } catch {
    throw refusal(request, target.shown, 'a header that goes with it is not valid');
  }
}

function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return work;
  const { promise, reject } = Promise.withResolvers<never>();
  const leave = () => reject(signal.reason);
  if (signal.aborted) leave();
  signal.addEventListener('abort', leave, { once: true });
  return Promise.race([work, promise]).finally(() => signal.removeEventListener('abort', leave));
}
