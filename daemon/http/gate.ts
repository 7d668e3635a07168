import { type Endpoint, ROLES } from '../../src/api/endpoint.ts';
import { AppError, fail } from '../../src/errors/app-error.ts';
import type { Config } from '../config/config.ts';
import { readCredential } from './gate/credentials.ts';
import { isLocalPeer, type LocalProof, machineProof, type Peer } from './gate/local-peer.ts';
import { remembered } from './gate/remembered.ts';
import { Site } from './gate/site.ts';
import type { Caller } from './route.ts';

/** Decides who may pass. */
export interface Gate {
  /**
   * The caller of a request, in the order of the spec (Authentication, Order of checks).
   * Errors: misdirected (Host not ours), cross_origin, unauthenticated, forbidden (role too weak).
   * `peer` is the other end of the socket; without its port nobody on Linux is taken as local.
   */
  admit(request: Request, endpoint: Endpoint, peer: Peer): Caller | Promise<Caller>;
  /** Refuses a Host header that is not this instance's: misdirected (421). For what has no endpoint. */
  checkHost(request: Request): void;
}

/** Knows the credentials. The answers hold at once after every change. */
export interface Authenticator {
  /** The caller of an API key; undefined when no live key is that. Does not touch the database. */
  byApiKey(key: string): Caller | undefined;
  /** The caller of a session token; undefined when no live session has it. */
  bySession(token: string): Caller | undefined;
  /** Who a browser on this machine is without a login: somebody only while nobody has registered, or by auth.local_trust. */
  local(): Caller | undefined;
}

/** What the gate takes from its surroundings, besides the settings. */
export interface GateOptions {
  /** The port that is listened on; `server.port` when absent. */
  readonly port?: () => number;
  readonly site?: Site;
  readonly proof?: LocalProof;
}

/** The caller of a public operation that proves nothing. */
const VISITOR: Caller = Object.freeze({ tenant: '', role: 'viewer', actor: 'public', via: 'public' });

/** Makes the gate of an instance. A change of its settings holds within a second. */
export function createGate(config: Config, authenticator: Authenticator, options: GateOptions = {}): Gate {
  const port = options.port ?? (() => config.get('server.port'));
  const site = options.site ?? new Site(config, port);
  return new RequestGate(config, authenticator, site, options.proof ?? machineProof(port));
}

class RequestGate implements Gate {
  private readonly settings = remembered(() => ({
    cookieName: this.config.get('auth.cookie.name'),
    bearerEverywhere: this.config.get('auth.bearer_on_v1'),
  }));

  constructor(
    private readonly config: Config,
    private readonly authenticator: Authenticator,
    private readonly site: Site,
    private readonly proof: LocalProof,
  ) {}

  admit(request: Request, endpoint: Endpoint, peer: Peer): Caller {
    this.checkHost(request);
    if (endpoint.access === 'public') return this.visitor(request, endpoint, peer);
    const caller = this.identify(request, endpoint, peer);
    if (!caller) throw fail('unauthenticated', { message: 'This operation needs a credential.' });
    if (ROLES.indexOf(caller.role) < ROLES.indexOf(endpoint.access))
      throw fail('forbidden', { need: endpoint.access });
    return caller;
  }

  checkHost(request: Request): void {
    this.site.hostOf(request);
  }

  /** Who a request proves to be; undefined when it presents nothing. A wrong credential is an error. */
  private identify(request: Request, endpoint: Endpoint, peer: Peer): Caller | undefined {
    const { cookieName, bearerEverywhere } = this.settings();
    const credential = readCredential(request, cookieName, bearerEverywhere);
    if (!credential) return this.trusted(request, endpoint, peer);
    if (credential.kind === 'misplaced-bearer') {
      throw fail('unauthenticated', {
        message: 'A bearer token is not taken here; an API key goes in the header x-svc-api-key.',
      });
    }
    const { kind, value } = credential;
    const caller =
      kind === 'cookie' ? this.authenticator.bySession(value) : this.authenticator.byApiKey(value);
    if (!caller) throw fail('unauthenticated', { message: REFUSED[kind] });
    if (kind === 'cookie') this.requireSameOrigin(request, endpoint);
    return caller;
  }

  /** Browsers add the cookie to what other sites make them send, so a change must come from our own page. */
  private requireSameOrigin(request: Request, endpoint: Endpoint): void {
    if (!isRead(request, endpoint) && this.site.relationOf(request) !== 'same') throw fail('cross_origin');
  }

  /** The same-origin step: a page of ours, or the user's own navigation, in a browser of this user on this machine. */
  private trusted(request: Request, endpoint: Endpoint, peer: Peer): Caller | undefined {
    const caller = this.authenticator.local();
    if (!caller) return undefined;
    const relation = this.site.relationOf(request);
    const isOurs = relation === 'same' || (relation === 'none' && isRead(request, endpoint));
    return isOurs && isLocalPeer(this.site, request, peer, this.proof) ? caller : undefined;
  }

  /**
   * Public operations take anybody. Those of signing in see who the caller is already, and refuse pages
   * of other origins, which could sign the user in as somebody else.
   */
  private visitor(request: Request, endpoint: Endpoint, peer: Peer): Caller {
    if (endpoint.spec !== 'auth') return VISITOR;
    const reads = isRead(request, endpoint);
    if (!reads && this.site.relationOf(request) === 'cross') throw fail('cross_origin');
    const caller = this.identifyQuietly(request, endpoint, peer) ?? VISITOR;
    const mayClaim = !reads && this.authenticator.local() !== undefined;
    return mayClaim && isLocalPeer(this.site, request, peer, this.proof)
      ? { ...caller, local: true }
      : caller;
  }

  private identifyQuietly(request: Request, endpoint: Endpoint, peer: Peer): Caller | undefined {
    try {
      return this.identify(request, endpoint, peer);
    } catch (error) {
      if (error instanceof AppError) return undefined;
      throw error;
    }
  }
}

const REFUSED = {
  cookie: 'The session has ended; sign in again.',
  'api-key': 'The API key is wrong or was revoked.',
} as const;

/** Whether a request changes nothing. A WebSocket begins as a GET, but what goes through it may change things. */
function isRead(request: Request, endpoint: Endpoint): boolean {
  if (endpoint.stream === 'websocket') return false;
  return request.method === 'GET' || request.method === 'HEAD';
}
