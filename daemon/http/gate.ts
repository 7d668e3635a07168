import type { Endpoint } from '../../src/api/endpoint.ts';
import type { Caller } from './route.ts';

/** Decides who may pass. */
export interface Gate {
  /**
   * The caller of a request, in the order of the spec (Authentication, Order of checks).
   * Errors: misdirected (Host not ours), cross_origin, unauthenticated, forbidden (role too weak).
   * `peer` is the address on the socket.
   */
  admit(request: Request, endpoint: Endpoint, peer: string): Caller | Promise<Caller>;
  /** Refuses a Host header that is not this instance's: misdirected (421). For what has no endpoint. */
  checkHost(request: Request): void;
}
