/** How far the address of a call is trusted. */
export type Trust =
  /** The owner of the instance wrote it in its configuration: any address but the cloud's metadata service. */
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
}

/**
 * The one way out of the machine. Resolves the name once, refuses addresses that are not allowed,
 * connects to exactly that address, follows no redirects, fails closed when a name cannot be resolved.
 * Errors: outbound_refused, upstream_failed, upstream_timeout, cancelled.
 */
export interface Outbound {
  fetch(request: OutboundRequest): Promise<Response>;
}
