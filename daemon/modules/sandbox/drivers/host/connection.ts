import { Duplex } from 'node:stream';
import type { Socket } from 'bun';

/** Received bytes that wait for a reader; above it the other end is held back. */
const HIGH_WATER = 256 * 1024;

/**
 * A stream over a connected socket, with the knobs that sockets of node:net have, whose descriptor belongs to it from now on. Each end may say that it is done
 * while the other still sends. Errors come as `error` events.
 */
export async function streamOf(fd: number): Promise<Duplex> {
  const stream = new SocketStream();
  const options = { fd, allowHalfOpen: true, socket: stream.handlers };
  // The declarations of the runtime lack the form that takes a descriptor.
  stream.attach(await Bun.connect<undefined>(options as unknown as Bun.UnixSocketOptions<undefined>));
  return stream;
}

/** The stream of one socket: its `handlers` are told what the socket does, once it was given by `attach`. */
export class SocketStream extends Duplex {
  private socket: Socket<undefined> | undefined;
  private waiting: { readonly rest: Buffer; readonly done: (error?: Error | null) => void } | undefined;
  private isClosed = false;
  private bytesPassed = 0;
  private idle: Timer | undefined;
  /** As `setTimeout` has set it, in milliseconds. */
  timeout = 0;

  constructor() {
    super({ allowHalfOpen: true, readableHighWaterMark: HIGH_WATER, writableHighWaterMark: HIGH_WATER });
  }

  readonly handlers = {
    data: (socket: Socket<undefined>, bytes: Buffer) => {
      this.bytesPassed += bytes.length;
      if (!this.push(bytes)) socket.pause();
    },
    drain: () => this.flush(),
    end: () => this.push(null),
    error: (_: Socket<undefined>, error: Error) => this.destroy(error),
    close: (_: Socket<undefined>, error?: Error) => this.onClose(error),
  };

  attach(socket: Socket<undefined>): void {
    this.socket = socket;
    socket.setNoDelay(true);
  }

  setNoDelay(): this {
    return this;
  }

  setKeepAlive(): this {
    return this;
  }

  /** Emits `timeout` when nothing came or went for that long, and at most twice that; 0 never does. */
  setTimeout(ms: number): this {
    clearInterval(this.idle);
    this.timeout = ms;
    let before = -1;
    const look = () => {
      if (this.bytesPassed === before) this.emit('timeout');
      before = this.bytesPassed;
    };
    if (ms > 0) this.idle = setInterval(look, ms).unref();
    return this;
  }

  /** Whether it keeps the program from ending; users of node:net sockets ask for it. */
  ref(): this {
    this.socket?.ref();
    return this;
  }

  unref(): this {
    this.socket?.unref();
    return this;
  }

  override _read(): void {
    if (!this.isClosed) this.socket?.resume();
  }

  override _write(bytes: Buffer, _: string, done: (error?: Error | null) => void): void {
    this.waiting = { rest: bytes, done };
    this.flush();
  }

  override _final(done: (error?: Error | null) => void): void {
    if (!this.isClosed) this.socket?.shutdown();
    done();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    const { socket, waiting } = this;
    clearInterval(this.idle);
    this.waiting = undefined;
    if (!this.isClosed) {
      this.isClosed = true;
      // What ends in the middle is reset, so that the other end does not take it for whole.
      if (error || !this.writableFinished) socket?.terminate();
      else socket?.end();
    }
    waiting?.done(error ?? new Error('the connection was closed'));
    done(error);
  }

  private flush(): void {
    const { socket, waiting } = this;
    if (!socket || !waiting) return;
    const sent = this.isClosed ? -1 : socket.write(waiting.rest);
    this.bytesPassed += Math.max(sent, 0);
    if (sent < 0) {
      this.waiting = undefined;
      waiting.done(new Error('the connection was closed'));
    } else if (sent < waiting.rest.length) {
      this.waiting = { rest: waiting.rest.subarray(sent), done: waiting.done };
    } else {
      this.waiting = undefined;
      waiting.done();
    }
  }

  /** What came before the end is still there to be read; a write that nobody takes any more fails after it. */
  private onClose(error?: Error): void {
    this.isClosed = true;
    if (error) {
      this.destroy(error);
      return;
    }
    if (!this.readableEnded) this.push(null);
    if (this.readableEnded) this.destroy();
    else this.once('end', () => this.destroy());
  }
}
