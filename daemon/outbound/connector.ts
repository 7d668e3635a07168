import { pinnedUrl, type Target } from './target.ts';

/** What is sent to a target. */
export interface Message {
  readonly method: string;
  readonly headers: Headers;
  readonly body?: string | Uint8Array | ReadableStream<Uint8Array>;
  readonly signal?: AbortSignal;
  /** Longest silence on the connection, in milliseconds. */
  readonly idleTimeoutMs: number;
  /** The connection may serve later calls. */
  readonly keepAlive: boolean;
}

/** Opens a connection to one address of a target and sends one message. */
export type Connector = (target: Target, address: string, message: Message) => Promise<Response>;

/**
 * Dials the address itself: it stands in the URL, the name only in Host and in the TLS handshake, where the
 * certificate is checked against it. No proxy of the environment, no redirects, bytes as they come.
 */
export const connect: Connector = (target, address, { idleTimeoutMs, keepAlive, ...message }) => {
  message.headers.set('host', target.authority);
  const init: BunFetchRequestInit = {
    ...message,
    body: message.body as BodyInit | undefined,
    proxy: false,
    redirect: 'manual',
    decompress: false,
    keepalive: keepAlive,
    timeout: idleTimeoutMs,
    tls: target.protocol === 'http:' || target.host === address ? undefined : { serverName: target.host },
  };
  return fetch(pinnedUrl(target, address), init);
};

/** Whether nothing was sent yet, so that another address may be tried. */
export function isConnectFailure(error: unknown): boolean {
  return /^(ECONNREFUSED|ENETUNREACH|EHOSTUNREACH|EADDRNOTAVAIL|EAFNOSUPPORT)$/.test(codeOf(error));
}

/** The system's code of an error, such as ECONNRESET; empty when it has none. */
export function codeOf(error: unknown): string {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : '';
  return typeof code === 'string' ? code : '';
}
