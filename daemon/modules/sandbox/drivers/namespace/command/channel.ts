/** More than the chunks that two full pipes make; descendants that write on are held back again. */
const RELAXED_ITEMS = 64;

/** Hands items from producers to one reader, in order. A producer that waits for `push` is held back by the reader. */
export class Channel<T> implements AsyncIterable<T> {
  private readonly items: T[] = [];
  private readonly waiters: Array<() => void> = [];
  private wake: (() => void) | undefined;
  private ended = false;
  private relaxed = false;

  /** `onLeave` is called when the reader stops before the end. */
  constructor(private readonly onLeave: () => void = () => {}) {}

  /** Adds an item; resolves when the reader has taken all before it and asks for more. */
  push(item: T): Promise<void> {
    if (this.ended) return Promise.resolve();
    this.items.push(item);
    this.wake?.();
    if (this.relaxed && this.items.length < RELAXED_ITEMS) return Promise.resolve();
    return new Promise((resolve) => this.waiters.push(resolve));
  }

  /** The command is over: what is still in its pipes is taken in at once, up to a bound, reader or not. */
  relax(): void {
    this.relaxed = true;
    if (this.items.length < RELAXED_ITEMS) this.release();
  }

  /** The reader gets what is there, then the end. */
  end(): void {
    this.ended = true;
    this.wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    try {
      while (true) {
        const item = this.items.shift();
        if (item !== undefined) yield item;
        else if (this.ended) return;
        else await this.more();
      }
    } finally {
      this.end();
      this.release();
      this.onLeave();
    }
  }

  /** Lets the producers go on, and waits for what they bring. */
  private async more(): Promise<void> {
    this.release();
    if (this.items.length > 0 || this.ended) return;
    await new Promise<void>((resolve) => {
      this.wake = resolve;
    });
    this.wake = undefined;
  }

  private release(): void {
    for (const resolve of this.waiters.splice(0)) resolve();
  }
}
