import type { Arrival } from './call.ts';
import type { SocketSession } from './route.ts';
import { upgrade } from './sockets.ts';

/** One request to a hosted site. */
export interface Visit {
  readonly request: Request;
  readonly requestId: string;
  /** Address of the peer on the socket; empty when unknown. */
  readonly peer: string;
  /** Makes a WebSocket of the request; answer undefined after it. Errors: malformed_body. */
  upgrade(session: SocketSession, headers: Headers): void;
}

/**
 * Something with hosts of its own behind the same port. Its requests never meet the operations, pages, credentials and
 * cookies of this instance: to browsers it is another origin, and to this instance it is not a caller.
 */
export interface HostedSite {
  /** Whether a Host header is one of its own. */
  answers(host: string): boolean;
  /** Answers a request; undefined when it became a WebSocket. */
  visit(visit: Visit): Promise<Response | undefined>;
}

/** The site that a request is for; undefined when it is for the instance itself. */
export function siteOf(request: Request, sites: readonly HostedSite[]): HostedSite | undefined {
  if (sites.length === 0) return undefined;
  const host = request.headers.get('host') ?? '';
  return sites.find((site) => site.answers(host));
}

/** A request as a hosted site sees it. It may last as long as it likes. */
export function visitOf({ request, server, requestId }: Omit<Arrival, 'params'>): Visit {
  const peer = server?.requestIP(request)?.address ?? '';
  server?.timeout(request, 0);
  return {
    request,
    requestId,
    peer,
    upgrade: (session, headers) => upgrade(server, request, session, headers),
  };
}
