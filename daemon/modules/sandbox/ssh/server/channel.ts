import type { Socket } from 'node:net';
import type { ServerChannel } from 'ssh2';

/** Bytes that may wait in the socket below; a peer that takes no more holds its commands back. */
const SOCKET_HIGH_WATER = 1024 * 1024;
/** Input beyond the window that the peer was given: it does not keep to the protocol. */
const MOST_UNREAD = 8 * 1024 * 1024;

/**
 * What ssh2 keeps of a write that waits for the peer's window. It is not cleared when the write is done, and would be
 * sent once more when the other stream of the channel has to wait.
 */
interface Leftovers {
  _chunk?: unknown;
  _chunkcb?: unknown;
  _chunkErr?: unknown;
  _chunkcbErr?: unknown;
}

/** Two methods that ssh2's channel has beyond its published types. */
interface Halves {
  /** Says that no more output comes; input may still come. */
  eof(): void;
  /** Ends both directions. */
  close(): void;
}

type RawChannel = ServerChannel & Leftovers & Halves;

/** One channel of a connection: input with backpressure, output one write at a time. */
export class PeerChannel {
  /** Aborted when the channel or its connection is over. */
  readonly gone: AbortSignal;
  private readonly raw: RawChannel;
  private tail: Promise<void> = Promise.resolve();

  constructor(
    channel: ServerChannel,
    private readonly socket: Socket,
    connection: AbortSignal,
    /** What says first that the peer has closed the channel: its session, else the channel. */
    closing: { once(event: 'close', listener: () => void): unknown },
  ) {
    this.raw = channel as RawChannel;
    const controller = new AbortController();
    this.gone = controller.signal;
    const leave = () => {
      connection.removeEventListener('abort', leave);
      controller.abort();
    };
    if (connection.aborted) controller.abort();
    else connection.addEventListener('abort', leave, { once: true });
    closing.once('close', leave);
    this.raw.once('close', leave);
    this.raw.on('error', leave);
    this.holdToWindow();
  }

  /**
   * Hands input on, as much at a time as has come meanwhile: more comes when that was taken. `ended` is called at the
   * end of the input.
   */
  read(take: (bytes: Uint8Array) => Promise<unknown>, ended: () => void): void {
    let isTaking = false;
    const takeAll = async () => {
      if (isTaking) return;
      isTaking = true;
      for (let bytes = this.next(); bytes !== null; bytes = this.next())
        await take(bytes).catch(() => undefined);
      isTaking = false;
    };
    this.raw.on('readable', () => void takeAll());
    this.raw.once('end', ended);
  }

  /** Sends bytes, after what was sent before; resolves when they have left, or at once when nobody is there. */
  write(stream: 'stdout' | 'stderr', bytes: Uint8Array): Promise<void> {
    const mine = this.tail.then(() => this.send(stream, bytes));
    this.tail = mine;
    return mine;
  }

  /** Says how the command ended, and ends the channel. */
  async exit({ code, signal }: { readonly code: number; readonly signal?: string }): Promise<void> {
    await this.tail;
    if (this.gone.aborted) return;
    const name = signal?.replace(/^SIG/, '');
    if (name && SIGNALS.has(name)) this.raw.exit(name, false, '');
    else this.raw.exit(code);
    this.raw.end();
  }

  /** No more output; input may still come. */
  async endOutput(): Promise<void> {
    await this.tail;
    if (!this.gone.aborted) this.raw.eof();
  }

  /** Ends both directions. */
  async close(): Promise<void> {
    await this.tail;
    if (!this.gone.aborted) this.raw.close();
  }

  private next(): Uint8Array | null {
    return this.raw.read() as Uint8Array | null;
  }

  /** ssh2 takes what a peer sends beyond its window; such a peer is cut off. */
  private holdToWindow(): void {
    const push = this.raw.push.bind(this.raw);
    this.raw.push = (bytes: unknown) => {
      if (this.raw.readableLength > MOST_UNREAD) this.socket.destroy();
      return push(bytes);
    };
  }

  private async send(stream: 'stdout' | 'stderr', bytes: Uint8Array): Promise<void> {
    if (this.gone.aborted || bytes.length === 0) return;
    const target = stream === 'stdout' ? this.raw : this.raw.stderr;
    await this.unlessGone((done) => {
      target.write(bytes, () => done());
      return () => undefined;
    });
    this.raw._chunk = this.raw._chunkcb = this.raw._chunkErr = this.raw._chunkcbErr = undefined;
    if (this.socket.writableLength <= SOCKET_HIGH_WATER) return;
    await this.unlessGone((done) => {
      this.socket.once('drain', done);
      return () => this.socket.off('drain', done);
    });
  }

  /** Waits for a callback, but no longer than the channel is there. */
  private unlessGone(start: (done: () => void) => () => unknown): Promise<void> {
    if (this.gone.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      let undo = (): unknown => undefined;
      const finish = () => {
        this.gone.removeEventListener('abort', finish);
        undo();
        resolve();
      };
      this.gone.addEventListener('abort', finish, { once: true });
      undo = start(finish);
    });
  }
}

/** Signals that the protocol has names for (RFC 4254, 6.10). */
const SIGNALS = new Set([
  'ABRT',
  'ALRM',
  'FPE',
  'HUP',
  'ILL',
  'INT',
  'KILL',
  'PIPE',
  'QUIT',
  'SEGV',
  'TERM',
  'USR1',
  'USR2',
]);
