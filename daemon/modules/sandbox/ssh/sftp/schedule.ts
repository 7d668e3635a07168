import { REQUEST } from './wire.ts';

/** Requests and bytes that are worked on at once. */
const MOST_AT_ONCE = 64;
const MOST_BYTES = 4 * 1024 * 1024;

/** Requests of one of these kinds may overtake each other; any other waits for all before it. */
const TOGETHER: Readonly<Record<number, string>> = {
  [REQUEST.read]: 'read',
  [REQUEST.write]: 'write',
  [REQUEST.stat]: 'look',
  [REQUEST.lstat]: 'look',
  [REQUEST.fstat]: 'look',
  [REQUEST.readlink]: 'look',
};

/** Runs requests side by side where their order cannot be seen, within bounds. */
export class Schedule {
  private readonly running = new Map<Promise<void>, number>();
  private bytes = 0;
  private kind: string | undefined;

  /** Starts a request as soon as it may; resolves when it has begun. */
  async start(type: number, weight: number, work: () => Promise<void>): Promise<void> {
    const kind = TOGETHER[type];
    if (kind === undefined || kind !== this.kind) await this.idle();
    this.kind = kind;
    while (this.running.size >= MOST_AT_ONCE || (this.bytes > 0 && this.bytes + weight > MOST_BYTES))
      await Promise.race(this.running.keys());
    this.bytes += weight;
    const task = work().finally(() => {
      this.running.delete(task);
      this.bytes -= weight;
    });
    this.running.set(task, weight);
  }

  /** Resolves when nothing is worked on. */
  async idle(): Promise<void> {
    await Promise.all(this.running.keys());
  }
}
