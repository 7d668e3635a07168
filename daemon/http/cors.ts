import type { Caller } from './route.ts';

/** Which pages of other origins may call, and what they may read (Fetch standard, CORS protocol). */
export interface CorsPolicy {
  readonly enabled: boolean;
  /** Whole origins in small letters, or `*`. */
  readonly allowedOrigins: readonly string[];
  /** In capitals, or `*`. */
  readonly allowedMethods: readonly string[];
  /** In small letters, or `*`. */
  readonly allowedHeaders: readonly string[];
  readonly exposedHeaders: readonly string[];
  readonly allowCredentials: boolean;
  /** Milliseconds. */
  readonly maxAgeMs: number;
}

/** Where the policies come from. */
export interface CorsPolicies {
  /** Whether anybody has enabled one. Read for every request. */
  readonly isOn: boolean;
  /** That of the instance: it answers preflights, and requests that prove no tenant. */
  readonly server: CorsPolicy;
  /** That of a tenant, for requests that its members make. */
  of(tenant: string): CorsPolicy;
}

const TOKENS = /^[\w!#$%&'*+.^`|~-]+(\s*,\s*[\w!#$%&'*+.^`|~-]+)*$/;
const LONGEST_HEADER_LIST = 4096;

/**
 * Tells browsers which pages may read answers. It lets nobody in: who may call is for the gate to say, which goes on
 * refusing changes that a page of another origin makes with a cookie.
 */
export class Cors {
  constructor(private readonly policies: CorsPolicies) {}

  /** Whether there is anything to do for any request. */
  get isOn(): boolean {
    return this.policies.isOn;
  }

  /** The answer to a preflight, by the policy of the instance; undefined when the request is none, or that policy is off. */
  preflight(request: Request): Response | undefined {
    const { server } = this.policies;
    const method = request.headers.get('access-control-request-method');
    if (!server.enabled || request.method !== 'OPTIONS' || method === null) return undefined;
    const headers = new Headers({
      vary: 'Origin, Access-Control-Request-Method, Access-Control-Request-Headers',
    });
    const origin = originOf(request, server);
    if (origin !== undefined)
      allow(headers, origin, server, request.headers.get('access-control-request-headers'));
    return new Response(null, { status: 204, headers });
  }

  /** Adds to an answer what lets a page of an allowed origin read it. `caller` is who the gate let in. */
  mark(request: Request, response: Response, caller: Caller | undefined): void {
    const policy = caller?.tenant ? this.policies.of(caller.tenant) : this.policies.server;
    if (!policy.enabled) return;
    const origin = originOf(request, policy, caller?.via === 'cookie');
    const { headers } = response;
    if (origin !== '*') headers.append('vary', 'Origin');
    if (origin === undefined) return;
    headers.set('access-control-allow-origin', origin);
    if (policy.allowCredentials) headers.set('access-control-allow-credentials', 'true');
    if (policy.exposedHeaders.length > 0)
      headers.set('access-control-expose-headers', policy.exposedHeaders.join(', '));
  }
}

/**
 * What Access-Control-Allow-Origin says to a request; undefined when its origin is not allowed. `*` never stands
 * beside credentials: browsers refuse that, so the origin itself does. For a request that a cookie signs in, `*` is
 * nobody: else any page could read as its visitor.
 */
function originOf(request: Request, policy: CorsPolicy, isCookie = false): string | undefined {
  const isAny = policy.allowedOrigins.includes('*') && !isCookie;
  if (isAny && !policy.allowCredentials) return '*';
  const origin = request.headers.get('origin');
  if (origin === null) return undefined;
  return isAny || policy.allowedOrigins.includes(origin.toLowerCase()) ? origin : undefined;
}

/** What a page may do from this origin. A list with `*` allows whatever was asked for, Authorization included. */
function allow(headers: Headers, origin: string, policy: CorsPolicy, asked: string | null): void {
  headers.set('access-control-allow-origin', origin);
  if (policy.allowCredentials) headers.set('access-control-allow-credentials', 'true');
  headers.set('access-control-allow-methods', methodsOf(policy).join(', '));
  const allowed = policy.allowedHeaders.includes('*') ? namesIn(asked) : policy.allowedHeaders.join(', ');
  if (allowed !== '') headers.set('access-control-allow-headers', allowed);
  headers.set('access-control-max-age', String(Math.floor(policy.maxAgeMs / 1000)));
}

function methodsOf({ allowedMethods }: CorsPolicy): readonly string[] {
  return allowedMethods.includes('*') ? ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] : allowedMethods;
}

/** A list of header names as it came, when it is one. */
function namesIn(asked: string | null): string {
  return asked !== null && asked.length <= LONGEST_HEADER_LIST && TOKENS.test(asked) ? asked : '';
}
