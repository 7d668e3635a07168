/** Items that wait for a reader before whoever brings them has to wait too. */
const ROOM = 16;

/** Hands the events of one run to one reader, in order. A reader that is gone holds nobody back. */
export class Outbox<T> implements AsyncIterable<T> {
  private readonly items: T[] = [];
  private readonly waiters: Array<() => void> = [];
  private wake: () => void = () => {};
  private isOver = false;
  private isAbandoned = false;

  /** Adds an item; resolves when there is room for more. */
  push(item: T): Promise<void> {
    if (this.isOver || this.isAbandoned) return Promise.resolve();
    this.items.push(item);
    this.wake();
    return this.items.length < ROOM
      ? Promise.resolve()
      : new Promise((resolve) => this.waiters.push(resolve));
  }

  /** The reader gets what is there, then the end. */
  end(): void {
    this.isOver = true;
    this.wake();
  }

  /** Nobody reads any more: what is there and what comes is dropped. */
  abandon(): void {
    this.isAbandoned = true;
    this.items.length = 0;
    this.release();
    this.wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    try {
      while (!this.isAbandoned) {
        const item = this.items.shift();
        if (item !== undefined) {
          if (this.items.length < ROOM) this.release();
          yield item;
        } else if (this.isOver) return;
        else
          await new Promise<void>((resolve) => {
            this.wake = resolve;
          });
      }
    } finally {
      this.abandon();
    }
  }

  private release(): void {
    for (const resolve of this.waiters.splice(0)) resolve();
  }
}
