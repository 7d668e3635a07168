import type { Duplex } from 'node:stream';

const READ_AHEAD_BYTES = 256 * 1024;
const DRAINED_BYTES = 4 * 1024 * 1024;
/** What a queued item costs besides its bytes. */
const ITEM_BYTES = 64;

/** Something with bytes in it. */
export interface Sized {
  readonly bytes: Uint8Array;
}

/**
 * Reads a connection ahead of its consumer, up to 256 KB; then the connection is paused and the command
 * behind it blocks on its pipe. One consumer; leaving the loop early closes the connection.
 */
export class Pump<T extends Sized> implements AsyncIterable<T> {
  /** Resolves when nothing more will come, whatever was read of it. */
  readonly ended: Promise<void>;
  private readonly queue: T[] = [];
  private queued = 0;
  private isDraining = false;
  private isOver = false;
  private wake: () => void = () => {};

  constructor(
    private readonly socket: Duplex,
    parse: (part: Uint8Array) => Iterable<T>,
  ) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.ended = promise;
    socket.on('data', (part: Uint8Array) => this.take(parse(part)));
    for (const event of ['end', 'close', 'error'] as const)
      socket.on(event, () => {
        this.isOver = true;
        this.wake();
        resolve();
        socket.destroy();
      });
  }

  /** Whether the command waits for its consumer. */
  get isStalled(): boolean {
    return !this.isOver && this.socket.isPaused();
  }

  /**
   * The command is over, or about to be killed: what is still on the way is taken in, so that neither the
   * engine nor a connection waits for a consumer who may never come. Past 4 MB it is dropped.
   */
  drain(): void {
    this.isDraining = true;
    this.flow();
  }

  close(): void {
    this.socket.destroy();
  }

  [Symbol.asyncIterator](): AsyncIterator<T> {
    return {
      next: () => this.next(),
      return: async () => {
        this.close();
        return { done: true, value: undefined };
      },
    };
  }

  private async next(): Promise<IteratorResult<T>> {
    for (;;) {
      const value = this.queue.shift();
      if (value) {
        this.queued -= value.bytes.length + ITEM_BYTES;
        this.flow();
        return { done: false, value };
      }
      if (this.isOver) return { done: true, value: undefined };
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
  }

  private take(items: Iterable<T>): void {
    for (const item of items) {
      if (this.isDraining && this.queued >= DRAINED_BYTES) return;
      this.queue.push(item);
      this.queued += item.bytes.length + ITEM_BYTES;
    }
    this.flow();
    this.wake();
  }

  private flow(): void {
    const isFull = !this.isDraining && this.queued >= READ_AHEAD_BYTES;
    if (isFull) this.socket.pause();
    else if (this.socket.isPaused()) this.socket.resume();
  }
}
