import type { IncomingMessage } from 'node:http';
import { WebSocket as BoxSocket } from 'node-ws';
import type { SocketSession, SocketWriter } from '../../../../http/route.ts';
import type { Connection } from '../../drivers/driver.ts';

/** Frames may be this long, and this much may wait for the sandbox before the browser is held back. */
const MAX_FRAME = 16 * 1024 * 1024;
const HIGH_WATER = 1024 * 1024;
const HANDSHAKE_MS = 30_000;

/** What came of asking a port for a WebSocket. */
export type Handshake =
  | { readonly socket: BoxSocket; readonly head: IncomingMessage }
  /** It answered something else. */
  | { readonly refused: IncomingMessage };

/** Asks a port for a WebSocket (RFC 6455). The headers of the handshake itself are made anew. Errors: those of the connection. */
export function shakeHands(
  connection: Connection,
  path: string,
  headers: Readonly<Record<string, string>>,
): Promise<Handshake> {
  const protocols = (headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim());
  const others = Object.entries(headers).filter(([name]) => !name.startsWith('sec-websocket-'));
  return new Promise((resolve, reject) => {
    const socket = new BoxSocket(
      `ws://sandbox${path}`,
      protocols.filter((name) => name !== ''),
      {
        createConnection: () => connection,
        headers: Object.fromEntries(others),
        perMessageDeflate: false,
        maxPayload: MAX_FRAME,
        followRedirects: false,
        handshakeTimeout: HANDSHAKE_MS,
      },
    );
    let head: IncomingMessage | undefined;
    socket.once('upgrade', (response) => {
      head = response;
    });
    socket.once('open', () => {
      socket.pause();
      if (head) resolve({ socket, head });
    });
    socket.once('unexpected-response', (_, refused) => resolve({ refused }));
    socket.on('error', reject);
  });
}

/** Joins a browser's WebSocket with that of a sandbox: messages, closing codes, and waiting for the slower end. */
export class JoinedSockets implements SocketSession {
  private browser: SocketWriter | undefined;
  private isOver = false;

  /** `leave` is called once, when it is over. */
  constructor(
    private readonly box: BoxSocket,
    private readonly leave: () => void,
  ) {}

  open(browser: SocketWriter): void {
    this.browser = browser;
    this.box.on('message', (data, isBinary) => {
      if (browser.send(isBinary ? data : data.toString('utf8'))) return;
      this.box.pause();
      void browser.drained().then(() => this.box.resume());
    });
    this.box.on('close', (code, reason) => this.finish(sendable(code), reason.toString('utf8')));
    this.box.resume();
  }

  message(data: string | Uint8Array): void {
    if (this.box.readyState !== BoxSocket.OPEN) return;
    this.box.send(typeof data === 'string' ? data : data.slice(), () => {
      if (this.box.bufferedAmount < HIGH_WATER) this.browser?.resume();
    });
    if (this.box.bufferedAmount >= HIGH_WATER) this.browser?.pause();
  }

  closed(code: number, reason: string): void {
    this.isOver = true;
    if (this.box.readyState === BoxSocket.OPEN) this.box.close(sendable(code), reason);
    else this.box.terminate();
    this.leave();
  }

  /** Ends both sides from here. */
  finish(code: number, reason: string): void {
    if (this.isOver) return;
    this.isOver = true;
    this.browser?.close(code, reason);
    if (this.box.readyState === BoxSocket.OPEN) this.box.close(code, reason);
  }
}

/** A code that may be sent: what only tells that there was none becomes the nearest one (RFC 6455, 7.4.1). */
function sendable(code: number): number {
  if (code === 1005) return 1000;
  if (code === 1006 || code === 1015) return 1011;
  return code;
}
