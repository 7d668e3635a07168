import type { SocketSession, SocketWriter } from '../../../http/route.ts';
import type { Connection } from '../drivers/driver.ts';

/** Input that waits for the sandbox: above this the peer is held back. */
const HIGH_WATER = 1024 * 1024;

/**
 * Carries the bytes of a connection over a WebSocket: binary frames both ways. The text frame `{"type":"eof"}` says
 * that one side sends no more. The connection is closed when the peer leaves.
 */
export class TunnelSession implements SocketSession {
  private socket: SocketWriter | undefined;
  private isOver = false;

  /** Called once, when it is over. */
  onClosed: () => void = () => {};

  constructor(private readonly connection: Connection) {}

  open(socket: SocketWriter): void {
    this.socket = socket;
    this.connection.on('drain', () => socket.resume());
    this.connection.on('error', () => this.finish(1011, 'the connection broke'));
    this.connection.on('close', () => this.finish(1000, 'closed'));
    void this.pump(socket).catch(() => this.finish(1011, 'the connection broke'));
  }

  message(data: string | Uint8Array): void {
    if (typeof data === 'string') {
      if (isEnd(data)) this.connection.end();
    } else if (!this.connection.writable) {
      this.finish(1000, 'closed');
    } else {
      this.connection.write(data.slice());
      if (this.connection.writableLength > HIGH_WATER) this.socket?.pause();
    }
  }

  closed(): void {
    this.isOver = true;
    this.connection.destroy();
    this.onClosed();
  }

  /** Ends it from this side. */
  finish(code: number, reason: string): void {
    if (this.isOver) return;
    this.isOver = true;
    this.connection.destroy();
    if (this.socket) this.socket.close(code, reason);
    else this.onClosed();
  }

  private async pump(socket: SocketWriter): Promise<void> {
    for await (const bytes of this.connection.iterator({ destroyOnReturn: false })) {
      if (this.isOver) return;
      if (!socket.send(bytes)) await socket.drained();
    }
    if (!this.isOver) socket.send(JSON.stringify({ type: 'eof' }));
  }
}

function isEnd(text: string): boolean {
  try {
    return JSON.parse(text).type === 'eof';
  } catch {
    return false;
  }
}
