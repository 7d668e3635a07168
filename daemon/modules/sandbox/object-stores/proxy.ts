import type { Duplex } from 'node:stream';
import { asAppError } from '../../../../src/errors/app-error.ts';
import { SECOND_MS } from '../../../../src/kit/time.ts';

/** Connects to `host:port`, as far as that is allowed. */
export type Dial = (authority: string) => Promise<Duplex>;

const MOST_HEAD_BYTES = 32 * 1024;
const HEAD_MS = 30 * SECOND_MS;
const END_OF_HEAD = Buffer.from('\r\n\r\n');

/** A request to a proxy (RFC 9110 section 9.3.6, RFC 9112 section 3.2): where it leads, and what is sent there first. */
export interface ProxyRequest {
  readonly authority: string;
  /** Empty for a tunnel. */
  readonly head: string;
}

/**
 * Reads the head of a request to a proxy: CONNECT, or a plain http address in place of a path. What is passed on
 * says that the connection serves no second request, which could be meant for somebody else. Undefined when it is
 * something else.
 */
export function parseProxyRequest(text: string): ProxyRequest | undefined {
  const [first = '', ...lines] = text.split('\r\n');
  const [, method, target = ''] = /^([A-Z]{1,16}) ([\x21-\x7e]+) HTTP\/1\.[01]$/.exec(first) ?? [];
  if (!method || lines.some((line) => !/^[!#$%&'*+.^_`|~0-9A-Za-z-]+:[^\r\n\0]*$/.test(line)))
    return undefined;
  if (method === 'CONNECT')
    return /^[^@/?#\\]+:\d{1,5}$/.test(target) ? { authority: target, head: '' } : undefined;
  const url = /^http:\/\/[^@/?#\\]+(?=[/?]|$)/i.test(target) ? URL.parse(target) : null;
  if (!url || url.username || url.password) return undefined;
  const path = target.replace(/^http:\/\/[^/?]*/i, '');
  const kept = lines.filter((line) => !/^(proxy-[a-z-]+|connection|keep-alive):/i.test(line));
  const line = `${method} ${path.startsWith('/') ? path : `/${path}`} HTTP/1.1`;
  const head = [line, ...kept, 'Connection: close', '', ''].join('\r\n');
  return { authority: `${url.hostname}:${url.port || 80}`, head };
}

/** Serves one connection to the proxy. */
export function serveProxy(client: Duplex, dial: Dial): void {
  void answer(client, dial).catch(() => client.destroy());
}

/** Passes a connection on to one place. */
export function tunnel(client: Duplex, dial: Dial, authority: string): void {
  dial(authority).then(
    (upstream) => join(client, upstream),
    () => client.destroy(),
  );
}

async function answer(client: Duplex, dial: Dial): Promise<void> {
  const text = await readHead(client);
  const request = text === undefined ? undefined : parseProxyRequest(text);
  if (!request) {
    refuse(client, 400, 'no request to a proxy');
    return;
  }
  let upstream: Duplex;
  try {
    upstream = await dial(request.authority);
  } catch (error) {
    const { code, message } = asAppError(error);
    refuse(client, code === 'outbound_refused' ? 403 : 502, message);
    return;
  }
  if (client.destroyed) {
    upstream.destroy();
    return;
  }
  if (request.head === '') client.write('HTTP/1.1 200 Connection established\r\n\r\n');
  else upstream.write(request.head);
  join(client, upstream);
}

/** The reason stands in the status line, where clients of proxies look for it. */
function refuse(client: Duplex, status: number, why: string): void {
  const reason = why.replace(/[^\x20-\x7e]/g, ' ').slice(0, 300);
  client.end(`HTTP/1.1 ${status} ${reason}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`);
}

/** The head of a request without its empty line; what follows stays to be read. Undefined when it does not come, or never ends. */
function readHead(client: Duplex): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  let received = Buffer.alloc(0);
  const settle = (head: string | undefined) => {
    clearTimeout(late);
    client.off('data', onData).off('end', onEnd).off('close', onEnd);
    client.pause();
    resolve(head);
  };
  const onData = (bytes: Buffer) => {
    received = Buffer.concat([received, bytes]);
    const end = received.indexOf(END_OF_HEAD);
    if (end < 0 && received.length <= MOST_HEAD_BYTES) return;
    settle(end < 0 || end > MOST_HEAD_BYTES ? undefined : received.toString('latin1', 0, end));
    const rest = end < 0 ? Buffer.alloc(0) : received.subarray(end + END_OF_HEAD.length);
    if (rest.length > 0) client.unshift(rest);
  };
  const onEnd = () => settle(undefined);
  const late = setTimeout(onEnd, HEAD_MS);
  client.on('data', onData).once('end', onEnd).once('close', onEnd);
  return promise;
}

/** Carries bytes both ways until both ends are done; what breaks on one side breaks on the other. */
function join(one: Duplex, other: Duplex): void {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    from.on('error', () => to.destroy());
    from.on('close', () => {
      if (!from.readableEnded || !from.writableFinished) to.destroy();
    });
    from.pipe(to);
  }
  if (one.destroyed) other.destroy();
}
