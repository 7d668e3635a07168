import type { Duplex } from 'node:stream';
import type { Socket } from 'bun';
import { SECOND_MS } from '../../../../src/kit/time.ts';
import { SocketStream } from '../drivers/host/connection.ts';
import { inNetworkOf } from '../drivers/host/network-namespace.ts';
import { type Dial, serveProxy, tunnel } from './proxy.ts';

/** Connections of one mount at a time. */
const MOST_CONNECTIONS = 128;
const IDLE_MS = 300 * SECOND_MS;
const PROXY_PORT = 3128;

/** The way out of one mount. */
export interface WayOut {
  close(): void;
}

/** The port of the proxy, which is any but that of a store on the loopback. */
export function proxyPortFor(endpoint: string | undefined): number {
  return loopbackOf(endpoint)?.port === PROXY_PORT ? PROXY_PORT + 1 : PROXY_PORT;
}

/**
 * Listens in the network of a program, which has no other way out: a proxy, and for a store that is on the loopback of
 * this host (`endpoint`) its very address, as programs take no proxy to their own loopback.
 * Errors: those of entering the network and of listening.
 */
export function openWayOut(pid: number, endpoint: string | undefined, dial: Dial): WayOut {
  const closers: Array<() => void> = [];
  try {
    const port = proxyPortFor(endpoint);
    closers.push(listen(pid, '127.0.0.1', port, (stream) => serveProxy(stream, dial)));
    const store = loopbackOf(endpoint);
    if (store)
      closers.push(
        listen(pid, store.hostname, store.port, (stream) => tunnel(stream, dial, store.authority)),
      );
  } catch (error) {
    for (const close of closers) close();
    throw error;
  }
  return {
    close() {
      for (const close of closers) close();
    },
  };
}

interface Loopback {
  /** The address that a program here would connect to. */
  readonly hostname: string;
  readonly port: number;
  readonly authority: string;
}

/** What Go's HTTP client reaches without a proxy (net/http, ProxyFromEnvironment). */
function loopbackOf(endpoint: string | undefined): Loopback | undefined {
  const url = endpoint === undefined ? undefined : URL.parse(endpoint);
  if (!url) return undefined;
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const isLoopback = host === 'localhost' || host === '::1' || /^127(\.\d+){3}$/.test(host);
  if (!isLoopback) return undefined;
  const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80);
  return {
    hostname: host === 'localhost' ? '127.0.0.1' : host,
    port,
    authority: `${url.hostname}:${port}`,
  };
}

function listen(pid: number, hostname: string, port: number, serve: (stream: Duplex) => void): () => void {
  let open = 0;
  const options: Bun.TCPSocketListenOptions<SocketStream> = {
    hostname,
    port,
    allowHalfOpen: true,
    socket: {
      open(socket: Socket<SocketStream>) {
        open++;
        const stream = new SocketStream();
        stream.attach(socket as unknown as Socket<undefined>);
        socket.data = stream;
        stream.on('error', () => stream.destroy());
        stream.setTimeout(IDLE_MS);
        stream.on('timeout', () => stream.destroy());
        if (open > MOST_CONNECTIONS) stream.destroy();
        else serve(stream);
      },
      data: (socket, bytes) => socket.data.handlers.data(plain(socket), bytes),
      drain: (socket) => socket.data.handlers.drain(),
      end(socket) {
        socket.data.handlers.end();
      },
      error(socket, error) {
        socket.data.handlers.error(plain(socket), error);
      },
      close(socket, error) {
        open--;
        socket.data.handlers.close(plain(socket), error);
      },
    },
  };
  const listener = inNetworkOf(pid, () => Bun.listen(options));
  return () => listener.stop(true);
}

/** The stream does not look at what a socket carries with it. */
function plain(socket: Socket<SocketStream>): Socket<undefined> {
  return socket as unknown as Socket<undefined>;
}
