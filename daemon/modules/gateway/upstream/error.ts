/** Why an upstream did not answer. */
export type FailureKind =
  /** 429. */
  | 'rate_limit'
  /** 408, 504, or silence. */
  | 'timeout'
  /** Any other 5xx, or an answer that makes no sense. */
  | 'server'
  /** No connection, or one that broke. */
  | 'network'
  /** 401 or 403: the key of this instance is refused. */
  | 'key'
  /** The address may not be called, or something else answers there. */
  | 'address'
  /** Another 4xx: the request itself is refused, and would be by any other upstream. */
  | 'request';

/** What else is known of a failure. */
export interface FailureDetails {
  /** Of the answer; absent when there was none. */
  readonly status?: number;
  /** How long the upstream asks to be left alone. */
  readonly retryAfterMs?: number;
  /** Of the upstream's own error: its code, type and the field that it names. */
  readonly code?: string;
  readonly type?: string;
  readonly param?: string;
}

/**
 * An upstream that failed or refused. `message` may be shown to the caller: it holds no credential and no address with one.
 */
export class UpstreamError extends Error {
  constructor(
    readonly kind: FailureKind,
    message: string,
    readonly details: FailureDetails = {},
  ) {
    super(message);
    this.name = 'UpstreamError';
  }

  /** Whether another upstream may do better: 429, timeouts, 5xx and broken connections (behaviour: Routing, triggers). */
  get isPassing(): boolean {
    return this.kind !== 'request' && this.kind !== 'key' && this.kind !== 'address';
  }
}
